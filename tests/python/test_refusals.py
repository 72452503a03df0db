"""What is refused says what was given: one class of errors, wrong types, lengths, times and units."""

import datetime
import inspect
import pickle
import zoneinfo
from pathlib import Path

import mesonet
import numpy as np
import pandas as pd
import pint
import polars as pl
import pyarrow as pa
import pytest
from mesonet import MesonetError

UTC, TORONTO = datetime.UTC, zoneinfo.ZoneInfo("America/Toronto")
HOUR = (0, 3_600_000, 10)
NOON = datetime.datetime(2024, 8, 3, 12)
FEED = Path(__file__).parents[1] / "data" / "metar" / "liveairdata_metars_20240803T1732Z.csv.gz"


def test_one_class_for_every_refused_value():
    assert MesonetError.__mro__[1] is ValueError and MesonetError.__module__ == "mesonet"
    assert "MesonetError" in mesonet.__all__ and inspect.getdoc(MesonetError)
    error = MesonetError("text")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is MesonetError and again.args == ("text",)


def far_frame():
    frame = mesonet.read_feed(FEED).to_pandas()
    return frame.assign(timestamp=np.full(len(frame), 1 << 61, "M8[s]"))


VALUES = {
    "length": (lambda: mesonet.resample([0, 1], [1.0], *HOUR), "lengths must match: got 2 for times, 1 for values"),
    "length of a series": (
        lambda: mesonet.check_station(
            0.0, 50.0, None, [mesonet.SeriesReadings("airTemperature", "Instantaneous", 0, [0, 1], [1.0])]
        ),
        "lengths must match|must have the same length",
    ),
    "NaT": (
        lambda: mesonet.resample(np.array(["2024-08-03", "NaT"], "M8[s]"), [1.0, 2.0], *HOUR),
        "times must be times; reading 1 is NaT",
    ),
    "NaT of pandas": (
        lambda: mesonet.resample(pd.Series([pd.NaT], dtype="datetime64[ns, UTC]"), [1.0], *HOUR),
        "times must be times; reading 0 is NaT",
    ),
    "unit": (lambda: mesonet.convert(1.0, "furlong", "km"), "furlong"),
    "pair of units": (lambda: mesonet.convert(1.0, "km", "K"), "km"),
    "far": (lambda: mesonet.resample(np.array([1 << 61], "M8[s]"), [1.0], *HOUR), "must fit 64-bit milliseconds"),
    "far start": (lambda: mesonet.plan_grid(np.datetime64(1 << 61, "s"), HOUR[1], 1), "must fit 64-bit milliseconds"),
    "far step": (
        lambda: mesonet.plan_grid(*HOUR[:2], np.timedelta64(1 << 61, "s")),
        "step must fit 64-bit milliseconds; got 2305843009213693952 seconds",
    ),
    "far times of pandas": (lambda: mesonet.check_frame(far_frame()), "must fit 64-bit milliseconds"),
    "far times of Arrow": (
        lambda: mesonet.check_frame(pa.Table.from_pandas(far_frame())),
        "must fit 64-bit milliseconds",
    ),
    "report": (lambda: mesonet.parse_metar("METAR"), "is not a station"),
    "content": (lambda: mesonet.read_any(b"hello"), "its kind is unknown"),
    "message": (lambda: mesonet.read_grib(b"hello"), "it holds no GRIB message"),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_value_that_is_refused(case):
    call, message = VALUES[case]
    with pytest.raises(MesonetError, match=message) as error:
        call()
    again = pickle.loads(pickle.dumps(error.value))
    assert type(again) is MesonetError and str(again) == str(error.value)


def objects(*of):
    array = np.empty(len(of), object)
    array[:] = of
    return array


TYPES = {
    "texts": (lambda: mesonet.resample([0], ["a"], *HOUR), "values must be numbers; got <U1"),
    "truths": (lambda: mesonet.resample([0], [True], *HOUR), "values must be numbers; got bool"),
    "complex": (lambda: mesonet.resample([0], [1j], *HOUR), "values must be numbers; got complex128"),
    "long floats": (
        lambda: mesonet.resample([0], np.array([1], np.longdouble), *HOUR),
        "values must be numbers; got (float128|longdouble)",
    ),
    "floats as times": (lambda: mesonet.resample([0.5], [1.0], *HOUR), "datetime64; got float64"),
    "lengths as times": (lambda: mesonet.resample(np.array([5], "m8[s]"), [1.0], *HOUR), r"got timedelta64\[s\]"),
    "objects": (
        lambda: mesonet.resample([0], objects(1.5), *HOUR),
        "values must be numbers; got objects, the first of type float",
    ),
    "objects as times": (
        lambda: mesonet.resample(objects(NOON), [1.0], *HOUR),
        "times must be int64 milliseconds or datetime64; got objects, the first of type datetime",
    ),
    "mixed time zones": (
        lambda: mesonet.resample(objects(NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=TORONTO)), [1.0, 2.0], *HOUR),
        "got objects of the time zones America/Toronto, UTC, the first of type datetime",
    ),
    "mixed with none": (
        lambda: mesonet.pick_series([objects(NOON.replace(tzinfo=UTC), NOON)], *HOUR),
        "got objects of the time zones None, UTC, the first of type datetime",
    ),
    "dimensions": (lambda: mesonet.resample([[0]], [1.0], *HOUR), "times must have one dimension; got 2"),
    "ufunc of objects": (lambda: mesonet.dew_point_c(objects("a"), 50.0), "dew_point_c takes numbers and arrays of numbers; got ndarray, float"),
    "tile": (lambda: mesonet.decode_bytes("12", 0.5, 0, -1), "str"),
}


