"""The time grid and the lookback in Python: inputs of every kind, and what is refused."""

import datetime
import pickle

import mesonet
import numpy as np
import pandas as pd
import polars as pl
import pytest
from mesonet import Caps, MesonetError

MINUTE = 60_000
START = np.datetime64("2024-08-03T20:00", "m")
UTC = datetime.UTC


def sample(seed=7, readings=500):
    rng = np.random.default_rng(seed)
    minutes = np.sort(rng.integers(0, 3 * 1440, readings))
    return START + minutes, rng.normal(20, 5, readings)


def test_each_cell_has_the_latest_reading_as_pandas_and_polars_find_it():
    times, values = sample()
    kept = np.append(times[1:] != times[:-1], True)
    times, values = times[kept], values[kept]
    end = START + np.timedelta64(2880, "m")
    most = datetime.timedelta(minutes=20)
    grid = mesonet.resample(times, values, START, end, 10, max_age=most)
    left = pd.DataFrame({"at": grid.times})
    right = pd.DataFrame({"at": times.astype("M8[us]"), "value": values})
    merged = pd.merge_asof(left, right, on="at", tolerance=pd.Timedelta(most))
    np.testing.assert_array_equal(grid.values, merged["value"].to_numpy())
    joined = pl.DataFrame({"at": grid.times}).join_asof(
        pl.DataFrame({"at": times.astype("M8[us]"), "value": values}), on="at", tolerance="20m"
    )
    np.testing.assert_array_equal(grid.values, joined["value"].fill_null(np.nan).to_numpy())
    found = grid.reading >= 0
    np.testing.assert_array_equal(grid.values[found], values[grid.reading[found]])
    np.testing.assert_array_equal(grid.age[found], grid.times[found] - times[grid.reading[found]])
    assert np.isnat(grid.age[~found]).all() and np.isnan(grid.values[~found]).all()
    assert found.any() and not found.all()


def test_series_with_offsets_are_each_like_one_alone():
    columns = [sample(seed, readings) for seed, readings in enumerate([40, 0, 300, 1])]
    times = np.concatenate([of[0] for of in columns])
    values = np.concatenate([of[1] for of in columns])
    offsets = np.cumsum([0] + [of[0].size for of in columns])
    window = (START, START + np.timedelta64(1, "D"), 7)
    grid = mesonet.resample(times, values, *window, offsets=offsets)
    assert grid.values.shape == (4, grid.times.size) == (4, 207)
    for which, (of_times, of_values) in enumerate(columns):
        alone = mesonet.resample(of_times, of_values, *window)
        np.testing.assert_array_equal(grid.values[which], alone.values)
        np.testing.assert_array_equal(grid.age[which], alone.age)
        there = alone.reading >= 0
        np.testing.assert_array_equal(
            grid.reading[which], np.where(there, alone.reading + offsets[which], -1)
        )


@pytest.mark.parametrize(
    "start",
    [
        "2024-08-03T20:00Z",
        "2024-08-03T16:00-04:00",
        1_722_715_200_000,
        np.int64(1_722_715_200_000),
        START,
        START.astype("M8[ns]"),
        datetime.datetime(2024, 8, 3, 20),
        datetime.datetime(2024, 8, 3, 20, tzinfo=UTC),
        datetime.datetime(2024, 8, 3, 16, tzinfo=datetime.timezone(-datetime.timedelta(hours=4))),
        pd.Timestamp("2024-08-03T20:00"),
        pd.Timestamp("2024-08-03T16:00", tz="America/Toronto"),
    ],
    ids=repr,
)
def test_a_start_of_every_kind(start):
    plan = mesonet.plan_grid(start, "2024-08-03T21:00Z", 30)
    assert plan.times.dtype == "M8[us]"
    np.testing.assert_array_equal(plan.times, START + np.array([0, 30, 60], "m8[m]"))


@pytest.mark.parametrize(
    "step",
    [90, np.int32(90), datetime.timedelta(minutes=90), np.timedelta64(90, "m"), pd.Timedelta("90min")],
    ids=repr,
)
def test_a_step_of_every_kind(step):
    plan = mesonet.plan_grid(START, START + np.timedelta64(2, "h"), step)
    assert (plan.step_minutes, plan.times.size, plan.coarsening) == (90, 3, None)


def test_columns_of_every_kind():
    times, values = sample()
    wanted = mesonet.resample(times, values, START, START + np.timedelta64(1, "D"), 60).values
    aware = pd.Series(times.astype("M8[ns]")).dt.tz_localize("UTC")
    given = [
        (times.astype("M8[ms]").astype(np.int64), values),
        (times.astype("M8[ns]"), values),
        (times.astype(">M8[s]"), values.astype(">f8")),
        (np.repeat(times, 2)[::2], np.repeat(values, 2)[::2]),
        (pd.Series(times), pd.Series(values)),
        (aware.dt.tz_convert(None), values),
        (pl.Series(times.astype("M8[us]")), pl.Series(values)),
    ]
    for of_times, of_values in given:
        grid = mesonet.resample(of_times, of_values, START, START + np.timedelta64(1, "D"), 60)
        np.testing.assert_array_equal(grid.values, wanted)


