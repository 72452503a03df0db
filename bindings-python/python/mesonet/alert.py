"""Files of official alerts, as GeoJSON with their state at a time.

>>> import mesonet
>>> document = b'''<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2">
...     <identifier>1</identifier><sender>a@example.org</sender>
...     <sent>2026-08-12T23:07:41-00:00</sent><status>Actual</status>
...     <msgType>Alert</msgType><scope>Public</scope>
...     <info><language>en-CA</language><category>Met</category><event>wind</event>
...         <urgency>Future</urgency><severity>Moderate</severity><certainty>Likely</certainty>
...         <expires>2026-08-13T06:00:00-00:00</expires><headline>wind warning</headline>
...         <area><areaDesc>Sarnia</areaDesc>
...             <polygon>42,-83 43,-83 43,-82 42,-83</polygon></area></info>
... </alert>'''
>>> alerts = mesonet.read_cap(document)
>>> [feature] = alerts.to_geojson(at="2026-08-13T00:00Z")["features"]
>>> feature["properties"]["alertHeadline"], feature["properties"]["status"]
('wind warning', 'Active')
>>> [state.status for state in alerts.states(at="2026-08-13T07:00Z")]
['Ended']
"""

import datetime
import gzip
import json
import os
import warnings
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _mesonet, answers
from ._columns import Instant, instant_ms
from ._shown import ShownFields, ShownRows
from .features import Features
from .warning import MesonetWarning
from .feed import FeedFile, FeedReadings, File, Source, files_of, named, readings_of, summaries

if TYPE_CHECKING:
    import geopandas  # type: ignore[import-untyped,unused-ignore]

__all__ = ["AlertState", "Alerts", "read_any", "read_cap", "read_nws_alerts", "zone_bundle"]

Zones = str | os.PathLike[str] | bytes
"""The path of a bundle of zones, packed with gzip or not, or its content."""


@dataclass(frozen=True, slots=True)
class AlertState(ShownFields):
    """The state of a message at a time: see :meth:`Alerts.states`."""

    id: str
    """The identifier of the message."""
    message_type: str
    """Its role in its chain: ``Alert``, ``Update``, ``Cancel``."""
    status: str
    """``Active``, ``Superseded``, ``Cancelled``, ``Ended``; ``Unknown`` if it was sent later."""
    sent: datetime.datetime
    """When it was sent (UTC)."""
    previous_ids: tuple[str, ...]
    """The messages that it refers to."""
    next_ids: tuple[str, ...]
    """The messages that follow it, in the order they were sent."""


