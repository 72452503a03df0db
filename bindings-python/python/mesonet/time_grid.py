"""Readings on a time grid: the latest at or before each position.

>>> import numpy as np, mesonet
>>> times = np.array(["2024-08-03T20:53", "2024-08-03T21:07"], "M8[m]")
>>> grid = mesonet.resample(times, [29.4, 29.1], "2024-08-03T20:45Z", "2024-08-03T21:15Z", 15)
>>> grid.values.tolist()
[nan, 29.4, 29.1]
>>> grid.times
array(['2024-08-03T20:45:00.000000', '2024-08-03T21:00:00.000000',
       '2024-08-03T21:15:00.000000'], dtype='datetime64[us]')
>>> grid.age.astype("m8[m]")
array(['NaT',     7,     8], dtype='timedelta64[m]')
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import _mesonet
from ._shown import ShownFields
from ._columns import (
    Duration,
    Instant,
    column,
    duration_ms,
    instant_ms,
    milliseconds,
    numbers,
    step_minutes,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Caps", "Coarsening", "Picks", "Resampled", "TimeGrid", "pick_series", "plan_grid", "resample"]


class Caps(NamedTuple):
    """Limits on the size of an answer. The defaults are those of the service.

    >>> from mesonet import Caps
    >>> Caps()
    Caps(cells=500000, positions=2000)
    """

    cells: int = _mesonet.DEFAULT_CAPS[0]
    """Stations × names × positions."""
    positions: int = _mesonet.DEFAULT_CAPS[1]
    """Positions in time."""


class Coarsening(NamedTuple):
    """Why a grid has a coarser step than requested.

    >>> from mesonet import Caps, plan_grid
    >>> plan = plan_grid("2024-08-01T00:00Z", "2024-08-03T00:00Z", 1, caps=Caps(positions=100))
    >>> plan.coarsening.factor, plan.coarsening.limited_by
    (30, 'positions')
    """

    requested_step: int
    """The requested step, in minutes."""
    factor: int
    """How many times the requested step is used."""
    limited_by: str
    """The cap that required it: ``cells`` or ``positions``."""
    cells: int
    """The number of cells: stations × names × positions."""
    positions: int
    """The number of positions."""


@dataclass(frozen=True, eq=False)
class TimeGrid(ShownFields):
    """A grid that fits its caps: see :func:`plan_grid`.

    >>> from mesonet import plan_grid
    >>> plan_grid("2024-08-03T20:00Z", "2024-08-03T20:25Z", 10).times.astype("M8[m]").tolist()[-1]
    datetime.datetime(2024, 8, 3, 20, 25)
    """

    step_minutes: int
    """The step that is used: the requested one or a whole multiple of it."""
    times: "NDArray[np.datetime64]"
    """The positions, UTC in datetime64[us]: start, start + step, … and the end itself."""
    coarsening: Coarsening | None
    """Present if the step differs from the requested one."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """Readings on a grid. For series with offsets the arrays have the shape (series, positions),
    for one series (positions,).

    >>> from mesonet import resample
    >>> resample([0], [4.5], 0, 120_000, 1).reading.tolist()
    [0, 0, 0]
    """

    times: "NDArray[np.datetime64]"
    """The positions, UTC in datetime64[us]."""
    values: "NDArray[np.float64]"
    """The values; NaN where there is no reading."""
    age: "NDArray[np.timedelta64]"
    """The age of each reading at its position, in timedelta64[ms]; NaT where there is no reading."""
    reading: "NDArray[np.int64]"
    """The index of each reading in the input columns; -1 where there is no reading."""
    step_minutes: int
    """The step that was used."""
    coarsening: Coarsening | None
    """Present if the step differs from the requested one."""


class Picks(NamedTuple):
    """The series that fills each position of a grid, and its reading there."""

    series: "NDArray[np.int64]"
    """The index of the series among the candidates; -1 where none has a reading."""
    reading: "NDArray[np.int64]"
    """The index of the reading in its series; -1 where there is no reading."""


def plan_grid(
    start: Instant,
    end: Instant,
    step: int | Duration,
    *,
    stations: int = 1,
    names: int = 1,
    caps: Caps | None = None,
) -> TimeGrid:
    """Fits a grid from ``start`` to ``end``, both included, to the caps.

    Times are texts in RFC 3339, milliseconds since 1970, datetimes or datetime64; those without a
    time zone are UTC. ``step`` is a number of minutes or a timedelta of whole minutes. The step
    used is the smallest whole multiple of ``step`` at which stations × names × positions, and the
    positions, stay within ``caps``, by default :class:`Caps`. A grid of start and end alone is
    never refused.

    >>> from mesonet import plan_grid
    >>> plan = plan_grid("2024-08-01T00:00Z", "2024-08-08T00:00Z", 60, stations=10_000, names=8)
    >>> plan.step_minutes, plan.coarsening.limited_by
    (2040, 'cells')
    >>> plan_grid("2024-08-08T00:00Z", "2024-08-01T00:00Z", 60)
    Traceback (most recent call last):
    mesonet.MesonetError: start must be before end; got start 2024-08-08T00:00:00Z and end 2024-08-01T00:00:00Z
    """
    requested = (instant_ms(start, "start"), instant_ms(end, "end"), step_minutes(step))
    grid, coarsening = fitted(requested, stations, names, Caps() if caps is None else caps)
    return TimeGrid(grid[2], _positions(grid), coarsening)


def resample(
    times: "ArrayLike",
    values: "ArrayLike",
    start: Instant,
    end: Instant,
    step: int | Duration,
    *,
    offsets: "ArrayLike | None" = None,
    max_age: Duration | None = None,
    caps: Caps | None = None,
) -> Resampled:
    """Gives the latest reading at or before each position of a grid.

    ``times`` ascend within a series: int64 milliseconds since 1970 or datetime64 of any unit;
    ``values`` are numbers. Without ``offsets`` they are one series; with them, series ``i`` has the
    readings from ``offsets[i]`` up to ``offsets[i + 1]``, as in Arrow's lists. The grid is that of
    :func:`plan_grid`; its step is made coarser only if ``caps`` are given. A reading older than
    ``max_age`` fills nothing. A reading whose value is NaN fills its cell with NaN.

    Contiguous int64 milliseconds, datetime64[ms] and float64 values are read in place, without the
    GIL. Columns of different lengths, offsets that do not ascend from 0 to the number of readings,
    and times that descend raise :class:`mesonet.MesonetError`.

    >>> import datetime, numpy as np, mesonet
    >>> minute = 60_000
    >>> grid = mesonet.resample([0, 5 * minute, 0], [1.0, 2.0, 3.0], 0, 10 * minute, 5,
    ...                         offsets=[0, 2, 3], max_age=datetime.timedelta(minutes=5))
    >>> grid.values
    array([[ 1.,  2.,  2.],
           [ 3.,  3., nan]])
    >>> grid.reading.tolist()
    [[0, 1, 1], [2, 2, -1]]
    >>> mesonet.resample([5, 0], [1.0, 2.0], 0, minute, 1)
    Traceback (most recent call last):
    mesonet.MesonetError: times must ascend within a series; reading 1 of series 0 is earlier than the one before
    """
    ts_ms, value = milliseconds(times), numbers(values)
    bounds = np.array([0, ts_ms.size]) if offsets is None else _offsets(offsets)
    series = max(bounds.size - 1, 0)
    grid = (instant_ms(start, "start"), instant_ms(end, "end"), step_minutes(step))
    coarsening = None
    if caps is not None:
        grid, coarsening = fitted(grid, series, 1, caps)
    max_age_ms = None if max_age is None else duration_ms(max_age, "max_age")
    at = _positions(grid)
    room = series * at.size
    filled, age, reading = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
    _mesonet.resample_into(ts_ms, value, bounds, grid, max_age_ms, (filled, age, reading))
    shape = (at.size,) if offsets is None else (series, at.size)
    return Resampled(
        times=at,
        values=filled.reshape(shape),
        age=age.view("m8[ms]").reshape(shape),
        reading=reading.reshape(shape),
        step_minutes=grid[2],
        coarsening=coarsening,
    )


def pick_series(
    candidates: "Iterable[ArrayLike]",
    start: Instant,
    end: Instant,
    step: int | Duration,
    *,
    max_age: Duration | None = None,
) -> Picks:
    """Chooses which of several series of one variable fills each position of a grid.

    ``candidates`` are the times of the series, each ascending, the preferred series first. The
    first series whose newest reading is at most 90 minutes old wins. If there is none, the newest
    reading wins; on a tie, the first series wins. The service fills the cells of its answers in the
    same way.

    >>> from mesonet import pick_series
    >>> hour = 3_600_000
    >>> minutely, hourly = [0], [0, hour, 2 * hour, 3 * hour]
    >>> pick_series([minutely, hourly], 0, 3 * hour, 60).series.tolist()
    [0, 0, 1, 1]
    """
    columns = []
    for which, times in enumerate(candidates):
        given = column(times, "times")
        if given.size > _mesonet.MAX_CANDIDATE_READINGS:
            raise _mesonet.MesonetError(
                f"a candidate may have {_mesonet.MAX_CANDIDATE_READINGS} readings at most; "
                f"candidate {which} has {given.size}"
            )
        columns.append(milliseconds(given))
    for which, ts_ms in enumerate(columns):
        if (ts_ms[1:] < ts_ms[:-1]).any():
            raise _mesonet.MesonetError(f"times must ascend; those of candidate {which} do not")
    grid = (instant_ms(start, "start"), instant_ms(end, "end"), step_minutes(step))
    max_age_ms = None if max_age is None else duration_ms(max_age, "max_age")
    room = _mesonet.position_count(grid)
    series, reading = np.empty(room, np.int64), np.empty(room, np.int64)
    _mesonet.pick_into(columns, grid, max_age_ms, series, reading)
    return Picks(series, reading)


def fitted(
    grid: tuple[int, int, int], stations: int, names: int, caps: Caps
) -> tuple[tuple[int, int, int], Coarsening | None]:
    counts = {"stations": stations, "names": names, **Caps(*caps)._asdict()}
    for what, count in counts.items():
        if not 0 <= count < 1 << 32:
            raise _mesonet.MesonetError(f"{what} must be from 0 to 4294967295; got {count}")
    step, coarsened = _mesonet.plan(grid, stations, names, (caps[0], caps[1]))
    return (*grid[:2], step), Coarsening(*coarsened) if coarsened else None


def _positions(grid: tuple[int, int, int]) -> "NDArray[np.datetime64]":
    at_ms = np.empty(_mesonet.position_count(grid), np.int64)
    _mesonet.fill_positions(grid, at_ms)
    return at_ms.view("M8[ms]").astype("M8[us]")


def _offsets(given: "ArrayLike") -> "NDArray[np.int64]":
    array = column(given, "offsets")
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"offsets must be integers; got {array.dtype}")
    if array.dtype == np.uint64 and (array > np.iinfo(np.int64).max).any():
        raise _mesonet.MesonetError("offsets must fit 64 bits with a sign")
    return np.ascontiguousarray(array, np.int64)
