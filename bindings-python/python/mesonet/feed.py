"""Files of published feeds as tables, one row per reading.

>>> import mesonet
>>> text = b"METAR KBUF 312354Z 21014KT 10SM 02/M07 A2973=\\n"
>>> feed = mesonet.read_feed(text, received="2020-01-01T00:00Z")
>>> len(feed), feed.files[0].kind
(7, 'metar-bulletin')
>>> feed.column_names[:3]
['network', 'station', 'station_name']
"""

import bz2
import datetime
import gzip
import io
import os
import re
import warnings
from collections.abc import Iterable, Iterator, KeysView, Sequence, Set, ValuesView
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeAlias, TypeGuard

from . import _mesonet
from ._columns import Instant, instant_ms
from ._shown import ShownFields
from .table import Table
from .warning import MesonetWarning

__all__ = [
    "FEED_KINDS",
    "FeedFile",
    "FeedReadings",
    "known_stations",
    "read_eccc_hourly",
    "read_feed",
    "read_ghcnh",
    "read_iem",
    "read_isd",
    "read_metar",
    "read_ndbc",
    "read_nws",
    "read_swob",
]

FEED_KINDS: tuple[str, ...] = tuple(_mesonet.FEED_KINDS)
"""The kinds of files, as commands and ``kind`` name them."""

Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""A path, the content of a file, or an open binary file."""

_MOST_BYTES = 1 << 31


@dataclass(frozen=True)
class FeedFile(ShownFields):
    """How one file was read.

    >>> import mesonet
    >>> text = b"METAR KBUF 312354Z 21014KT=\\nMETAR CYXX 0320Z 24012KT=\\n"
    >>> [file] = mesonet.read_feed(text, received="2020-01-01T00:00Z").files
    >>> file.read, file.refused, len(file.refusals)
    (1, 1, 1)
    """

    name: str
    """Its name without folders; ``content`` for bytes."""
    kind: str
    """Its kind: one of ``FEED_KINDS``."""
    read: int
    """Reports that were read."""
    refused: int
    """Reports that were left out."""
    refusals: tuple[str, ...]
    """Where the first of the reports left out are, and why they were left out."""
    readings: int
    """Readings of the reports that were read."""
    kept_as_reported: dict[str, int]
    """Readings in the unit of the report, because it is ambiguous or unknown."""
    without_variable: dict[str, int]
    """Values that the service has no variable for, by the feed's name."""
    unread_values: dict[str, int]
    """Values that make no sense, by the feed's name."""


class FeedReadings(Table):
    """The readings of files as an Arrow table, and how each file was read.

    The columns are ``network``, ``station``, ``station_name``, ``lat``, ``lon``, ``altitude_m``,
    ``observation_name``, ``unit``, ``interval_type``, ``interval_minutes``, ``timestamp`` (UTC),
    ``value``, ``quality_base`` and ``quality_reason`` (the verdict of the source), ``qualifier``
    (``trace``, ``at_least``, ``less_than`` or null), ``group_bucket_name``, ``calculated`` and
    ``revision``; columns that the bulk export has too are named and coded as there.

    >>> import mesonet
    >>> feed = mesonet.read_feed(b"METAR KBUF 312354Z 21014KT=\\n", received="2020-01-01T00:00Z")
    >>> feed
    <mesonet.FeedReadings: 3 readings of 1 file>
    >>> import pickle
    >>> pickle.loads(pickle.dumps(feed)).files == feed.files
    True
    """

    def __init__(self, table: _mesonet.ArrowTable, files: tuple[FeedFile, ...]) -> None:
        super().__init__(table)
        self.files = files
        """How each file was read, in the order given."""

    def __reduce__(self) -> str | tuple[object, ...]:
        return _readings, (self._table.to_ipc(), self.files)

    def _with(self, table: _mesonet.ArrowTable) -> Self:
        return type(self)(table, self.files)

    def __repr__(self) -> str:
        files = len(self.files)
        return f"<mesonet.FeedReadings: {len(self)} readings of {files} file{'' if files == 1 else 's'}>"


def _readings(ipc: bytes, files: tuple[FeedFile, ...]) -> FeedReadings:
    return FeedReadings(_mesonet.ArrowTable.from_ipc(ipc), files)