class Alerts(ShownRows):
    """The messages of files of alerts, each identifier once.

    The state of a message at a time depends on all messages, by the rules of the service. An update
    supersedes the messages that it refers to, or that it continues by its VTEC code. A cancellation
    withdraws them. An alert is over at the end that it states.

    ``at`` is the time, by default the present. Messages that were sent after it do not count, and
    their status is ``Unknown``.
    """

    def __init__(self, messages: _mesonet.AlertMessages, files: tuple[FeedFile, ...]) -> None:
        self._messages = messages
        self.files = files
        """How each file was read, in the order given."""

    def __len__(self) -> int:
        return len(self._messages)

    def __repr__(self) -> str:
        files = len(self.files)
        return f"<mesonet.Alerts: {len(self)} messages of {files} file{'' if files == 1 else 's'}>"

    def _shown(self) -> tuple[list[str], int]:
        return ["sent", "status", "message_type", "id"], len(self)

    def _shown_column(self, name: str, start: int, stop: int) -> Sequence[object]:
        values = [getattr(state, name) for state in self.states()[start:stop]]
        return [f"{at:%Y-%m-%d %H:%MZ}" for at in values] if name == "sent" else values

    @property
    def __geo_interface__(self) -> answers.Alerts:
        return self.to_geojson()

    def states(self, at: Instant | None = None) -> list[AlertState]:
        """The state of each message, in the order they were sent."""
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        return [
            AlertState(
                id=id,
                message_type=message_type,
                status=status,
                sent=epoch + datetime.timedelta(milliseconds=sent_ms),
                previous_ids=tuple(previous),
                next_ids=tuple(following),
            )
            for id, message_type, status, sent_ms, previous, following in self._messages.states(*_clock(at))
        ]

    def to_geojson(
        self,
        at: Instant | None = None,
        *,
        active: bool = False,
        language: str = "en",
        bbox: tuple[float, float, float, float] | None = None,
        place: tuple[float, float] | None = None,
    ) -> answers.Alerts:
        """A GeoJSON ``FeatureCollection`` as the service sends it, the latest message first.

        ``active`` keeps only alerts in force at ``at``; ``bbox`` (west, south, east, north) and
        ``place`` (longitude, latitude) keep only alerts with an area there. The texts are in
        ``language``, ``en`` or ``fr``, or else in the first language of the message. The geometry
        is the outline that the message draws, or else its zones if they were given; it may be None.
        ``missingZones`` lists zones whose outlines are not known.

        Raises :class:`mesonet.MesonetError` for a box or a place that is not on the globe.
        """
        sides = None if bbox is None else _numbers(bbox, 4, "bbox must be west, south, east, north")
        point = None if place is None else _numbers(place, 2, "place must be longitude, latitude")
        if not isinstance(language, str):
            raise TypeError(f"language must be a text; got {type(language).__name__}")
        told = self._messages.geojson(*_clock(at), bool(active), language, sides, point)
        collection: answers.Alerts = json.loads(told)
        return collection

    def to_geopandas(
        self,
        at: Instant | None = None,
        *,
        active: bool = False,
        language: str = "en",
        bbox: tuple[float, float, float, float] | None = None,
        place: tuple[float, float] | None = None,
    ) -> "geopandas.GeoDataFrame":
        """The ``geopandas.GeoDataFrame`` of :meth:`to_geojson`: see :meth:`mesonet.Features.to_geopandas`."""
        return Features(self.to_geojson(at, active=active, language=language, bbox=bbox, place=place)).to_geopandas()


def read_cap(source: Source | Iterable[Source], *, zones: Zones | None = None) -> Alerts:
    """Reads alerts of the Common Alerting Protocol (XML), of Canada and of the United States.

    ``source`` is a path, the content of a file, an open binary file, or several of them; content
    packed with gzip or bzip2 is unpacked. ``zones`` is a bundle of zones as ``mesonet-server``
    ships and makes it: a path, or the content. It gives outlines to alerts that name zones and draw
    nothing.

    Tests, exercises and messages that are not public are left out. They are listed among the
    refusals, like messages that cannot be read. Raises :class:`mesonet.MesonetError` for a file of
    another kind, or a file that breaks off.

    >>> import mesonet
    >>> mesonet.read_cap(b"METAR KBUF 312354Z 21014KT=")
    Traceback (most recent call last):
    mesonet.MesonetError: content: its kind is metar-bulletin; read_cap reads cap
    """
    return _alerts("read_cap", ("cap",), source, zones)


def read_nws_alerts(source: Source | Iterable[Source], *, zones: Zones | None = None) -> Alerts:
    """Reads alerts of the United States from api.weather.gov (GeoJSON); see :func:`read_cap`.

    >>> import mesonet
    >>> mesonet.read_nws_alerts(b"METAR KBUF 312354Z 21014KT=")
    Traceback (most recent call last):
    mesonet.MesonetError: content: its kind is metar-bulletin; read_nws_alerts reads nws-alerts
    """
    return _alerts("read_nws_alerts", ("nws-alerts",), source, zones)


def read_any(
    source: Source | Iterable[Source], *, received: Instant | None = None, zones: Zones | None = None
) -> FeedReadings | Alerts:
    """Reads files of any kind, readings or alerts. The kind is found from content and name.

    See :func:`read_feed` for readings, and :func:`read_cap` for alerts. A call with files of both,
    and a file of no known kind, raise :class:`mesonet.MesonetError`.

    >>> import mesonet
    >>> mesonet.read_any(b"METAR KBUF 312354Z 21014KT=", received="2020-01-01T00:00Z")
    <mesonet.FeedReadings: 3 readings of 1 file>
    >>> mesonet.read_any(b"GRIB")
    Traceback (most recent call last):
    mesonet.MesonetError: content: GRIB; read_grib reads it
    """
    files = files_of(source, received, None)
    kinds = [_mesonet.detect_feed(name, content) for name, content, *_ in files]
    for (name, content, *_), kind in zip(files, kinds, strict=True):
        if kind is None and content.startswith(b"GRIB"):
            raise _mesonet.MesonetError(f"{name}: GRIB; read_grib reads it")
    holding = {kind[1] for kind in kinds if kind}
    if len(holding) > 1:
        told = ", ".join(f"{name} of kind {kind[0]}" for (name, *_), kind in zip(files, kinds) if kind)
        raise _mesonet.MesonetError(f"files of readings and files of alerts must be read separately; got {told}")
    if holding == {True} and None not in kinds:
        return _made(files, zones)
    return readings_of(files)


