"""The calls of the observation service."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Unpack, cast

import numpy as np

from .. import answers
from .._columns import Duration, Instant
from .._mesonet import MesonetError
from .._station import one_series
from ..features import Feature, Features
from ._answers import form_columns, quality_columns, readings_table, table
from ._filter import BBox, StationFilter, box, filter_query, parameters, sides
from ._parameters import Span, Units, form, instant_text, span_text, step_count
from ._twin import call
from ._wire import Program, Request, segment
from .raster import Raster
from .table import About, ServiceTable, texts, utc

_MOST_STATION_IDS = 5_000
_MOST_REPORTS = 10_000


class Observations:
    """The calls of :class:`mesonet.Client` and :class:`mesonet.AsyncClient` to stations and alerts.
    """

    @call
    def capabilities(self) -> Program[answers.Capabilities]:
        """What this caller may use: ``products`` by id, and ``limits``, where None is unlimited.

        >>> client.capabilities()["products"]["alerts"]["allowed"]
        True
        """
        found: answers.Capabilities = (yield Request("/capabilities")).json()
        return found

    @call
    def units(self) -> Program[dict[str, str]]:
        """The canonical unit of each variable; empty for a number without a unit.

        >>> client.units()["windSpeed10m"]
        'km/h'
        """
        found: dict[str, str] = (yield Request("/observations/units")).json()
        return found

    @call
    def feeds(self) -> Program[ServiceTable]:
        """The networks of the record: ``network``, ``stations`` (how many), ``newest`` (the time of the
        newest report, UTC; NaT if there is none), ``late`` and ``late_after`` (how old that report may
        be; NaT if the feed is never late).

        >>> feeds = client.feeds()
        >>> feeds["network"][feeds["late"]].tolist()
        []
        """
        answer = yield Request("/feeds")
        found: answers.Feeds = answer.json()
        feeds = found["feeds"]
        late_after = [feed.get("lateAfterMinutes", "NaT") for feed in feeds]
        return table(
            answer,
            {
                "network": texts([feed["network"] for feed in feeds]),
                "stations": np.array([feed["stations"] for feed in feeds], np.int64),
                "newest": utc([feed.get("newest", "NaT") for feed in feeds]),
                "late": np.array([feed["late"] for feed in feeds], np.bool_),
                "late_after": np.array(late_after, "m8[m]"),
            },
        )

    @call
    def stations(
        self,
        *,
        search: str | None = None,
        bbox: BBox | None = None,
        window: Span | None = None,
        **filter: Unpack[StationFilter],
    ) -> Program[ServiceTable]:
        """The stations on record, one row per station, sorted by id.

        ``search`` keeps stations whose name or ids contain the text, ``bbox`` keeps stations inside
        the box, and ``window`` keeps stations whose newest report is no older than that. Further
        names are those of ``StationFilter``: ``near`` with ``radius_km`` or ``nearest``,
        ``regions``, ``country``, ``networks``, ``station_types``, ``variables``,
        ``min_altitude_m``, ``max_altitude_m``. With ``near`` the nearest station comes first, and
        the columns ``distance_km`` and ``bearing_deg`` say where it is, seen from the place. The
        other columns are ``station_id``, ``name``, ``network``, ``lon``, ``lat``, ``elevation_m`` (of the
        sensor above ground), ``update_time`` (NaT if nothing was reported), ``present_weather``
        (lists of words; None where no report says anything) and ``details``, the object of the
        service with all its series.

        >>> stations = client.stations(search="CYYZ")
        >>> stations["name"].tolist(), stations["lat"].tolist()
        (['Toronto Pearson International Airport'], [43.679])
        >>> near = client.stations(near=(-79.38, 43.65), nearest=2, networks=["METAR"])
        >>> near["name"].tolist(), near["distance_km"].tolist()
        (['TORONTO CITY', 'Billy Bishop Toronto City Airport'], [2.48, 2.9])
        """
        query = parameters(search=search, window=None if window is None else span_text(window, "window"))
        answer = yield Request("/stations/map/details", query + box(bbox) + filter_query(filter))
        details: answers.StationDetails = answer.json()
        ids = list(details) if "near" in filter else sorted(details)
        of = [details[station] for station in ids]
        columns = {
            "station_id": texts(ids),
            "name": texts([one["name"] for one in of]),
            "network": texts([one["network"] for one in of]),
            "lon": np.array([one["coordinates"][0] for one in of], np.float64),
            "lat": np.array([one["coordinates"][1] for one in of], np.float64),
            "elevation_m": np.array([one.get("elevation", np.nan) for one in of], np.float64),
            "update_time": utc([one.get("updateTime", "NaT") for one in of]),
            "present_weather": texts([one.get("presentWeather") for one in of]),
            "details": texts(of),
        }
        if "near" in filter:
            columns["distance_km"] = np.array([one["distanceKm"] for one in of], np.float64)
            columns["bearing_deg"] = np.array([one["bearing"] for one in of], np.float64)
        return table(answer, columns)

    @call
    def station(
        self,
        station_id: str,
        *,
        units: Units | None = None,
        unit_of: Mapping[str, str] | None = None,
        tz: str | None = None,
    ) -> Program[answers.StationDetail]:
        """One station with its series (``types``) and identifiers, as the service describes it. As
        everywhere, ``station_id`` is the id or any of the identifiers: ``CYYZ``, ``wmo:71624``,
        ``buoy 45012``. ``units``, ``unit_of`` and ``tz`` are those of :meth:`readings`.

        >>> station = client.station("CYYZ")
        >>> station["name"], station["identifiers"]["icao"]
        ('Toronto Pearson International Airport', ['CYYZ'])
        """
        query = form(units, unit_of, tz)
        answer = yield Request(f"/stations/{segment(station_id)}", query)
        found: answers.StationDetail = answer.json()
        return found

    @call
    def readings(
        self,
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        step: int | Duration | None = None,
        names: Sequence[str] | None = None,
        bbox: BBox | None = None,
        station_ids: Iterable[str] | None = None,
        max_age: Span | None = None,
        units: Units | None = None,
        unit_of: Mapping[str, str] | None = None,
        tz: str | None = None,
        **filter: Unpack[StationFilter],
    ) -> Program[ServiceTable]:
        """The readings of many stations: the latest of each series, or on a time grid with ``step``.

        ``end`` is the present by default, ``start`` is 12 hours before it, and ``names`` are those
        of the map. Either ``station_ids``, or ``bbox`` and what :meth:`stations` takes to choose
        stations narrow them; more than 5,000 ids are requested in parts. The columns are ``station_id``, ``observation_name``, ``series_id``,
        ``timestamp``, ``value``, ``quality_base``, ``quality_reason`` and ``qualifier`` (``trace``,
        ``at_least``, ``less_than`` or None); on a grid also ``position``, the time of the cell, and
        ``age_s``, how old the reading is there. :meth:`ServiceTable.to_xarray` lays the grid out.

        ``units`` is a system of units, ``unit_of`` has the unit of single variables over it; there is
        then a column ``unit``. With ``tz``, ``local`` or the name of a zone, there is a column
        ``local_timestamp``: the local time with its offset from UTC, as text; None at a station whose
        zone is not known.

        The service coarsens a grid that is too large: ``about["step"]`` is the step in use, in
        minutes, and ``about["coarsening"]`` says why. Parts with different steps are refused.

        >>> readings = client.readings(bbox=(-80, 43, -79, 44), names=["airTemperature"])
        >>> len(readings), float(readings["value"].max())
        (9, 29.0)
        >>> grid = client.readings(start="2024-08-03T17:00Z", end="2024-08-03T21:00Z", step=60,
        ...                        bbox=(-80, 43, -79, 44), names=["airTemperature"])
        >>> dict(grid.to_xarray().sizes)
        {'station': 9, 'time': 5}
        >>> us = client.readings(station_ids=["CYYZ"], names=["airTemperature"], units="us", tz="local")
        >>> us["value"].tolist(), us["unit"].tolist(), us["local_timestamp"].tolist()
        ([84.2], ['°F'], ['2024-08-03T17:00:00-04:00'])
        """
        if isinstance(names, str):
            raise TypeError("names must be a list of texts; got one text")
        query = parameters(
            start=None if start is None else instant_text(start, "start"),
            end=None if end is None else instant_text(end, "end"),
            step=None if step is None else str(step_count(step)),
            names=None if names is None else ",".join(names),
            maxAge=None if max_age is None else span_text(max_age, "max_age"),
        ) + form(units, unit_of, tz)
        formed = (units is not None or bool(unit_of), tz is not None)
        if station_ids is None:
            query += box(bbox) + filter_query(filter)
            return readings_table([(yield Request("/stations/readings", query))], *formed)
        others = [name for name in ("bbox", *filter) if name != "bbox" or bbox is not None]
        if others:
            raise MesonetError(f"readings are narrowed by {others[0]} or by station_ids; got both")
        if isinstance(station_ids, str):
            raise TypeError("station_ids must be a list of texts; got one text")
        ids, answers = list(station_ids), []
        for first in range(0, max(len(ids), 1), _MOST_STATION_IDS):
            part = {"stationIds": ids[first : first + _MOST_STATION_IDS]}
            answers.append((yield Request("/stations/readings", query, part)))
        return readings_table(answers, *formed)

    @call
    def latest(
        self,
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        names: Sequence[str] | None = None,
        bbox: BBox | None = None,
        units: Units | None = None,
        unit_of: Mapping[str, str] | None = None,
        tz: str | None = None,
        **filter: Unpack[StationFilter],
    ) -> Program[Features[Feature]]:
        """The latest values of stations as features for a map, with flat properties: ``name``,
        ``network``, ``time``, ``quality`` (the worst), and for each variable its value and its unit,
        ``airTemperature`` and ``airTemperatureUnit``. The parameters are those of :meth:`readings`.

        >>> toronto = client.latest(near=(-79.63, 43.68), nearest=1, names=["airTemperature"])
        >>> of = next(iter(toronto))["properties"]
        >>> of["name"], of["airTemperature"], of["airTemperatureUnit"]
        ('Toronto Pearson International Airport', 29.0, '°C')
        """
        if isinstance(names, str):
            raise TypeError("names must be a list of texts; got one text")
        query = parameters(
            start=None if start is None else instant_text(start, "start"),
            end=None if end is None else instant_text(end, "end"),
            names=None if names is None else ",".join(names),
            format="geojson",
        )
        query += form(units, unit_of, tz) + box(bbox) + filter_query(filter)
        answer = yield Request("/stations/readings", query, accept="application/geo+json")
        return Features(answer.json(), answer.replay)

    @call
    def series(
        self,
        station_id: str,
        name: str,
        start: Instant,
        end: Instant,
        *,
        interval_type: str | None = None,
        interval_minutes: int | None = None,
        calculated: bool | None = None,
        reported_unit: str | None = None,
        bucket: str | None = None,
        units: Units | None = None,
        unit_of: Mapping[str, str] | None = None,
        tz: str | None = None,
    ) -> Program[ServiceTable]:
        """All readings of a variable at a station, ascending in time; both ends are included.

        Without ``interval_type`` and the rest, the readings of several series are mixed. The
        columns are ``timestamp``, ``value``, ``quality_base``, ``quality_reason``, ``calculated``,
        ``qualifier`` and ``group_bucket_name``; ``about`` has the unit and interval of the first
        series. If there is no reading, :class:`ServiceError` 404 names the series that the station
        has. ``units``, ``unit_of`` and ``tz`` are those of :meth:`readings`; ``about`` then has
        ``unit`` and ``timeZone``.

        >>> air = client.series("700f7e18-e84e-51b2-90bd-f054766d1ec5", "airTemperature",
        ...                     "2024-08-03T00:00Z", "2024-08-04T00:00Z")
        >>> air["value"].tolist(), air.about["reportedUnit"]
        ([27.0, 28.0, 29.0, 29.0], '°C')
        """
        query = parameters(start=instant_text(start, "start"), end=instant_text(end, "end"))
        query += form(units, unit_of, tz)
        body = {
            "stationId": station_id,
            "name": name,
            **one_series(interval_type, interval_minutes, calculated, reported_unit, bucket),
        }
        answer = yield Request("/observations/series", query, body)
        found: answers.ObservationSeries = answer.json()
        of = found["readings"]
        about = cast(About, {name: value for name, value in found.items() if name != "readings"})
        columns = {
            "timestamp": utc([one["timestamp"] for one in of]),
            "value": np.array([one["value"] for one in of], np.float64),
            **quality_columns(of),
            "calculated": np.array([one["calculated"] for one in of], np.bool_),
            "qualifier": texts([one.get("qualifier") for one in of]),
            "group_bucket_name": texts([one.get("groupBucketName", "") for one in of]),
            **form_columns(of, units is not None or bool(unit_of), tz is not None),
        }
        return table(answer, columns, about)

    @call
    def explain(self, station_id: str, series_id: int, timestamp: Instant) -> Program[answers.Explanation]:
        """What each check found out about one reading: its inputs, limits with their sources, and
        outcome; then the verdict and the check that decided. ``series_id`` is that of
        :meth:`readings`.

        >>> reading = ("700f7e18-e84e-51b2-90bd-f054766d1ec5", 173505786, "2024-08-03T21:00Z")
        >>> [check["check"] for check in client.explain(*reading)["checks"] if check["ran"]][:2]
        ['value', 'range']
        """
        query = parameters(
            stationId=station_id,
            typeId=str(series_id),
            timestamp=instant_text(timestamp, "timestamp"),
        )
        found: answers.Explanation = (yield Request("/observations/explain", query)).json()
        return found

    @call
    def weather(self, station_id: str, start: Instant, end: Instant) -> Program[ServiceTable]:
        """The present weather of each report of a station, in the columns ``timestamp`` and
        ``present_weather``: lists of words, empty where the report says that there is no weather.

        >>> weather = client.weather("700f7e18-e84e-51b2-90bd-f054766d1ec5",
        ...                          "2024-08-03T00:00Z", "2024-08-04T00:00Z")
        >>> len(weather)
        4
        """
        query = parameters(
            stationId=station_id, start=instant_text(start, "start"), end=instant_text(end, "end")
        )
        answer = yield Request("/observations/weather", query)
        weather: answers.StationWeather = answer.json()
        of = weather["reports"]
        columns = {
            "timestamp": utc([one["timestamp"] for one in of]),
            "present_weather": texts([one["presentWeather"] for one in of]),
        }
        return table(answer, columns)

    @call
    def reports(
        self, station_id: str, start: Instant, end: Instant, *, limit: int | None = None
    ) -> Program[ServiceTable]:
        """The reports of a station as they came in, ascending in time, in the columns ``timestamp``,
        ``revision``, ``header`` (of the bulletin, or nothing) and ``text``.

        Long windows are read in several requests, unless ``limit`` bounds the number of reports. A
        server whose record keeps no texts answers 501.

        >>> reports = client.reports("700f7e18-e84e-51b2-90bd-f054766d1ec5",
        ...                          "2024-08-03T00:00Z", "2024-08-04T00:00Z")
        >>> len(reports)
        4
        """
        most = None if limit is None else int(limit)
        if most is not None and most < 1:
            raise ValueError(f"limit must be at least 1; got {limit}")
        begin: str | None = instant_text(start, "start")
        of: list[answers.ReportOfStation] = []
        answer = None
        while begin is not None and (most is None or len(of) < most):
            wanted = _MOST_REPORTS if most is None else min(_MOST_REPORTS, most - len(of))
            query = parameters(start=begin, end=instant_text(end, "end"), limit=str(wanted))
            answer = yield Request(f"/stations/{segment(station_id)}/reports", query)
            page: answers.StationReports = answer.json()
            of.extend(page["reports"])
            begin = page.get("next")
        assert answer is not None
        columns = {
            "timestamp": utc([one["timestamp"] for one in of]),
            "revision": np.array([one["revision"] for one in of], np.uint8),
            "header": texts([one.get("header") for one in of]),
            "text": texts([one["text"] for one in of]),
        }
        return table(answer, columns)

    @call
    def quality(
        self, station_id: str, start: Instant | None = None, end: Instant | None = None
    ) -> Program[answers.StationQuality]:
        """What is known of the quality of a station: for each variable the rate of each verdict by
        month, and the differences from its neighbours. The default is the last seven days.

        >>> report = client.quality("700f7e18-e84e-51b2-90bd-f054766d1ec5")
        >>> report["variables"][0]["type"]
        'airTemperature'
        """
        query = parameters(
            start=None if start is None else instant_text(start, "start"),
            end=None if end is None else instant_text(end, "end"),
        )
        answer = yield Request(f"/stations/{segment(station_id)}/quality", query)
        found: answers.StationQuality = answer.json()
        return found

    @call
    def alerts(
        self,
        *,
        start: Instant | None = None,
        end: Instant | None = None,
        active: bool = False,
        bbox: BBox | None = None,
        lon: float | None = None,
        lat: float | None = None,
        codes: Sequence[str] | None = None,
        lang: Literal["en", "fr"] | None = None,
    ) -> Program[Features[answers.AlertFeature]]:
        """Official alerts, the latest sent first, with their state at the time of the request.

        ``start`` and ``end`` keep alerts whose interval overlaps, ``active`` keeps alerts in force,
        ``bbox`` alerts that touch the box, ``lon`` and ``lat`` alerts that contain the place,
        ``codes`` alerts for the zones. ``lang`` chooses the language, not the alerts.

        >>> alerts = client.alerts(lon=-97.5, lat=35.4)
        >>> alerts.to_geopandas().crs.to_epsg()
        4326
        """
        if isinstance(codes, str):
            raise TypeError("codes must be a list of texts; got one text")
        query = parameters(
            start=None if start is None else instant_text(start, "start"),
            end=None if end is None else instant_text(end, "end"),
            active="true" if active else None,
            bbox=None if bbox is None else ",".join(map(repr, sides(bbox))),
            lon=None if lon is None else repr(float(lon)),
            lat=None if lat is None else repr(float(lat)),
            codes=None if codes is None else ",".join(codes),
            lang=lang,
        )
        answer = yield Request("/alerts", query)
        return Features(answer.json(), answer.replay)

    @call
    def zones(
        self, codes: Sequence[str], *, kind: str | None = None, version: str | None = None
    ) -> Program[Features[answers.ZoneFeature]]:
        """Outlines of the zones of alerts, in the order of their codes. A code whose outline is not
        known is left out. ``kind`` (``public``, ``fire``, ``marine``, ``county``, ``base``) tells
        zones of one code apart.

        >>> [zone["properties"]["nameEn"] for zone in client.zones(["041320", "OKC001"])][1]
        'Adair'
        """
        if isinstance(codes, str):
            raise TypeError("codes must be a list of texts; got one text")
        query = parameters(codes=",".join(codes), kind=kind, version=version)
        answer = yield Request("/alerts/zones", query)
        return Features(answer.json(), answer.replay)

    @call
    def products(self) -> Program[dict[str, answers.ListedProduct]]:
        """The raster products by type: title, unit, packing, durations and their times.

        >>> client.products()["reflectivity"]["unit"]
        'dBZ'
        """
        found: answers.ProductList = (yield Request("/products")).json()
        return found["products"]

    @call
    def product(
        self, type: str, *, duration: str | None = None, timestamp: Instant | None = None
    ) -> Program[Raster]:
        """A raster product, a Cloud Optimized GeoTIFF; by default the newest.

        >>> client.product("reflectivity").content[:2]
        b'II'
        """
        query = parameters(
            duration=duration,
            timestamp=None if timestamp is None else instant_text(timestamp, "timestamp"),
        )
        answer = yield Request(f"/products/{segment(type)}", query, accept="image/tiff")
        return Raster(answer.content, answer.headers.get("content-location", answer.url))

    @call
    def product_exists(
        self, type: str, *, duration: str | None = None, timestamp: Instant | None = None
    ) -> Program[bool]:
        """Whether there is a file of a raster product.

        >>> client.product_exists("reflectivity", timestamp="2000-01-01T00:00Z")
        False
        """
        query = parameters(
            duration=duration,
            timestamp=None if timestamp is None else instant_text(timestamp, "timestamp"),
        )
        return bool((yield Request(f"/products/{segment(type)}/exists", query)).json()["exists"])