def read_feed(
    source: Source | Iterable[Source],
    *,
    kind: str | None = None,
    received: Instant | None = None,
) -> FeedReadings:
    """Reads files of reports: METAR, SWOB, NDBC, IEM, ISD, GHCNh, api.weather.gov and others.

    ``source`` is a path, the content of a file, an open binary file, or several of them. Content
    packed with gzip or bzip2 is unpacked. The kind is found from the content and the name unless
    ``kind`` names one of ``FEED_KINDS``. ``received`` is any time within two weeks of the receipt.
    Feeds whose reports give only the day of the month need it. By default it is the time of change
    of a path, or else the present.

    Values are in the canonical unit of their variable, or as reported if the unit is ambiguous.
    Nothing is checked or derived. A report that cannot be read is left out and counted
    (:class:`FeedFile`). A file raises :class:`mesonet.MesonetError` if its kind is unknown, if it
    holds alerts, if it breaks off, or if none of its reports can be read; then no file is returned.
    A file without reports, or without readings in them, causes a :class:`mesonet.MesonetWarning`.

    >>> import mesonet
    >>> mesonet.read_feed(b"hello")
    Traceback (most recent call last):
    mesonet.MesonetError: content: its kind is unknown; known are awc-csv, awc-xml, awc-json, swob, geomet-swob, eccc-hourly, iem-asos, ndbc-latest, ndbc-realtime2, nws-observation, cap, nws-alerts, isd, isd-csv, isd-lite, ghcnh, metar-bulletin
    """
    return readings_of(files_of(source, received, kind))


def read_metar(source: Source | Iterable[Source], *, received: Instant | None = None) -> FeedReadings:
    """Reads METAR and SPECI reports: bulletins, files of one report a line, and the tables and XML
    of the Aviation Weather Center.

    ``source``, ``received``, the result and the errors are those of :func:`read_feed`.
    :func:`mesonet.parse_metar` decodes one report with all its groups and remarks.

    >>> import mesonet
    >>> feed = mesonet.read_metar(b"METAR KBUF 312354Z 21014KT 02/M07=", received="2020-01-01T00:00Z")
    >>> len(feed), feed.files[0].refusals
    (5, ())
    """
    return _of_kinds("read_metar", ("awc-csv", "awc-xml", "awc-json", "metar-bulletin"), source, received)


def read_swob(source: Source | Iterable[Source], *, received: Instant | None = None) -> FeedReadings:
    """Reads Canada's surface observations: SWOB-ML, and the GeoJSON of MSC GeoMet.

    ``source``, ``received``, the result and the errors are those of :func:`read_feed`.

    >>> import mesonet
    >>> mesonet.read_swob(b"METAR KBUF 312354Z 21014KT=")
    Traceback (most recent call last):
    mesonet.MesonetError: content: its kind is metar-bulletin; read_swob reads swob, geomet-swob
    """
    return _of_kinds("read_swob", ("swob", "geomet-swob"), source, received)


def read_ndbc(source: Source | Iterable[Source], *, received: Instant | None = None) -> FeedReadings:
    """Reads tables of the National Data Buoy Center: the latest observations, and the
    ``realtime2`` files of a station, whose name tells the station.

    ``source``, ``received``, the result and the errors are those of :func:`read_feed`.

    >>> import mesonet
    >>> table = b\"\"\"#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP  DEWP  VIS PTDY  TIDE
    ... #yr  mo dy hr mn degT m/s  m/s     m   sec   sec degT   hPa  degC  degC  degC  nmi  hPa    ft
    ... 2024 08 03 20 50 210  5.0  6.0   0.4     4   3.2 200 1015.2  24.0  23.1  20.0   MM -0.6    MM
    ... \"\"\"
    >>> import io
    >>> file = io.BytesIO(table)
    >>> file.name = "44013.txt"
    >>> mesonet.read_ndbc(file).to_polars()["station"][0]
    '44013'
    """
    return _of_kinds("read_ndbc", ("ndbc-latest", "ndbc-realtime2"), source, received)


def read_iem(source: Source | Iterable[Source], *, received: Instant | None = None) -> FeedReadings:
    """Reads tables of airport reports of the Iowa Environmental Mesonet (CSV).

    ``source``, ``received``, the result and the errors are those of :func:`read_feed`.

    >>> import mesonet
    >>> table = b"station,valid,tmpf,dwpf\\nORD,2024-08-03 20:51,84.0,66.0\\n"
    >>> mesonet.read_iem(table).to_polars()["observation_name"].to_list()
    ['airTemperature', 'dewPointTemperature']
    """
    return _of_kinds("read_iem", ("iem-asos",), source, received)