def test_caps_make_the_step_coarser():
    times, values = sample()
    end = START + np.timedelta64(1, "D")
    grid = mesonet.resample(times, values, START, end, 1, caps=Caps(positions=100))
    assert (grid.step_minutes, grid.values.size) == (15, 97)
    assert grid.coarsening == (1, 15, "positions", 97, 97)
    assert mesonet.resample(times, values, START, end, 1).coarsening is None
    offsets = [0, times.size, times.size, times.size]
    grid = mesonet.resample(times, values, START, end, 1, offsets=offsets, caps=Caps(cells=30))
    assert (grid.values.shape, grid.coarsening.limited_by) == ((3, 10), "cells")


HOUR = (0, 60 * MINUTE, 10)
REFUSED = {
    "lengths": (lambda: mesonet.resample([0, 1], [1.0], *HOUR), "got 2 for times, 1 for values"),
    "order": (lambda: mesonet.resample([1, 0], [1.0, 2.0], *HOUR), "reading 1 of series 0"),
    "offsets": (
        lambda: mesonet.resample([0], [1.0], *HOUR, offsets=[0, 2]),
        "offsets must ascend from 0 to the number of readings, 1; offset 1 is 2",
    ),
    "no offset": (lambda: mesonet.resample([], [], *HOUR, offsets=[]), "at least the 0"),
    "NaT": (
        lambda: mesonet.resample(np.array(["NaT"], "M8[s]"), [1.0], *HOUR),
        "times must be times; reading 0 is NaT",
    ),
    "start NaT": (lambda: mesonet.plan_grid(np.datetime64("NaT", "s"), *HOUR[1:]), "start must be"),
    "pandas NaT": (lambda: mesonet.plan_grid(pd.NaT, *HOUR[1:]), "start must be a time; got NaT"),
    "window": (lambda: mesonet.plan_grid(1, 0, 10), "start must be before end"),
    "step": (lambda: mesonet.plan_grid(0, 1, 0), "whole number of minutes from 1 to 2147483647"),
    "long step": (lambda: mesonet.plan_grid(0, 1, 1 << 70), "whole number of minutes"),
    "step of seconds": (
        lambda: mesonet.plan_grid(0, 1, datetime.timedelta(seconds=90)),
        "step must be a whole number of minutes; got 0:01:30",
    ),
    "step of months": (lambda: mesonet.plan_grid(0, 1, np.timedelta64(1, "M")), "one length"),
    "far": (lambda: mesonet.plan_grid(0, 1 << 60, 10), "64-bit microseconds"),
    "caps": (lambda: mesonet.plan_grid(*HOUR, caps=Caps(cells=-1)), "cells must be from 0"),
    "stations": (lambda: mesonet.plan_grid(*HOUR, stations=-1), "stations must be from 0"),
    "text": (lambda: mesonet.plan_grid("2024-08-03T2000", *HOUR[1:]), "not an instant"),
    "age": (
        lambda: mesonet.resample([0], [1.0], *HOUR, max_age=np.timedelta64(1, "us")),
        "max_age must be whole milliseconds",
    ),
    "candidate": (lambda: mesonet.pick_series([[0], [1, 0]], *HOUR), "candidate 1"),
    "plan": (lambda: mesonet.check_lookback(0, 1, "gold"), "gold"),
    "reach": (lambda: mesonet.check_lookback(0, 1, "pro", now=90 * 86_400_000), "maxReachMs"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_value_that_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(MesonetError) as error:
        call()
    assert message in str(error.value)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mesonet.resample([0.5], [1.0], *HOUR),
        lambda: mesonet.resample([0], ["a"], *HOUR),
        lambda: mesonet.resample(np.array([0], object), [1.0], *HOUR),
        lambda: mesonet.resample([[0]], [1.0], *HOUR),
        lambda: mesonet.resample([0], [1.0], *HOUR, offsets=[0.0, 1.0]),
        lambda: mesonet.resample([0], [1.0], *HOUR, max_age=5),
        lambda: mesonet.plan_grid(1.5, *HOUR[1:]),
        lambda: mesonet.plan_grid(True, *HOUR[1:]),
        lambda: mesonet.plan_grid(0, 1, 1.5),
    ],
)
def test_a_type_that_is_refused(call):
    with pytest.raises(TypeError):
        call()


def test_a_grid_that_no_memory_holds_is_a_memory_error():
    with pytest.raises(MemoryError):
        mesonet.plan_grid(-(1 << 52), 1 << 52, 1, caps=Caps(positions=(1 << 32) - 1), stations=0)
        mesonet.resample([], [], -(1 << 52), 1 << 52, 1)


def test_picks_name_the_series_and_its_reading():
    hour = 60 * MINUTE
    picks = mesonet.pick_series([[hour], [0, 3 * hour]], -hour, 4 * hour, 60)
    assert picks.series.tolist() == [-1, 1, 0, 0, 1, 1]
    assert picks.reading.tolist() == [-1, 0, 0, 0, 1, 1]
    young = mesonet.pick_series([[hour]], 0, 3 * hour, 60, max_age=datetime.timedelta(0))
    assert young.series.tolist() == [-1, 0, -1, -1]


def test_capabilities_are_those_of_the_service():
    view = mesonet.capabilities("commercial")
    assert view["limits"] == {"maxWindowMs": None, "maxReachMs": None}
    assert view["products"]["historical.bulk"]["allowed"]
    assert not mesonet.capabilities()["products"]["historical.bulk"]["allowed"]
    # What is not reserved for staff needs the plan of everybody.
    assert not mesonet.capabilities(staff=True)["products"]["historical.bulk"]["allowed"]
