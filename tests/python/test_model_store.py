"""A store of model grids as xarray and zarr open it: the numbers that ecCodes reads."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import mesonet
import numpy as np
import pyproj
import pytest
import xarray
import zarr
from mesonet import _mesonet
from mesonet.zarr import Blocks

pytestmark = pytest.mark.wheel

DATA = Path(__file__).parent.parent / "data"
RUN = DATA / "model_grids" / "store" / "nam211" / "20180917T000000Z"
# The same fields as version 3 of the layout had them, which needs no codec.
OLD = DATA / "model_grids" / "version_3" / "nam211" / "20180917T000000Z"

# Product, level in hPa, and the place of its field in the file.
FIELDS = [("prmsl", None, 0), ("u", 150, 5), ("v", 150, 6), ("u", 100, 3), ("v", 100, 4)]


@pytest.fixture
def golden():
    fields = json.loads((DATA / "grib" / "eccodes.json").read_text(encoding="utf-8"))
    return fields["nam211_20180917T00Z_f000.grib2"]


@pytest.fixture
def run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xarray.open_zarr(RUN, consolidated=False, decode_coords="all")


def test_the_axes_are_those_of_the_run(run):
    assert dict(run.sizes) == {"valid_time": 2, "level_hpa": 2, "y": 65, "x": 93}
    np.testing.assert_array_equal(run.level_hpa, [150.0, 100.0])
    assert [str(time)[:16] for time in run.valid_time.values] == [
        "2018-09-17T00:00",
        "2018-09-17T03:00",
    ]
    assert run.u.dims == ("valid_time", "level_hpa", "y", "x")
    assert (run.prmsl.units, run.u.units) == ("Pa", "m/s")


def test_cells_lie_where_the_grid_has_them(run):
    """Uses only the coordinates and the grid mapping, as in the CF conventions."""
    grid = mesonet.NativeGrid(run.attrs["mesonet"]["definition"]["grid"])
    assert run.u.encoding["grid_mapping"] == "crs"
    crs = pyproj.CRS.from_cf(run.crs.attrs)
    assert crs == pyproj.CRS(grid.proj_string)
    x, y = np.meshgrid(run.x, run.y)
    lon, lat = pyproj.Transformer.from_crs(crs, "EPSG:4326", always_xy=True).transform(x, y)
    wanted = grid.positions()
    np.testing.assert_allclose(lat, wanted.lat, rtol=0, atol=1e-12)
    np.testing.assert_allclose(lon, wanted.lon, rtol=0, atol=1e-12)
    assert [(run[of].standard_name, run[of].units) for of in ("y", "x")] == [
        ("projection_y_coordinate", "m"),
        ("projection_x_coordinate", "m"),
    ]


def test_values_are_those_that_eccodes_reads(run, golden):
    compared = 0
    for name, level_hpa, number in FIELDS:
        field = run[name].isel(valid_time=0)
        if level_hpa is not None:
            field = field.sel(level_hpa=level_hpa)
        half = field.encoding["scale_factor"] / 2
        wanted = golden[number]
        for row, column, value in wanted["points"]:
            # xarray computes in the width that it considers enough for the scale.
            assert abs(float(field[row, column]) - value) <= half * 1.1
            compared += 1
        values = field.values
        assert values.size == wanted["rows"] * wanted["columns"]
        assert abs(values.min() - wanted["min"]) <= half * 1.1
        assert abs(values.max() - wanted["max"]) <= half * 1.1
        assert abs(values.mean(dtype=np.float64) - wanted["mean"]) <= half
    assert compared == 30


def test_an_hour_that_is_not_published_has_no_values(run):
    assert bool(run.isel(valid_time=1).u.isnull().all())
    manifest = run.attrs["mesonet"]
    assert [hour["hour"] for hour in manifest["published"]] == [0]
    assert manifest["definition"]["grid"]["projection"] == "lambert_conformal"


def test_the_integers_are_checked_as_they_are_read(tmp_path):
    array = zarr.open_array(RUN / "u", mode="r")
    assert (array.shape, array.dtype) == ((2, 2, 65, 93), np.dtype("int16"))
    assert array.attrs["_FillValue"] == -32768
    for file in (RUN / "prmsl").rglob("*"):
        if file.is_file():
            copy = tmp_path / file.relative_to(RUN / "prmsl")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(file.read_bytes())
    shard = tmp_path / "c" / "0" / "0" / "0"
    broken = bytearray(shard.read_bytes())
    broken[100] ^= 1
    shard.write_bytes(broken)
    with pytest.raises(ValueError, match="[Cc]hecksum"):
        zarr.open_array(tmp_path, mode="r")[0]


def test_the_integers_are_those_of_the_earlier_layout():
    for name in ("prmsl", "u", "v"):
        new, old = (zarr.open_array(run / name, mode="r") for run in (RUN, OLD))
        codecs = new.metadata.to_dict()["codecs"][0]["configuration"]["codecs"]
        assert [codec["name"] for codec in codecs] == ["mesonet.blocks", "crc32c"]
        np.testing.assert_array_equal(new[:], old[:])
        np.testing.assert_array_equal(new[0, ..., 20:50, 40], old[0, ..., 20:50, 40])


def test_zarr_finds_the_codec_without_an_import():
    """In an interpreter that has not seen mesonet."""
    script = f"import zarr; print(zarr.open_array({str(RUN / 'u')!r}, mode='r')[0, 0, 40, 20])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "2132\n"


@pytest.mark.parametrize("shape", [(40, 70), (3, 100, 33), (2, 2, 16, 16)])
def test_what_zarr_writes_with_the_codec_it_reads(shape, tmp_path):
    rng = np.random.default_rng(1)
    smooth = np.cumsum(rng.integers(-9, 9, shape), axis=-1).astype("int16")
    smooth[..., 5:9, 3] = -32768
    chunks = (1,) * (len(shape) - 2) + (32, 32)
    array = zarr.create_array(
        tmp_path,
        shape=shape,
        chunks=chunks,
        dtype="int16",
        fill_value=-32768,
        serializer=Blocks(),
        compressors=None,
    )
    array[:] = smooth
    np.testing.assert_array_equal(zarr.open_array(tmp_path, mode="r")[:], smooth)
    assert array.nbytes_stored() < smooth.nbytes * 1.5


def test_what_the_codec_does_not_take_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"int16 arrays of two or more axes; got float32 with 2"):
        zarr.create_array(
            tmp_path, shape=(16, 16), chunks=(16, 16), dtype="float32", serializer=Blocks()
        )[:] = 1
    with pytest.raises(ValueError, match="expected the codec mesonet.blocks without configuration"):
        Blocks.from_dict({"name": "mesonet.blocks", "configuration": {"level": 3}})
    with pytest.raises(mesonet.MesonetError, match="rows and columns must be multiples of 16"):
        _mesonet.decode_blocks(b"", 1, 15, 16)
    with pytest.raises(mesonet.MesonetError, match="not a chunk of mesonet.blocks"):
        _mesonet.decode_blocks(b"\x01\x00", 1, 16, 16)