def read_isd(source: Source | Iterable[Source], *, received: Instant | None = None) -> FeedReadings:
    """Reads files of NCEI's Integrated Surface Data: its records, its tables ("global-hourly", CSV) and
    isd-lite, whose files must keep their names (``725090-14739-2020``).

    ``source``, ``received``, the result and the errors are those of :func:`read_feed`.

    >>> import mesonet
    >>> mesonet.read_isd("no_such_file")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no_such_file'
    """
    return _of_kinds("read_isd", ("isd", "isd-csv", "isd-lite"), source, received)


def read_ghcnh(source: Source | Iterable[Source], *, received: Instant | None = None) -> FeedReadings:
    """Reads files of NCEI's Global Historical Climatology Network hourly.

    ``source``, ``received``, the result and the errors are those of :func:`read_feed`.

    >>> import mesonet
    >>> mesonet.read_ghcnh(b"METAR KBUF 312354Z 21014KT=")
    Traceback (most recent call last):
    mesonet.MesonetError: content: its kind is metar-bulletin; read_ghcnh reads ghcnh
    """
    return _of_kinds("read_ghcnh", ("ghcnh",), source, received)


def read_nws(source: Source | Iterable[Source], *, received: Instant | None = None) -> FeedReadings:
    """Reads observations of the weather service of the United States (api.weather.gov, GeoJSON).

    ``source``, ``received``, the result and the errors are those of :func:`read_feed`.
    :func:`mesonet.read_nws_alerts` reads its alerts.

    >>> import mesonet
    >>> mesonet.read_nws(b"METAR KBUF 312354Z 21014KT=")
    Traceback (most recent call last):
    mesonet.MesonetError: content: its kind is metar-bulletin; read_nws reads nws-observation
    """
    return _of_kinds("read_nws", ("nws-observation",), source, received)


def read_eccc_hourly(
    source: Source | Iterable[Source], *, received: Instant | None = None
) -> FeedReadings:
    """Reads the provincial summaries of Environment and Climate Change Canada (XML).

    ``source``, ``received``, the result and the errors are those of :func:`read_feed`.

    >>> import mesonet
    >>> mesonet.read_eccc_hourly(b"METAR KBUF 312354Z 21014KT=")
    Traceback (most recent call last):
    mesonet.MesonetError: content: its kind is metar-bulletin; read_eccc_hourly reads eccc-hourly
    """
    return _of_kinds("read_eccc_hourly", ("eccc-hourly",), source, received)


def known_stations() -> Table:
    """The stations whose places come with the package, for reports that do not give a place.

    3,178 aerodromes of Canada and the United States, with their identifiers in the networks
    ``METAR`` and ``IEM``, and the stations that the National Data Buoy Center listed as active in
    August 2024 (``NDBC``), by network and native id. The columns are those of
    :meth:`mesonet.Record.stations` without ``update_time``. A :class:`mesonet.Record` knows these
    places already.

    >>> import mesonet
    >>> places = mesonet.known_stations().to_pandas().set_index(["network", "native_id"])
    >>> places.loc[("METAR", "CYYZ"), ["lon", "lat", "altitude_m"]].tolist()
    [-79.629, 43.679, 171.0]
    """
    return Table(_mesonet.known_stations())


File: TypeAlias = tuple[str, bytes, int, str | None]


def is_several(source: Source | Iterable[Source]) -> TypeGuard[Iterable[Source]]:
    """Whether it is several sources, and not one."""
    # Tables are iterable too, but over the names of their columns, which would be taken for paths.
    return isinstance(source, (Sequence, Set, Iterator, KeysView, ValuesView)) and not isinstance(
        source, (str, bytes, bytearray, memoryview, os.PathLike, io.IOBase)
    )


def files_of(
    source: Source | Iterable[Source], received: Instant | None, kind: str | None
) -> list[File]:
    sources: Iterable[Any] = source if is_several(source) else [source]
    received_ms = None if received is None else instant_ms(received, "received")
    files = [_file(one, received_ms, kind) for one in sources]
    if not files:
        warnings.warn("no files were given", MesonetWarning, stacklevel=3)
    return files


def _of_kinds(
    reader: str,
    kinds: tuple[str, ...],
    source: Source | Iterable[Source],
    received: Instant | None,
) -> FeedReadings:
    return readings_of(named(reader, kinds, files_of(source, received, None)))


