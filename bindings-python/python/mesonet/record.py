"""A record in process: the folder of a server, read or written without a server.

>>> import tempfile, mesonet
>>> report = b"METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991 RMK SLP125=\\n"
>>> with tempfile.TemporaryDirectory() as folder, mesonet.Record(folder, write=True) as record:
...     outcome = record.ingest(report, received="2024-08-03T20:01Z")
...     readings = record.readings("2024-08-03T19:00Z", "2024-08-03T21:00Z", names=["airTemperature"])
...     frame = readings.to_pandas()
>>> outcome.read, outcome.added > 8, outcome.unchanged
(1, True, 0)
>>> frame["value"].tolist(), frame["quality_base"].tolist()
([29.0], ['Good'])
"""

import datetime
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, overload

from . import _mesonet, answers
from ._columns import Duration, Instant, duration_ms, instant_ms, step_minutes
from ._station import StationRef, one_series, station_id
from .alert import Zones, bundle_of
from .answer import DamagedWarning, IngestError, IngestOutcome, KeptReport, RecordHealth, RecordTable, stored
from .client.summaries import Period, Summaries, date_text, standard_offset
from .explanation import Explanation
from .features import Features
from .feed import Source, _file, is_several
from .time_grid import Caps, Coarsening

__all__ = ["Record"]


