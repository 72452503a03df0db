"""Summaries of hours, days, months and windows, as tables.

>>> import tempfile, mesonet
>>> reports = b"METAR CYYZ 032000Z 24012G20KT 29/17 A2991=\\nMETAR CYYZ 032100Z 25010KT 27/17 A2991=\\n"
>>> with tempfile.TemporaryDirectory() as folder, mesonet.Record(folder, write=True) as record:
...     outcome = record.ingest(reports, received="2024-08-03T21:01Z")
...     day = record.summary("CYYZ", "2024-08-03", "2024-08-03", tz="America/Toronto")
>>> day
<mesonet.Summaries: 1 day of 1 station>
>>> values = day.values().to_pandas().set_index("variable")
>>> values.loc["airTemperature", ["max", "min", "mean"]].tolist()
[29.0, 27.0, 28.0]
>>> day.wind()["peak_kmh"].round(1).tolist()
[37.0]
"""

import datetime
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from .. import answers
from .._mesonet import BASE_QUALITY_NAMES, MesonetError
from .table import ServiceTable, texts, utc

__all__ = ["Summaries"]

Period: TypeAlias = Literal["hour", "day", "month", "window"]

_BASE = {name: code for code, name in enumerate(BASE_QUALITY_NAMES)}
_NAN: dict[str, Any] = {"value": np.nan, "coveragePercent": np.nan}


@dataclass(frozen=True, repr=False)
class Summaries:
    """Summaries of stations and periods: what each value is, and what made it."""

    period: Period
    """What each is of."""
    utc_offset: str
    """The offset of the days from UTC, the same the whole year."""
    periods: Sequence[tuple[str, answers.PeriodSummary]]
    """The id of the station and the summary, as the service gives it: with the reports that made each
    value, its quality and its coverage."""
    damaged: int = 0
    """How many damaged blocks of the record hold, or may hold, readings that are missing here."""

    def __len__(self) -> int:
        return len(self.periods)

    def __repr__(self) -> str:
        stations = len({station for station, _ in self.periods})
        count = len({of["start"] for _, of in self.periods})
        return f"<mesonet.Summaries: {_count(count, self.period)} of {_count(stations, 'station')}>"

    def _repr_html_(self) -> str:
        return self.values()._repr_html_()

    def values(self) -> ServiceTable:
        """One row for each station, period and variable: ``station_id``, ``period``, ``start``,
        ``end``, ``variable``, ``unit``, ``count``, ``max`` with ``max_time`` and ``max_quality``, the
        same of ``min``, ``mean`` and ``total`` with their quality, ``trace`` (of a total) and
        ``coverage_percent``, of the mean or the total, or else of the maximum. A statistic that there
        is none of is NaN, with the quality 0.
        """
        rows = [
            (station, of, name, variable)
            for station, of in self.periods
            for name, variable in of["variables"].items()
        ]
        # Their statistics are taken by name.
        variables: list[Any] = [variable for *_, variable in rows]
        columns = self._keys([(station, of) for station, of, *_ in rows])
        columns["variable"] = texts([name for _, _, name, _ in rows])
        columns["unit"] = texts([of["unit"] for of in variables])
        columns["count"] = np.array([of["count"] for of in variables], np.int64)
        for name in ("max", "min", "mean", "total"):
            found = [of.get(name, _NAN) for of in variables]
            columns[name] = _numbers(found, "value")
            if name in ("max", "min"):
                columns[f"{name}_time"] = utc(
                    [of["from"]["timestamp"] if "from" in of else "NaT" for of in found]
                )
            columns[f"{name}_quality"] = _qualities(found)
        trace = [of.get("total", {}).get("qualifier") == "trace" for of in variables]
        columns["trace"] = np.array(trace, np.bool_)
        of_whole = [of.get("mean") or of.get("total") or of.get("max") or _NAN for of in variables]
        columns["coverage_percent"] = _numbers(of_whole, "coveragePercent")
        return ServiceTable(columns, damaged=self.damaged)

    def wind(self) -> ServiceTable:
        """The wind, one row for each station and period that has any: ``readings``, ``calm``,
        ``prevailing_degrees`` and its ``prevailing_percent``, ``resultant_degrees``,
        ``resultant_kmh``, ``peak_kmh``, ``peak_degrees``, ``peak_time``, ``quality``,
        ``coverage_percent``.
        """
        rows = [(station, of) for station, of in self.periods if "wind" in of]
        winds = [of["wind"] for _, of in rows]
        columns = self._keys(rows)
        columns["readings"] = np.array([of["readings"] for of in winds], np.int64)
        columns["calm"] = np.array([of["calm"] for of in winds], np.int64)
        prevailing = [of.get("prevailing", {}) for of in winds]
        columns["prevailing_degrees"] = _numbers(prevailing, "direction")
        columns["prevailing_percent"] = _numbers(prevailing, "sharePercent")
        resultant = [of.get("resultant", {}) for of in winds]
        columns["resultant_degrees"] = _numbers(resultant, "direction")
        columns["resultant_kmh"] = _numbers(resultant, "speed")
        peaks = [of.get("peak", {}) for of in winds]
        columns["peak_kmh"] = _numbers(peaks, "value")
        columns["peak_degrees"] = _numbers(peaks, "direction")
        columns["peak_time"] = utc(
            [of["from"]["timestamp"] if "from" in of else "NaT" for of in peaks]
        )
        columns["quality"] = _qualities(winds)
        columns["coverage_percent"] = _numbers(winds, "coveragePercent")
        return ServiceTable(columns, damaged=self.damaged)

    def degree_days(self) -> ServiceTable:
        """Degree days in °C times days, one row for each station and period that has any:
        ``base_c``, ``heating``, ``cooling``, ``days``, ``quality``, ``coverage_percent``.
        """
        rows = [(station, of) for station, of in self.periods if "degreeDays" in of]
        found = [of["degreeDays"] for _, of in rows]
        columns = self._keys(rows)
        for name, member in (("base_c", "base"), ("heating", "heating"), ("cooling", "cooling")):
            columns[name] = _numbers(found, member)
        columns["days"] = np.array([of["days"] for of in found], np.int64)
        columns["quality"] = _qualities(found)
        columns["coverage_percent"] = _numbers(found, "coveragePercent")
        return ServiceTable(columns, damaged=self.damaged)

    def _keys(self, rows: Sequence[tuple[str, answers.PeriodSummary]]) -> dict[str, Any]:
        return {
            "station_id": texts([station for station, _ in rows]),
            "period": texts([of["name"] for _, of in rows]),
            "start": utc([of["start"] for _, of in rows]),
            "end": utc([of["end"] for _, of in rows]),
        }


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _numbers(of: Sequence[Mapping[str, object]], member: str) -> Any:
    return np.array([one.get(member, np.nan) for one in of], np.float64)