@pytest.mark.parametrize("case", TYPES)
def test_a_type_that_is_refused(case):
    call, message = TYPES[case]
    with pytest.raises(TypeError, match=message):
        call()


def test_byte_swapped_columns_are_read():
    times, values = np.array([0, 1_800_000]), np.array([1.5, -2.25])
    wanted = mesonet.resample(times, values, *HOUR).values
    for order in "<>":
        swapped = mesonet.resample(times.astype(f"{order}i8"), values.astype(f"{order}f8"), *HOUR).values
        np.testing.assert_array_equal(swapped, wanted)
        when = times.astype("M8[ms]").astype(f"{order}M8[ms]")
        np.testing.assert_array_equal(mesonet.resample(when, values.astype(f"{order}f4"), *HOUR).values, wanted)
        picks = mesonet.pick_series([times.astype(f"{order}i8")], *HOUR)
        assert picks.reading[-1] == 1
        assert mesonet.dew_point_c(values.astype(f"{order}f8"), 50.0).tolist() == mesonet.dew_point_c(values, 50.0).tolist()


def test_columns_with_a_time_zone_are_instants():
    utc = pd.Series(pd.to_datetime(["2024-08-03T16:00", "2024-08-03T16:30"], utc=True))
    window = ("2024-08-03T16:00Z", "2024-08-03T17:00Z", 30)
    wanted = mesonet.resample(utc.dt.tz_localize(None), [1.0, 2.0], *window).values
    assert wanted.tolist() == [1.0, 2.0, 2.0]
    for unit in ["s", "ms", "us", "ns"]:
        local = utc.dt.tz_convert("America/Toronto").dt.as_unit(unit)
        # Held by Arrow, the zone is no attribute of the type.
        by_arrow = local.astype(pd.ArrowDtype(pa.timestamp(unit, "America/Toronto")))
        for given in [local, pd.DatetimeIndex(local), local.array, by_arrow, pl.Series(local)]:
            np.testing.assert_array_equal(mesonet.resample(given, [1.0, 2.0], *window).values, wanted)
    # A column of several time zones in a table: each is the instant that it says.
    mixed = pd.DataFrame(
        {"k": [1, 1], "v": [1.0, 2.0], "t": objects(utc[0].to_pydatetime(), utc[1].tz_convert("Asia/Tokyo").to_pydatetime())}
    )
    grid = mesonet.resample_table(
        mixed, key="k", time="t", value="v", start=window[0], end=window[1], step=30
    )
    assert grid["v"].tolist() == wanted.tolist()