def zone_bundle(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> bytes:
    """The bundle of the zones of files, for ``zones`` of :func:`read_cap` and :class:`mesonet.Record`.

    The files are those that the weather services publish: shapefiles (``.shp``, with ``.dbf`` and
    ``.prj`` beside it) of longitudes and latitudes, and GeoJSON. Later files override earlier ones.
    Each outline is simplified by itself, by 111 m at most. Write the bytes to a file to use them
    again. Rows that are not zones are left out; they are named in a :class:`mesonet.MesonetWarning`.

    A file without a zone, and a list without a file, raise :class:`mesonet.MesonetError`.

    >>> import mesonet
    >>> mesonet.zone_bundle("zones.txt")
    Traceback (most recent call last):
    mesonet.MesonetError: zones.txt: a file of zones is .shp, .geojson or .json
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    files = [_zone_file(Path(path)) for path in several]
    if not files:
        raise _mesonet.MesonetError("a bundle is made of at least one file of zones; got none")
    bundle, read = _mesonet.zone_bundle(files)
    for (name, *_), (zones, rows, refused, reasons) in zip(files, read, strict=True):
        if not rows:
            raise _mesonet.MesonetError(f"{name}: there are no zones in it")
        said = f"{name}: {refused} of {rows} rows are no zones; {'; '.join(reasons)}"
        if not zones:
            raise _mesonet.MesonetError(said)
        if refused:
            warnings.warn(said, MesonetWarning, stacklevel=2)
    return bundle


def _zone_file(path: Path) -> tuple[str, bytes, tuple[bytes, str, str | None] | None]:
    kind = path.suffix.lower()
    if kind in (".geojson", ".json"):
        return path.name, path.read_bytes(), None
    if kind != ".shp":
        raise _mesonet.MesonetError(f"{path.name}: a file of zones is .shp, .geojson or .json")
    encoding = path.with_suffix(".cpg")
    cpg = encoding.read_text("utf-8", "replace") if encoding.exists() else None
    table, projection = path.with_suffix(".dbf"), path.with_suffix(".prj")
    return path.name, path.read_bytes(), (table.read_bytes(), projection.read_text("utf-8", "replace"), cpg)


def _alerts(
    reader: str, kinds: tuple[str, ...], source: Source | Iterable[Source], zones: Zones | None
) -> Alerts:
    return _made(named(reader, kinds, files_of(source, None, None)), zones)


def _made(files: list[File], zones: Zones | None) -> Alerts:
    messages, told = _mesonet.read_alerts(files, None if zones is None else bundle_of(zones))
    return Alerts(messages, summaries(files, told))


def bundle_of(zones: Zones) -> bytes:
    if not isinstance(zones, (str, os.PathLike, bytes)):
        raise TypeError(f"zones must be a path or bytes; got {type(zones).__name__}")
    content = zones if isinstance(zones, bytes) else Path(zones).read_bytes()
    if content.startswith(b"\x1f\x8b"):
        try:
            return gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise _mesonet.MesonetError(f"the bundle of zones cannot be unpacked: {error}") from error
    return content


def _clock(at: Instant | None) -> tuple[int, bool]:
    if at is None:
        return instant_ms(datetime.datetime.now(datetime.UTC), "now"), False
    return instant_ms(at, "at"), True


def _numbers(given: Iterable[float], count: int, message: str) -> Any:
    try:
        numbers = tuple(float(number) for number in given)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{message}; got {given!r}") from error
    if len(numbers) != count:
        raise _mesonet.MesonetError(f"{message}; got {len(numbers)} numbers")
    return numbers