def _qualities(of: Sequence[Any]) -> Any:
    codes = [_BASE[one["quality"]["baseQuality"]] if "quality" in one else 0 for one in of]
    return np.array(codes, np.uint8)


def date_text(given: str | datetime.date, what: str) -> str:
    """A date as the service takes it."""
    if isinstance(given, datetime.datetime):
        raise TypeError(f"{what} must be a date; got a datetime")
    if isinstance(given, datetime.date):
        return given.isoformat()
    try:
        return datetime.date.fromisoformat(given).isoformat()
    except (TypeError, ValueError):
        raise MesonetError(f"{what} must be a date such as 2024-08-03; got {given!r}") from None


def standard_offset(tz: str, first: str, last: str) -> str:
    """The offset of the standard time of a zone from UTC, at two dates."""
    try:
        zone = zoneinfo.ZoneInfo(tz)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise MesonetError(
            f"{tz!r} is not a zone of the tz database; allowed are names such as America/Toronto, or "
            "an offset from UTC"
        ) from None
    offsets = []
    for date in (first, last):
        at = datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.UTC).astimezone(zone)
        offsets.append((at.utcoffset() or datetime.timedelta()) - (at.dst() or datetime.timedelta()))
    if offsets[0] != offsets[1]:
        raise MesonetError(
            f"the standard time of {tz} changes between the dates; ask for each part with its offset "
            "from UTC"
        )
    minutes = int(offsets[0].total_seconds()) // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