LIBRARIES = {
    "an expression of polars": pl.col("a"),
    "a lazy frame of polars": pl.LazyFrame({"a": [1.0, 2.0]}),
    "a quantity of pint": pint.UnitRegistry().Quantity(np.array([1.0, 2.0]), "hPa"),
}
WORLD = mesonet.NativeGrid(
    {
        "rows": 3, "columns": 3, "first_lon": 0.0, "first_lat": 0.0, "column_step": 1.0, "row_step": 1.0,
        "grid_relative_winds": False, "projection": "lat_lon",
    }
)  # fmt: skip
VALUES_MUST = "(values|lon|speed_kmh|pressure_hpa|row) must (have values|be numbers); got"
GROUPS = {
    "units": (lambda of: mesonet.convert(of, "kt", "km/h"), "of polars only a Series|a quantity of pint knows its unit"),
    "canonical units": (
        lambda of: mesonet.to_canonical("windSpeed", of, "kt"),
        "of polars only a Series|a quantity of pint knows its unit",
    ),
    "winds": (lambda of: mesonet.rotate(1.0, 0.0, pl.Series([1.0]), 0.0), "rotate has two results"),
    "quality": (mesonet.worst, "codes are an array or an iterable; got|an array of quality codes holds integers or names"),
    "flags": (mesonet.MADIS.flag, "a quality code is an integer or a name; got"),
    "time grid": (lambda of: mesonet.resample([0, 1], of, *HOUR), VALUES_MUST),
    "grids": (lambda of: WORLD.locate(of, of), VALUES_MUST),
    "cells": (lambda of: WORLD.position(of, of), VALUES_MUST),
    "checks": (
        lambda of: mesonet.check_station(
            0.0, 50.0, None, [mesonet.SeriesReadings("airTemperature", "Instantaneous", 0, [0, 1], of)]
        ),
        VALUES_MUST,
    ),
    "place of checks": (lambda of: mesonet.check_station(of, 50.0, None, []), "lon must be a number; got"),
    "frames": (mesonet.check_frame, "a frame is of pandas, polars or Arrow; got|a lazy frame is not read"),
    "tables": (
        lambda of: mesonet.resample_table(of, key="a", time="b", value="c", start=0, end=1, step=1),
        "table must have Arrow's __arrow_c_stream__",
    ),
    "charts": (lambda of: mesonet.chart.wind_rose(of, [0, 10]), VALUES_MUST),
    "soundings": (lambda of: mesonet.chart.skew_t(of, [0, 10]), VALUES_MUST),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("group", GROUPS)
def test_what_other_libraries_have_in_place_of_numbers_is_refused_in_a_sentence(group, library):
    call, message = GROUPS[group]
    with pytest.raises(TypeError, match=message) as error:
        call(LIBRARIES[library])
    assert "\n" not in str(error.value)


def test_a_frame_is_not_one_column():
    for series in (pd.Series([1.0]), pl.Series([1.0])):
        with pytest.raises(TypeError, match="a frame is of pandas, polars or Arrow; got a Series"):
            mesonet.check_frame(series)


def test_derived_values_take_expressions_and_quantities():
    degrees = pint.UnitRegistry().Quantity(68.0, "degF")
    frame = pl.DataFrame({"air": [20.0]})
    assert frame.select(mesonet.dew_point_c(pl.col("air"), 50.0)).item() == mesonet.dew_point_c(20.0, 50.0)
    assert mesonet.dew_point_c(degrees, 50.0).magnitude == pytest.approx(mesonet.dew_point_c(20.0, 50.0))
    with pytest.raises(TypeError, match="dew_point_c takes numbers and arrays of numbers; got LazyFrame, float"):
        mesonet.dew_point_c(frame.lazy(), 50.0)