def named(reader: str, kinds: tuple[str, ...], files: list[File]) -> list[File]:
    """The files with their kinds, each of which must be among those of the reader."""
    with_kinds: list[File] = []
    for name, content, received_ms, _ in files:
        found = _mesonet.detect_feed(name, content)
        kind = found[0] if found else None
        if kind is None and len(kinds) == 1:
            # The reader of the kind says what is wrong.
            [kind] = kinds
        if kind not in kinds:
            its = f"its kind is {kind}" if kind else "its kind is unknown"
            raise _mesonet.MesonetError(f"{name}: {its}; {reader} reads {', '.join(kinds)}")
        with_kinds.append((name, content, received_ms, kind))
    return with_kinds


def readings_of(files: list[File]) -> FeedReadings:
    table, told = _mesonet.read_feed(files)
    for (name, *_), of in zip(files, told, strict=True):
        if of["refused"] and not of["read"]:
            raise _mesonet.MesonetError(
                f"{name}: its kind is {of['kind']}; none of its {of['refused']} reports can be read; "
                f"the first: {of['refusals'][0]}"
            )
    read = summaries(files, told)
    for file in read:
        if file.read and not file.readings:
            _warn(file, f"it has no readings in {file.read} report{'' if file.read == 1 else 's'}")
    return FeedReadings(table, read)


def _warn(file: FeedFile, what: str) -> None:
    warnings.warn(f"{file.name}: its kind is {file.kind}; {what}", MesonetWarning, stacklevel=2)


def summaries(files: list[File], told: list[dict[str, Any]]) -> tuple[FeedFile, ...]:
    """How files were read, with a warning for each file in which nothing was read."""
    read = tuple(
        FeedFile(
            name=name,
            kind=of["kind"],
            read=of["read"],
            refused=of["refused"],
            refusals=tuple(of["refusals"]),
            readings=of["readings"],
            kept_as_reported=dict(of["kept_as_reported"]),
            without_variable=dict(of["without_variable"]),
            unread_values=dict(of["unread_values"]),
        )
        for (name, *_), of in zip(files, told, strict=True)
    )
    for file in read:
        if not file.read:
            refused = f": {file.refused} left out, the first: {file.refusals[0]}" if file.refused else ""
            _warn(file, f"it holds nothing{refused}")
    return read


def _file(source: Any, received_ms: int | None, kind: str | None) -> tuple[str, bytes, int, str | None]:
    now_ms = instant_ms(datetime.datetime.now(datetime.UTC), "now")
    if isinstance(source, (str, os.PathLike)):
        _refuse_content(source)
        path = Path(source)
        name, content = path.name, path.read_bytes()
        now_ms = int(path.stat().st_mtime * 1000)
    elif isinstance(source, (bytes, bytearray, memoryview)):
        name, content = "content", bytes(source)
    elif hasattr(source, "read"):
        given = source.read()
        if not isinstance(given, bytes):
            raise TypeError(f"a file must be open in binary mode; reading gave {type(given).__name__}")
        label = getattr(source, "name", "")
        name, content = (Path(label).name if isinstance(label, str) else "") or "content", given
    else:
        raise TypeError(
            f"a source is a path, bytes, a binary file, or several of them; got {type(source).__name__}"
        )
    name, content = _unpacked(name, content)
    return name, content, now_ms if received_ms is None else received_ms, kind


def _refuse_content(source: str | os.PathLike[str]) -> None:
    """Refuses a text that is meant as something else than a path."""
    text = str(source)
    if re.match(r"[a-z][a-z0-9+.-]+://", text):
        raise _mesonet.MesonetError(f"an address is not fetched; pass bytes, or a path; got {text[:80]!r}")
    if isinstance(source, str) and ("\n" in text or text.startswith(("METAR ", "SPECI ", "<", "{"))):
        raise _mesonet.MesonetError(
            f"a text is a path; pass the content of a file as bytes, text.encode(); got {text[:40]!r}"
        )


def _unpacked(name: str, content: bytes) -> tuple[str, bytes]:
    packers: list[tuple[bytes, str, Any]] = [(b"\x1f\x8b", ".gz", gzip), (b"BZh", ".bz2", bz2)]
    for start, suffix, packer in packers:
        if content.startswith(start):
            try:
                with packer.open(io.BytesIO(content)) as file:
                    unpacked: bytes = file.read(_MOST_BYTES + 1)
            except (OSError, EOFError) as error:
                raise _mesonet.MesonetError(f"{name}: cannot be unpacked: {error}") from error
            if len(unpacked) > _MOST_BYTES:
                raise _mesonet.MesonetError(f"{name}: more than {_MOST_BYTES} bytes unpacked")
            return name.removesuffix(suffix), unpacked
    return name, content
