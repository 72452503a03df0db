"""A run of an ensemble as xarray opens it: one dataset, with the members along an axis."""

import gzip
import os
import struct
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray

DATA = Path(__file__).parent.parent / "data" / "grib"
MODELS = """
[ensemble]
title = "An ensemble"
access = { plan = "none" }
hours = "0,6,12"
members = "0-3"
products = [
    { name = "pressure", field = "member", unit = "Pa", scale = 0.5, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
    { name = "pressure_mean", field = "mean", unit = "Pa", scale = 0.5, offset = 98000.0, parameter = "7:0.3.1", level = "101" },
    { name = "temperature", field = "member", unit = "K", scale = 0.01, offset = 273.15, parameter = "7:0.0.0", level = "100", levels_hpa = [850, 500] },
    { name = "humidity", field = "member", unit = "%", scale = 0.01, parameter = "7:0.1.1", level = "100", levels_hpa = [500, 850] },
    { name = "height", field = "member", unit = "m", scale = 1.0, offset = 20000.0, parameter = "7:0.3.5", level = "100", levels_hpa = [850, 500, 100] },
    { name = "rain", unit = "kg/m²", scale = 0.5, parameter = "7:0.1.8", level = "1", interval = "6h", statistic = "accumulation" },
]
"""


def crafted(value, parameter=(3, 1), level=None, hour=0, template=0, after_levels=b""):
    """NAM's pressure as another field: all its cells have one value."""
    message = bytearray(gzip.decompress((DATA / "nam211_prmsl_simple.grib2.gz").read_bytes()))
    sections, at = {}, 16
    while message[at : at + 4] != b"7777":
        (length,) = struct.unpack_from(">I", message, at)
        sections[message[at + 4]] = at
        at += length
    struct.pack_into(">f", message, sections[5] + 11, value)
    message[sections[5] + 15 : sections[5] + 20] = bytes(5)
    four = sections[4]
    message[four + 9 : four + 11] = bytes(parameter)
    message[four + 21] = hour
    if level:
        struct.pack_into(">BBI", message, four + 22, *level)
    (length,) = struct.unpack_from(">I", message, four)
    message[four + 34 : four + length] = after_levels
    struct.pack_into(">I", message, four, 34 + len(after_levels))
    struct.pack_into(">H", message, four + 7, template)
    struct.pack_into(">Q", message, 8, len(message))
    return bytes(message)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    target = os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[2] / "target")
    binary = os.environ.get("MESONET_SERVER_BIN", Path(target) / "debug" / "mesonet-server")
    folder = tmp_path_factory.mktemp("members")
    (folder / "models.toml").write_text(MODELS, encoding="utf-8")
    of_member = lambda number: {"template": 1, "after_levels": bytes([3, number, 4])}
    six_hours = bytes([0x07, 0xE2, 9, 17, 6, 0, 0, 1, 0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 6, 255] + [0] * 4)
    files = {
        "three": [crafted(100_300, **of_member(3)), crafted(100_350, hour=6, **of_member(3))],
        "control": [
            crafted(100_000, template=1, after_levels=bytes([1, 0, 4])),
            *(
                crafted(250 + hpa / 100, (0, 0), (100, 0, hpa * 100), **of_member(0))
                for hpa in (850, 500)
            ),
            *(
                crafted(20_000 - 20 * hpa, (3, 5), (100, 0, hpa * 100), **of_member(0))
                for hpa in (850, 500, 100)
            ),
        ],
        "mean": [crafted(100_150, template=2, after_levels=bytes([0, 4]))],
        "rain": [crafted(4, (1, 8), (1, 255, 0xFFFFFFFF), template=8, after_levels=six_hours)],
    }
    for name, messages in files.items():
        (folder / f"{name}.grib2").write_bytes(b"".join(messages))
        command = [binary, "ingest", folder / f"{name}.grib2", "--model", "ensemble"]
        command += ["--models", folder / "models.toml", "--data", folder / "data"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store = folder / "data" / "models" / "ensemble" / "20180917T000000Z"
        return xarray.open_zarr(store, consolidated=False, decode_coords="all")


def test_a_run_opens_as_one_dataset_with_its_members(run):
    assert run.attrs["Conventions"] == "CF-1.12"
    assert run.pressure.dims == ("valid_time", "member", "y", "x")
    assert run.temperature.dims == ("valid_time", "member", "level_hpa", "y", "x")
    assert run.pressure_mean.dims == ("valid_time", "y", "x")
    np.testing.assert_array_equal(run.member, [0, 1, 2, 3])
    assert run.member.standard_name == "realization"
    assert str(run.forecast_reference_time.values)[:19] == "2018-09-17T00:00:00"
    assert "forecast_reference_time" in run.pressure.coords


def test_each_member_has_its_values(run):
    cell = run.pressure.isel(y=40, x=20)
    wanted = [[100_000, np.nan, np.nan, 100_300], [np.nan] * 3 + [100_350], [np.nan] * 4]
    np.testing.assert_array_equal(cell.values, wanted)
    assert float(run.pressure_mean[0, 40, 20]) == 100_150
    column = run.temperature.isel(valid_time=0, member=0, y=40, x=20)
    np.testing.assert_allclose(column.sel(level_hpa=[850, 500]), [258.5, 255.0], atol=1e-3)
    assert float(run.rain.isel(valid_time=1, y=40, x=20)) == 4


def test_products_with_the_same_pressures_share_an_axis_and_others_have_their_own(run):
    of = {name: array.dims[2] for name, array in run.data_vars.items() if array.ndim == 5}
    assert of == {"temperature": "level_hpa", "humidity": "level_hpa", "height": "level_hpa_2"}
    np.testing.assert_array_equal(run.level_hpa, [850, 500])
    np.testing.assert_array_equal(run.level_hpa_2, [850, 500, 100])
    assert {run[axis].attrs["standard_name"] for axis in of.values()} == {"air_pressure"}
    column = run.height.isel(valid_time=0, member=0, y=40, x=20)
    np.testing.assert_array_equal(column.sel(level_hpa_2=[100, 850]), [18_000, 3_000])


def test_arrays_say_what_they_are(run):
    names = {name: run[name].attrs.get("standard_name") for name in run.data_vars}
    assert names == {
        "pressure": "air_pressure_at_mean_sea_level",
        "pressure_mean": "air_pressure_at_mean_sea_level",
        "temperature": "air_temperature",
        "humidity": "relative_humidity",
        "height": "geopotential_height",
        "rain": "precipitation_amount",
    }
    assert run.pressure_mean.cell_methods == "realization: mean"
    assert run.rain.cell_methods == "valid_time: sum"
    assert (run.pressure.field, run.pressure_mean.field) == ("member", "mean")
    assert run.level_hpa.standard_name == "air_pressure"
