"""The checks in Python: columns of every kind, and what is refused."""

import copy
import json
import pickle

import mesonet
import numpy as np
import pytest
from mesonet import BaseQuality, MesonetError, SeriesReadings

HOUR_MS = 3_600_000
START = np.datetime64("2021-01-15T00", "h")


def air(times=(0, HOUR_MS), values=(-12.0, 140.0), **more):
    return SeriesReadings("airTemperature", "Instantaneous", 0, times, values, **more)


def check(*series, **more):
    return mesonet.check_station(-135.07, 60.71, 706.0, series, **more)


@pytest.mark.parametrize("unit", ["h", "m", "s", "ms", "us", "ns", "25s", ">"])
def test_times_of_every_unit(unit):
    times = START + np.arange(2)
    times = times.astype(">M8[s]" if unit == ">" else f"M8[{unit}]")
    [verdicts] = check(air(times))
    assert verdicts.base.tolist() == [BaseQuality.Good, BaseQuality.Error]
    explained = mesonet.explain(-135.07, 60.71, 706.0, [air(times)], 0, 0)
    assert explained["timestamp"] == "2021-01-15T00:00:00Z"


def network(shift):
    """Seven stations in a row, 15 km apart, for two days; the fourth is wrong for the last hour."""
    times = START + np.arange(48)
    rng = np.random.default_rng(3)
    for place in range(7):
        values = 15 + 4 * np.sin(np.arange(48) / 24 * 2 * np.pi) + rng.normal(0, 0.2, 48)
        values[-1:] += shift if place == 3 else 0.0
        yield mesonet.NetworkStation(-100.0 + 0.2 * place, 45.5, 200.0, [air(times, values)])


def test_a_network_compares_its_stations():
    verdicts = mesonet.check_network(network(6.0))
    wrong = [(place, hour) for place, [of] in enumerate(verdicts)
             for hour in np.flatnonzero(of.base < BaseQuality.Instrumentation)]
    assert wrong == [(3, 47)]
    station = list(network(6.0))[3]
    [[alone]] = mesonet.check_network([station])
    [own] = mesonet.check_station(station.lon, station.lat, station.altitude_m, station.series)
    assert (alone.base.tolist(), alone.reason.tolist()) == (own.base.tolist(), own.reason.tolist())
    assert all((of.base == BaseQuality.Good).all() for [of] in mesonet.check_network(network(0.0)))


def test_a_network_that_is_refused():
    station = mesonet.NetworkStation(-100.0, 45.5, None, [air(), air()])
    with pytest.raises(MesonetError, match="station 1: series 1 has the key of one before it"):
        mesonet.check_network([mesonet.NetworkStation(0.0, 0.0, None, []), station])
    assert mesonet.check_network([]) == []


@pytest.mark.parametrize(
    "values",
    [np.array([-12, 140], np.int16), np.array([-12, 140], ">f4"), np.array([-12, 0, 140.0])[::2]],
)
def test_values_of_every_kind(values):
    [verdicts] = check(air(values=values))
    assert (verdicts.base.dtype, verdicts.reason.dtype) == (np.uint8, np.uint8)
    assert verdicts.base.tolist() == [BaseQuality.Good, BaseQuality.Error]


def test_columns_may_be_empty():
    assert check() == []
    for times in ([], np.zeros(0, "M8[s]")):
        [verdicts] = check(air(times, []))
        assert (verdicts.base.size, verdicts.reason.size) == (0, 0)


def test_a_missing_value_is_null_in_the_explanation():
    explained = mesonet.explain(-135.07, 60.71, None, [air(values=[1.0, np.nan])], 0, 1)
    assert explained["value"] is None
    assert explained["verdict"] == {"baseQuality": "Missing", "reasonQuality": "Missing"}
    json.dumps(explained, allow_nan=False)


def test_the_limits_that_ship_given_as_limits_change_nothing():
    for own, shipped in zip(check(air(), limits=mesonet.DEFAULT_LIMITS_TOML), check(air())):
        np.testing.assert_array_equal(own, shipped)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: check(air(np.array(["2021", "NaT"], "M8[s]"))),
            "times must be times; reading 1 is NaT",
        ),
        (
            lambda: check(air(np.array([0, 2**61], "M8[Y]"))),
            "times must fit 64-bit milliseconds",
        ),
        (
            lambda: check(air([HOUR_MS, HOUR_MS])),
            "series 0: times must ascend; reading 1 is not later than the one before",
        ),
        (
            lambda: check(air(values=[1.0])),
            "series 0: array lengths must match; got 2 for times, 1 for values",
        ),
        (
            lambda: check(air(source_base=np.uint8([6, 9]), source_reason=np.uint8([0, 0]))),
            "9 is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)",
        ),
        (
            lambda: check(air(source_base=np.uint8([6, 6]), source_reason=np.uint8([0]))),
            "array lengths must match; got 2 for base codes, 1 for reason codes",
        ),
        (
            lambda: mesonet.check_station(0.0, np.nan, None, []),
            "latitude must be from -90 to 90; got NaN",
        ),
        (
            lambda: mesonet.explain(0.0, 0.0, None, [air()], 0, 2),
            "reading 2 of series 0 is not among the readings given",
        ),
    ],
)
def test_bad_values_are_refused(call, message):
    with pytest.raises(MesonetError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize(
    "series",
    [
        air(times=[0.0, 1.0]),
        air(times=["2021-01-15", "2021-01-16"]),
        air(times=np.array([0, 1], np.uint64)),
        air(times=np.zeros(2, "M8")),
        air(times=np.array([0, 1], "m8[s]")),
        air(times=[[0, 1]]),
        air(values=["1", "2"]),
        air(values=[1j, 2]),
        air(values=[True, False]),
        air(values=[None, 1.0]),
        air(source_base=[6, 6], source_reason=[0, 0]),
        air(source_base=np.uint8([6, 6])),
        SeriesReadings("airTemperature", "Instantaneous", 0.5, [0], [1.0]),
    ],
)
def test_wrong_types_are_refused(series):
    with pytest.raises(TypeError):
        check(series)


@pytest.mark.parametrize("flag", [None, "4", 4.0, True])
def test_flags_of_wrong_types_are_refused(flag):
    with pytest.raises(TypeError):
        mesonet.QARTOD.quality(flag)


@pytest.mark.parametrize("flag", [None, 4, True])
@pytest.mark.parametrize("scheme", [mesonet.ISD, mesonet.GHCNH_CHECKS])
def test_letters_are_not_numbers(scheme, flag):
    with pytest.raises(TypeError):
        scheme.quality(flag)


def test_schemes_are_named_and_survive_copies():
    assert repr(mesonet.MADIS) == "mesonet.MADIS"
    assert mesonet.QARTOD.flags == (1, 2, 3, 4, 9)
    assert mesonet.ISD.flags == tuple("15ACIMPU2637049R")
    assert sorted(mesonet.GHCNH_CHECKS.flags) == sorted("rcbdefhinotuvlmpwzkasx")
    assert copy.deepcopy(mesonet.MADIS) is mesonet.MADIS
    assert pickle.loads(pickle.dumps(mesonet.MADIS)) is mesonet.MADIS