class Record:
    """The record in a folder: stations, readings, alerts and model runs.

    Several processes may have a record open for reading, also while a server or a ``Record`` writes
    to the folder. Each call sees what was written before it. With ``write=True`` the folder is
    created if needed, and no other process can write to it until this record is closed; a second
    writer is refused, and the message names the first. Answers are those of the server, from the
    same code.

    ``zones`` is a bundle of zones, as for :func:`mesonet.read_cap`: it gives outlines to alerts
    that name zones and draw nothing. Methods release the GIL, and threads may share a record. A
    forked process must open its own record. A record cannot be pickled; pass its path instead. A
    folder that holds no record, or that another version wrote, raises
    :class:`mesonet.MesonetError`.

    If an answer lacks readings because a file is damaged, there is a :class:`DamagedWarning`, and
    ``damaged`` of a table tells how many blocks are missing.

    >>> import tempfile, mesonet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with mesonet.Record(folder, write=True) as writer, mesonet.Record(folder) as reader:
    ...         outcome = writer.ingest(b"METAR CYYZ 032000Z 24012KT 29/17 A2991=\\n",
    ...                                 received="2024-08-03T20:01Z")
    ...         reader.stations().to_arrow()["native_id"].to_pylist()
    ['CYYZ']
    >>> mesonet.Record("nowhere")
    Traceback (most recent call last):
    mesonet.MesonetError: nowhere: there is no record here: mesonet.sqlite is missing
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, write: bool = False, zones: Zones | None = None
    ) -> None:
        self._folder = os.fspath(folder)
        if not isinstance(self._folder, str):
            raise TypeError(f"folder must be a path as text; got {type(self._folder).__name__}")
        bundle = None if zones is None else bundle_of(zones)
        self._record = _mesonet.Record(self._folder, write, bundle)
        self._writes = write

    def close(self) -> None:
        """Closes the folder. A read in progress, such as an export, keeps it open until it is done.
        """
        self._record.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(f"a Record cannot be pickled or copied: open {self._folder!r} again instead")

    def __repr__(self) -> str:
        return f"<mesonet.Record {self._folder!r} for {'writing' if self._writes else 'reading'}>"

    # A text is iterable, but is one path.
    @overload
    def ingest(  # type: ignore[overload-overlap]
        self,
        source: Source,
        *,
        feed: str | None = None,
        received: Instant | None = None,
        places: Mapping[str, tuple[float, float, float | None]] | None = None,
    ) -> IngestOutcome: ...
    @overload
    def ingest(
        self,
        source: Iterable[Source],
        *,
        feed: str | None = None,
        received: Instant | None = None,
        places: Mapping[str, tuple[float, float, float | None]] | None = None,
    ) -> list[IngestOutcome]: ...
    def ingest(
        self,
        source: Source | Iterable[Source],
        *,
        feed: str | None = None,
        received: Instant | None = None,
        places: Mapping[str, tuple[float, float, float | None]] | None = None,
    ) -> IngestOutcome | list[IngestOutcome]:
        """Takes in a file of reports or alerts, as a server does: readings are converted, values
        are derived, everything is checked, and earlier readings stay on record.

        ``source`` is a path, the content of a file or an open binary file; of several of them, one
        after the other is taken in, and the result is a list. ``feed`` names its kind
        (one of ``FEED_KINDS``); by default the kind is found from content and name. ``received`` is
        any time within two weeks of the receipt, by default the time of change of a path, or else
        the present. Bulletins do not say where a station is. :func:`mesonet.known_stations` does,
        and ``places`` gives longitude, latitude and altitude, by id, of METAR stations that are not
        listed there or that stand elsewhere. Readings are on disk when this returns, and the same
        file again changes nothing. A file of no known kind, or a file that breaks off, raises
        :class:`mesonet.MesonetError`, whose message says what was stored before. Of several files it
        is a :class:`mesonet.IngestError`, which has the outcomes of those before it; other errors,
        such as ``FileNotFoundError``, have a note of them.
        """
        if not is_several(source):
            return self._ingest(source, feed, received, places)
        outcomes: list[IngestOutcome] = []
        try:
            for one in source:
                outcomes.append(self._ingest(one, feed, received, places))
        except _mesonet.MesonetError as error:
            raise IngestError(str(error), tuple(outcomes)) from error
        except Exception as error:
            error.add_note(f"file {len(outcomes) + 1}: {stored(outcomes)}")
            raise
        return outcomes

    def _ingest(
        self,
        source: Any,
        feed: str | None,
        received: Instant | None,
        places: Mapping[str, tuple[float, float, float | None]] | None,
    ) -> IngestOutcome:
        now_ms = instant_ms(datetime.datetime.now(datetime.UTC), "now")
        received_ms = None if received is None else instant_ms(received, "received")
        name, content, got_ms, kind = _file(source, received_ms, feed)
        known = [(native_id, *place) for native_id, place in (places or {}).items()]
        told = self._record.ingest((name, content, got_ms, kind, now_ms, known))
        told["refusals"] = tuple(told["refusals"])
        for counts in ("place_unknown", "in_the_future"):
            told[counts] = dict(told[counts])
        return IngestOutcome(name=name, **told)

    def seal(self) -> None:
        """Writes all fresh readings into files that Arrow readers open, and merges small ones. This
        also happens automatically as readings come in."""
        self._record.seal()

    def health(self) -> RecordHealth:
        """The size of the record, and what is damaged in it."""
        stations, segments, sealed, fresh, newest_ms, faults = self._record.health()
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        newest = None if newest_ms is None else epoch + datetime.timedelta(milliseconds=newest_ms)
        return RecordHealth(stations, segments, sealed, fresh, newest, tuple(faults))

    def stations(self) -> RecordTable:
        """The stations: ``station_id``, ``network``, ``native_id``, ``name``, ``station_type``,
        ``lat``, ``lon``, ``altitude_m``, ``sensor_height_m`` and ``update_time``, by id."""
        return RecordTable(self._record.stations(), 0)

    def readings(
        self,
        start: Instant,
        end: Instant,
        *,
        stations: Iterable[StationRef] | None = None,
        bbox: tuple[float, float, float, float] | None = None,
        names: Iterable[str] | None = None,
        step: int | Duration | None = None,
        max_age: Duration | None = None,
        caps: Caps | None = None,
    ) -> RecordTable:
        """The latest reading of each series in a window, both ends included; with ``step``, the
        readings at the positions of a grid.

        ``stations`` are ids or pairs of network and native id, ``bbox`` is west, south, east and
        north; the default is all stations. ``names`` are variables, by default those of the map.
        ``step``, in minutes or as a timedelta, is made coarser where ``caps`` require it. The
        columns are ``station_id``, ``timestamp`` (UTC), ``observation_name``, ``type_id``,
        ``interval_type``, ``interval_minutes``, ``unit``, ``group_bucket_name``, ``value``,
        ``quality_base``, ``quality_reason``, ``qualifier``, ``calculated`` and, for a grid,
        ``age_s``: the position is that many seconds after the timestamp.
        """
        ids = None if stations is None else [station_id(of) for of in _several(stations, "stations")]
        given = None if names is None else list(_several(names, "names"))
        minutes = None if step is None else step_minutes(step)
        age_ms = None if max_age is None else duration_ms(max_age, "max_age")
        window = (instant_ms(start, "start"), instant_ms(end, "end"))
        limits = tuple(Caps() if caps is None else caps)
        asked = (window, ids, bbox, given, minutes, age_ms, limits)
        table, damaged, used, coarsened = self._record.readings(asked)
        coarsening = None
        if coarsened is not None:
            of = json.loads(coarsened)
            coarsening = Coarsening(
                of["requestedStep"], of["factor"], of["limitedBy"], of["cells"], of["positions"]
            )
        return RecordTable(table, _said(damaged), step_minutes=used, coarsening=coarsening)

    def series(
        self,
        station: StationRef,
        name: str,
        start: Instant,
        end: Instant,
        *,
        interval_type: str | None = None,
        interval_minutes: int | None = None,
        calculated: bool | None = None,
        unit: str | None = None,
        bucket: str | None = None,
    ) -> RecordTable:
        """The readings of one variable at a station in a window, both ends included, by time.

        If several series match, their readings are mixed; the keywords choose among the series. The
        columns are those of :meth:`readings` without the station.
        """
        wanted = {"name": name, **one_series(interval_type, interval_minutes, calculated, unit, bucket)}
        window = (instant_ms(start, "start"), instant_ms(end, "end"))
        table, damaged = self._record.series(station_id(station), json.dumps(wanted), window)
        return RecordTable(table, _said(damaged))

    def bulk(
        self,
        station: StationRef,
        start: Instant,
        end: Instant,
        *,
        names: Iterable[str] | None = None,
        requests: Iterable[answers.BulkEntry] | None = None,
        qualifiers: bool = False,
        parquet: str | os.PathLike[str] | None = None,
    ) -> RecordTable | None:
        """All readings of a station from ``start`` up to ``end``, which is not included: by time, then
        by series.

        ``names`` are variables; ``requests`` are filters as ``/historical/bulk`` takes them, with
        bounds of values and qualities. Returns a table that is read in batches as the caller takes
        them. With ``parquet``, writes a new file in constant memory and returns nothing. The file
        appears when it is complete; an existing file is not overwritten.
        """
        if names is not None and requests is not None:
            raise TypeError("give either names or requests, not both")
        entries = [dict(one) for one in requests or ()]
        if names is not None:
            entries = [{"name": name} for name in _several(names, "names")]
        window = (instant_ms(start, "start"), instant_ms(end, "end"))
        asked = (station_id(station), window, json.dumps(entries), qualifiers)
        if parquet is not None:
            _said(_mesonet.record_bulk_parquet(self._record, os.fspath(parquet), *asked))
            return None
        stream, damaged = _mesonet.record_bulk(self._record, *asked)
        return RecordTable(stream, _said(damaged))

    def summary(
        self,
        station: StationRef | None = None,
        first: str | datetime.date | None = None,
        last: str | datetime.date | None = None,
        *,
        period: Period = "day",
        start: Instant | None = None,
        end: Instant | None = None,
        names: Iterable[str] | None = None,
        tz: str | None = None,
        utc_offset: str | None = None,
        degree_day_base_c: float | None = None,
    ) -> Summaries:
        """Extremes, means, totals, wind and degree days, with what made each value: of a station by
        ``hour``, ``day`` or ``month`` from date to date, both included, or of one ``window``, from
        ``start`` up to ``end``. Without a station, of all stations for one day or window.

        Days are those of standard time the whole year: of ``tz``, a zone of the tz database, or of
        ``utc_offset``, by default UTC. The rules are those of the service.
        """
        if tz is not None and utc_offset is not None:
            raise _mesonet.MesonetError("the days are given twice; give either tz or utc_offset")
        dates = window = None
        if period == "window":
            if first is not None or last is not None or start is None or end is None:
                raise _mesonet.MesonetError("a window needs start and end, and no dates")
            window = (instant_ms(start, "start"), instant_ms(end, "end"))
        else:
            if first is None or start is not None or end is not None:
                raise _mesonet.MesonetError(f"summaries of each {period} need first, and no window")
            from_ = date_text(first, "first")
            to = from_ if last is None else date_text(last, "last")
            if station is None and (to != from_ or period != "day"):
                raise _mesonet.MesonetError("all stations are summarised for one day or window")
            offset = standard_offset(tz, from_, to) if tz is not None else utc_offset or "Z"
            dates = (from_, to, offset)
        which = None if station is None else station_id(station)
        wanted = None if names is None else [str(name) for name in _several(names, "names")]
        text, damaged = _mesonet.record_summary(
            self._record, which, (period, dates, window), wanted, degree_day_base_c
        )
        of = json.loads(text)
        if station is None:
            periods = list(of["stations"].items())
        else:
            periods = [(of["stationId"], one) for one in of["periods"]]
        return Summaries(of["period"], of["utcOffset"], periods, _said(damaged))

    def reports(self, station: StationRef, start: Instant, end: Instant) -> list[KeptReport]:
        """The reports of a station as they came in, ascending in time, in a window with both ends
        included: each the one in force at its time. Readings whose feed gives no texts have none.

        >>> import tempfile, mesonet
        >>> bulletin = b"SACN31 CWAO 032000\\nMETAR CYYZ 032000Z 24012KT 29/17 A2991=\\n"
        >>> with tempfile.TemporaryDirectory() as folder, mesonet.Record(folder, write=True) as record:
        ...     outcome = record.ingest(bulletin, received="2024-08-03T20:01Z")
        ...     kept = record.reports(("METAR", "CYYZ"), "2024-08-03T19:00Z", "2024-08-03T21:00Z")
        >>> kept[0].header, kept[0].text
        ('SACN31 CWAO 032000', 'METAR CYYZ 032000Z 24012KT 29/17 A2991')
        """
        window = (instant_ms(start, "start"), instant_ms(end, "end"))
        told, damaged = self._record.reports(station_id(station), window)
        _said(damaged)
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        return [
            KeptReport(epoch + datetime.timedelta(milliseconds=ts_ms), revision, header, text)
            for ts_ms, revision, header, text in told
        ]

    @overload
    def details(self, station: StationRef, *, at: Instant) -> answers.StationDetail: ...
    @overload
    def details(self, station: None = None, *, at: Instant) -> answers.StationDetails: ...
    def details(
        self, station: StationRef | None = None, *, at: Instant
    ) -> answers.StationDetail | answers.StationDetails:
        """What the service tells about a station (``/stations/{id}``), or about all stations by
        their ids (``/stations/map/details``). ``at`` is the time of ``qualities``."""
        which = None if station is None else station_id(station)
        text, damaged = self._record.details(which, instant_ms(at, "at"))
        _said(damaged)
        details: answers.StationDetail | answers.StationDetails = json.loads(text)
        return details

    def explain(self, station: StationRef, type_id: int, time: Instant) -> Explanation:
        """Why a reading has its verdict, including neighbours, as ``/observations/explain``
        answers.

        ``type_id`` is the number of the series, a column of :meth:`readings`.
        """
        text, damaged = self._record.explain(station_id(station), type_id, instant_ms(time, "time"))
        _said(damaged)
        return Explanation(json.loads(text))

    def alerts(
        self,
        *,
        at: Instant,
        start: Instant | None = None,
        end: Instant | None = None,
        bbox: tuple[float, float, float, float] | None = None,
        place: tuple[float, float] | None = None,
        codes: Iterable[str] = (),
        active: bool = False,
        lang: Literal["en", "fr"] = "en",
        replay: bool = False,
    ) -> Features[answers.AlertFeature]:
        """The alerts on record with their state at a time, the latest sent first.

        The filters are those of ``/alerts``; ``place`` is longitude and latitude. With ``replay``,
        messages sent after ``at`` do not count. A geometry is the outline that the message draws,
        or else its zones if the record was opened with ``zones``; ``missingZones`` names zones
        without an outline.
        """
        if lang not in ("en", "fr"):
            raise _mesonet.MesonetError(f'lang must be en or fr; got "{lang}"')
        span = tuple(None if t is None else instant_ms(t, what) for t, what in ((start, "start"), (end, "end")))
        asked = (span, bbox, place, list(_several(codes, "codes")), active)
        told = _mesonet.record_alerts(self._record, instant_ms(at, "at"), replay, asked, lang)
        return Features(json.loads(told))

    def models(self) -> dict[str, list[str]]:
        """The models with runs in the folder, each with its runs, latest run first."""
        return dict(_mesonet.record_models(self._record))

    def model_point(
        self,
        model: str,
        fields: Iterable[str],
        *,
        run: str | None = None,
        hour: int | None = None,
        valid: Instant | None = None,
        lon: float | None = None,
        lat: float | None = None,
        row: int | None = None,
        column: int | None = None,
        level: int | None = None,
        level_hpa: float | None = None,
        member: int | None = None,
        winds: Literal["grid", "earth"] = "earth",
    ) -> answers.ModelPoint:
        """Values of one cell of a model at one hour, as ``/models/{model}/point`` answers.

        The run is the latest by default. The hour is given by its index, 0 by default, or by its
        valid time; the cell by row and column, or by a place in it. A field on levels gives the
        whole column, a sounding, unless ``level`` or ``level_hpa`` chooses one level. Components of
        winds are towards true east and north, or along the axes of the grid with ``winds="grid"``.
        """
        named = (model, run, list(_several(fields, "fields")))
        valid_ms = None if valid is None else instant_ms(valid, "valid")
        which = (level, level_hpa, member, _turned(winds))
        place = _place(lon, lat, row, column)
        told = _mesonet.record_model_point(self._record, named, hour, valid_ms, place, which)
        point: answers.ModelPoint = json.loads(told)
        return point

    def model_series(
        self,
        model: str,
        fields: Iterable[str],
        *,
        run: str | None = None,
        start: Instant | None = None,
        end: Instant | None = None,
        lon: float | None = None,
        lat: float | None = None,
        row: int | None = None,
        column: int | None = None,
        level: int | None = None,
        level_hpa: float | None = None,
        member: int | None = None,
        winds: Literal["grid", "earth"] = "earth",
    ) -> answers.ModelSeries:
        """Values of one cell of a model over the hours of a run, as ``/models/{model}/series``
        answers. The arguments are those of :meth:`model_point`, but valid times choose the hours,
        both included."""
        named = (model, run, list(_several(fields, "fields")))
        span = tuple(None if t is None else instant_ms(t, what) for t, what in ((start, "start"), (end, "end")))
        which = (level, level_hpa, member, _turned(winds))
        place = _place(lon, lat, row, column)
        told = _mesonet.record_model_series(self._record, named, place, which, span)
        series: answers.ModelSeries = json.loads(told)
        return series


def _said(damaged: int) -> int:
    if damaged:
        blocks = "1 damaged block holds" if damaged == 1 else f"{damaged} damaged blocks hold"
        warnings.warn(
            f"{blocks}, or may hold, readings that this answer lacks; health() names the damage",
            DamagedWarning,
            stacklevel=3,
        )
    return damaged


def _several(given: Iterable[Any], what: str) -> Iterable[Any]:
    # A text is an iterable of letters.
    if isinstance(given, str):
        raise TypeError(f"{what} must be several texts, such as a list; got the text {given!r}")
    return given


def _turned(winds: str) -> bool:
    if winds not in ("grid", "earth"):
        raise _mesonet.MesonetError(f'winds must be grid or earth; got "{winds}"')
    return winds == "earth"


def _place(
    lon: float | None, lat: float | None, row: int | None, column: int | None
) -> tuple[int, int] | tuple[float, float]:
    if lon is not None and lat is not None and row is None and column is None:
        return float(lon), float(lat)
    if row is not None and column is not None and lon is None and lat is None:
        return row, column
    raise TypeError("a cell is required: row and column, or lon and lat, but not both")
