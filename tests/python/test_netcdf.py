"""NetCDF files of bulk exports: what xarray and a checker of the CF conventions say of them."""

import datetime
import subprocess
import sys
from pathlib import Path

import mesonet
import numpy as np
import pyarrow
import pytest
import xarray
from mesonet.client.netcdf import _UDUNITS

COLUMNS = (
    "lat",
    "lon",
    "observation_name",
    "interval_type",
    "interval_minutes",
    "timestamp",
    "value",
    "quality_base",
    "quality_reason",
    "group_bucket_name",
    "unit",
    "station_id",
)
AIR = ("airTemperature", "Instantaneous", 0)
ROWS = [
    (43.6, -79.6, *AIR, 10, 20.5, "Good", "None", "", "°C", "A"),
    (43.6, -79.6, "windSpeed", "Average", 2, 10, 12.0, "Doubtful", "Range", "", "km/h", "A"),
    (43.6, -79.6, "windSpeed", "Average", 10, 10, 11.0, "Good", "None", "", "km/h", "A"),
    (43.7, -79.6, *AIR, 11, 21.5, "Error", "Range", "", "°C", "A"),
    (49.2, -123.2, *AIR, 10, 15.5, "Good", "None", "", "°C", "B"),
    (49.2, -123.2, "uvIndex", "Instantaneous", 0, 10, 5.0, "Unknown", "None", "", "", "B"),
    (49.2, -123.2, "visibility", "Instantaneous", 0, 10, 7.0, "Good", "None", "", "F, maybe", "B"),
]


def bulk(rows, columns=COLUMNS, damaged=0):
    made = {}
    for name, values in zip(
        columns, zip(*rows, strict=True) if rows else [[]] * len(columns), strict=False
    ):
        if name == "timestamp":
            hours = [datetime.datetime(2024, 8, 3, hour) for hour in values]
            made[name] = pyarrow.array(hours, pyarrow.timestamp("ms", "UTC"))
        elif name in ("lat", "lon", "value"):
            made[name] = pyarrow.array(values, pyarrow.float64())
        elif name == "interval_minutes":
            made[name] = pyarrow.array(values, pyarrow.int32())
        else:
            made[name] = pyarrow.array(values, pyarrow.string()).dictionary_encode()
    return mesonet.BulkTable(pyarrow.table(made), True, damaged)


def test_a_file_is_a_ragged_array_of_time_series(tmp_path):
    bulk(ROWS, damaged=2).to_netcdf(tmp_path / "some.nc")
    with xarray.open_dataset(tmp_path / "some.nc") as found:
        assert found.attrs["featureType"] == "timeSeries" and found.attrs["mesonet_damaged"] == 2
        assert found.station_id.values.tolist() == ["A", "B"]
        assert found.station_id.attrs["cf_role"] == "timeseries_id"
        assert (
            found.row_size.values.tolist() == [2, 1]
            and found.row_size.attrs["sample_dimension"] == "obs"
        )
        assert found.lat.values.tolist() == [43.7, 49.2]  # where the newest row is
        assert found.time.values.astype("M8[h]").astype(str).tolist() == [
            "2024-08-03T10",
            "2024-08-03T11",
            "2024-08-03T10",
        ]
        assert found.airTemperature.values.tolist() == [20.5, 21.5, 15.5]
        assert found.airTemperature.attrs["standard_name"] == "air_temperature"
        assert found.airTemperature.attrs["units"] == "degree_Celsius"
        assert found.airTemperature_quality.values.tolist() == [6, 2, 6]
        assert found.airTemperature_quality.attrs["flag_meanings"].split()[2] == "Error"
        # Two series of a variable are told apart.
        np.testing.assert_array_equal(found.windSpeed_average_2, [12, np.nan, np.nan])
        assert (
            found.windSpeed_average_10.attrs["cell_methods"] == "time: mean (interval: 10 minutes)"
        )
        # A unit that nobody knows is not given another name.
        assert found.visibility.attrs["comment"] == "in the unit 'F, maybe', as it was reported"
        assert "standard_name" not in found.visibility.attrs


def test_a_checker_of_the_conventions_finds_no_error(tmp_path):
    path = tmp_path / "some.nc"
    bulk(ROWS[:-1]).to_netcdf(path)
    checker = Path(sys.executable).with_name("compliance-checker")
    command = [checker, "--test=cf:1.11", str(path)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "All tests passed!" in found.stdout, found.stdout + found.stderr


def test_rows_without_units_are_refused_and_no_file_is_overwritten(tmp_path):
    without = bulk([row[:10] for row in ROWS], COLUMNS[:10])
    with pytest.raises(mesonet.MesonetError, match='ask for units="metric"'):
        without.to_xarray()
    path = tmp_path / "mine.nc"
    path.write_bytes(b"somebody's")
    with pytest.raises(mesonet.MesonetError, match="exists already; it was not overwritten"):
        bulk(ROWS).to_netcdf(path)
    assert path.read_bytes() == b"somebody's"
    assert [of.name for of in tmp_path.iterdir()] == ["mine.nc"]


def test_an_export_without_rows_and_one_of_a_single_station_are_files_too(tmp_path):
    bulk([]).to_netcdf(tmp_path / "none.nc")
    one = bulk([row[:11] for row in ROWS[:4]], COLUMNS[:11])
    one.to_netcdf(tmp_path / "one.nc")
    with xarray.open_dataset(tmp_path / "one.nc") as found:
        assert found.row_size.values.tolist() == [2]
    with xarray.open_dataset(tmp_path / "none.nc") as found:
        assert dict(found.sizes) == {"station": 0, "obs": 0}


def test_every_unit_of_a_variable_has_a_name_of_udunits(server):
    with mesonet.Client(server.origin) as client:
        assert set(client.units().values()) <= set(_UDUNITS)
    us = {"°F", "mph", "inHg", "in", "in/h", "mi", "ft", "kt"}
    assert us | {"K", "m/s", "Pa", "m", "J/m²"} <= set(_UDUNITS)
