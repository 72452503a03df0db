"""The calls of the observation service for summaries."""

import datetime
from collections.abc import Iterable, Sequence
from typing import Unpack, cast

from .. import answers
from .._columns import Instant
from .._mesonet import MesonetError
from ._filter import BBox, Query, StationFilter, box, filter_query, parameters
from ._parameters import instant_text
from ._twin import call
from ._wire import Program, Request, segment
from .summaries import Period, Summaries, date_text


class SummaryCalls:
    """The calls of :class:`mesonet.Client` and :class:`mesonet.AsyncClient` for summaries."""

    @call
    def summary(
        self,
        station_id: str,
        first: str | datetime.date | None = None,
        last: str | datetime.date | None = None,
        *,
        period: Period = "day",
        start: Instant | None = None,
        end: Instant | None = None,
        names: Sequence[str] | None = None,
        tz: str | None = None,
        utc_offset: str | None = None,
        degree_day_base_c: float | None = None,
    ) -> Program[Summaries]:
        """Extremes, means, totals, wind and degree days of a station, with what made each value.

        ``period`` is ``hour``, ``day``, ``month`` (of the dates from ``first`` to ``last``, both
        included; by default today), or ``window`` (from ``start`` up to ``end``). Days are those of
        standard time the whole year: of ``tz``, a zone of the tz database, or of ``utc_offset``, by
        default UTC. ``names`` are variables, by default the usual ones.

        >>> days = client.summary("CYYZ", "2024-08-03", "2024-08-03", tz="America/Toronto")
        >>> values = days.values().to_pandas().set_index("variable")
        >>> float(values.loc["airTemperature", "max"])
        29.0
        """
        query = parameters(
            period=period,
            **{"from": None if first is None else date_text(first, "first")},
            to=None if last is None else date_text(last, "last"),
            start=None if start is None else instant_text(start, "start"),
            end=None if end is None else instant_text(end, "end"),
        )
        query += _common(names, tz, utc_offset, degree_day_base_c)
        answer = yield Request(f"/stations/{segment(station_id)}/summary", query)
        of: answers.StationSummaries = answer.json()
        periods = [(of["stationId"], one) for one in of["periods"]]
        return Summaries(cast(Period, of["period"]), of["utcOffset"], periods, answer.damaged)

    @call
    def summaries(
        self,
        date: str | datetime.date | None = None,
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        bbox: BBox | None = None,
        station_ids: Iterable[str] | None = None,
        names: Sequence[str] | None = None,
        tz: str | None = None,
        utc_offset: str | None = None,
        degree_day_base_c: float | None = None,
        **filter: Unpack[StationFilter],
    ) -> Program[Summaries]:
        """The same of many stations for one day, by default today, or from ``start`` up to ``end``.

        Either ``station_ids``, or ``bbox`` and what :meth:`stations` takes choose the stations.

        >>> day = client.summaries("2024-08-03", regions=["ON"], names=["airTemperature"])
        >>> values = day.values()
        >>> len(day) > 10, float(values["max"].max()) > 25
        (True, True)
        """
        query = parameters(
            date=None if date is None else date_text(date, "date"),
            start=None if start is None else instant_text(start, "start"),
            end=None if end is None else instant_text(end, "end"),
        )
        query += _common(names, tz, utc_offset, degree_day_base_c) + box(bbox) + filter_query(filter)
        if station_ids is not None:
            if isinstance(station_ids, str):
                raise TypeError("station_ids must be a list of texts; got one text")
            query += (("stationIds", ",".join(station_ids)),)
        answer = yield Request("/stations/summary", query)
        of: answers.AreaSummaries = answer.json()
        return Summaries(cast(Period, of["period"]), of["utcOffset"], list(of["stations"].items()), answer.damaged)


def _common(
    names: Sequence[str] | None,
    tz: str | None,
    utc_offset: str | None,
    degree_day_base_c: float | None,
) -> Query:
    if isinstance(names, str):
        raise TypeError("names must be a list of texts; got one text")
    if tz is not None and utc_offset is not None:
        raise MesonetError("the days are given twice; give either tz or utc_offset")
    return parameters(
        names=None if names is None else ",".join(names),
        tz=tz,
        utcOffset=utc_offset,
        degreeDayBase=None if degree_day_base_c is None else repr(float(degree_day_base_c)),
    )
