"""What users get wrong most often, in every function over columns: one class, a clear message, picklable."""

import datetime
import pickle

import mesonet
import numpy as np
import pandas as pd
import pytest
from mesonet import MesonetError, SeriesReadings

TIMES = np.array(["2021-01-15T00", "2021-01-15T01"], "M8[h]")
VALUES = np.array([1.0, 2.0])


def resample(times=TIMES, values=VALUES):
    return mesonet.resample(times, values, "2021-01-15T00:00Z", "2021-01-15T02:00Z", 60).values.tolist()


def check(times=TIMES, values=VALUES):
    series = SeriesReadings("airTemperature", "Instantaneous", 0, times, values)
    [verdicts] = mesonet.check_station(-79.63, 43.68, None, [series])
    return verdicts.base.tolist()


def network(times=TIMES, values=VALUES):
    series = SeriesReadings("airTemperature", "Instantaneous", 0, times, values)
    [[verdicts]] = mesonet.check_network([mesonet.NetworkStation(-79.63, 43.68, None, [series])])
    return verdicts.base.tolist()


def explain(times=TIMES, values=VALUES):
    series = SeriesReadings("airTemperature", "Instantaneous", 0, times, values)
    return dict(mesonet.explain(-79.63, 43.68, None, [series], 0, 1))


FUNCTIONS = [resample, check, network, explain]
ZONED = [
    datetime.datetime(2021, 1, 15, 0, tzinfo=datetime.UTC),
    datetime.datetime(2021, 1, 14, 20, tzinfo=datetime.timezone(-datetime.timedelta(hours=5))),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_means_the_same_gives_the_same(function):
    wanted = function()
    for times in (TIMES.astype(">M8[s]"), TIMES.astype("M8[ns]"), np.repeat(TIMES, 2)[::2], pd.Series(TIMES.astype("M8[s]"))):
        assert function(times=times) == wanted
    for values in (VALUES.astype(">f8"), VALUES.astype("f4"), VALUES.astype("i2"), np.repeat(VALUES, 2)[::2], [1.0, 2.0]):
        assert function(values=values) == wanted
    assert function(times=TIMES.astype("M8[ms]").astype(np.int64).astype(">i8")) == wanted


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"times": np.array(["2021-01-15T00", "NaT"], "M8[h]")}, MesonetError, "times must be times; reading 1 is NaT"),
        ({"times": TIMES.astype("M8[s]").astype(np.uint64)}, TypeError, "times must be int64 milliseconds or datetime64; got uint64"),
        ({"times": [0.0, 1.0]}, TypeError, "times must be int64 milliseconds or datetime64; got float64"),
        ({"times": np.array(ZONED, object)}, TypeError, "times must be int64 milliseconds or datetime64; got object"),
        ({"times": pd.Series(ZONED, dtype=object)}, TypeError, "times must be int64 milliseconds or datetime64; got object"),
        ({"times": ["2021-01-15T00", "2021-01-15T01"]}, TypeError, "times must be int64 milliseconds or datetime64; got <U13"),
        ({"times": TIMES[:1]}, MesonetError, "got 1 for times, "),
        ({"times": TIMES[None]}, TypeError, "times must have one dimension; got 2"),
        ({"times": TIMES[::-1]}, MesonetError, "times must ascend"),
        ({"values": np.array([1.0, None], object)}, TypeError, "values must be numbers; got object"),
        ({"values": np.array(["1", "2"])}, TypeError, "values must be numbers; got <U1"),
        ({"values": np.array([True, False])}, TypeError, "values must be numbers; got bool"),
        ({"values": VALUES + 1j}, TypeError, "values must be numbers; got complex128"),
        ({"values": VALUES[:1]}, MesonetError, "got 2 for times, 1 for values"),
        ({"values": TIMES}, TypeError, "values must be numbers; got datetime64[h]"),
        ({"values": 1.0}, TypeError, "values must have one dimension; got 0"),
    ],
)
def test_columns_that_are_refused(function, given, kind, message):
    with pytest.raises(kind) as error:
        function(**given)
    assert message in str(error.value)
    if kind is MesonetError:
        assert isinstance(error.value, ValueError)
        again = pickle.loads(pickle.dumps(error.value))
        assert (type(again), again.args) == (MesonetError, error.value.args)


@pytest.mark.parametrize("name", ["dew_point_c", "humidex", "wind_chill_c", "rotate", "wet_bulb_c"])
def test_elementwise_functions_refuse_what_are_no_numbers(name):
    function = getattr(mesonet, name)
    rest = [1.0] * (function.nin - 1)
    for given in (["1"], np.array([1.0, None], object), TIMES, np.array([1j])):
        with pytest.raises(TypeError):
            function(given, *rest)
    with pytest.raises(ValueError, match="could not be broadcast"):
        function(np.zeros(3), np.zeros(2), *rest[1:])
    with pytest.raises(TypeError):
        function()


def test_conversions_are_refused():
    with pytest.raises(MesonetError, match="kt .* measures speed, hPa"):
        mesonet.convert(VALUES, "kt", "hPa")
    for given in (np.array(["1"]), np.array([None], object), TIMES):
        with pytest.raises(TypeError):
            mesonet.convert(given, "kt", "km/h")


def test_there_is_one_base_class():
    assert issubclass(MesonetError, ValueError)
    assert MesonetError.__module__ == "mesonet"
    assert issubclass(mesonet.DamagedWarning, UserWarning)
