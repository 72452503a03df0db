"""Files of published feeds as tables, a row for each reading.

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
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from . import _mesonet
from ._columns import Instant, instant_ms
from .table import Table

__all__ = ["FEED_KINDS", "FeedFile", "FeedReadings", "read_feed"]

FEED_KINDS: tuple[str, ...] = tuple(_mesonet.FEED_KINDS)
"""The kinds of files, as commands and ``kind`` name them."""

Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO
"""A path, the content of a file, or an open binary file."""

_MOST_BYTES = 1 << 31


@dataclass(frozen=True)
class FeedFile:
    """How one file was read.

    >>> import mesonet
    >>> text = b"METAR KBUF 312354Z 21014KT=\\nMETAR CYXX 0320Z 24012KT=\\n"
    >>> [file] = mesonet.read_feed(text, received="2020-01-01T00:00Z").files
    >>> file.read, file.refused, len(file.refusals)
    (1, 1, 1)
    """

    name: str
    """Its name without folders; empty for content that was given as bytes."""
    kind: str
    """Its kind: one of ``FEED_KINDS``."""
    read: int
    """Reports that were read."""
    refused: int
    """Reports that were left out."""
    refusals: tuple[str, ...]
    """Where the first of those are, and why they were left out."""
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

    The columns are
    ``network``, ``station``, ``station_name``, ``lat``, ``lon``, ``altitude_m``,
    ``observation_name``, ``unit``, ``interval_type``, ``interval_minutes``, ``timestamp`` (UTC),
    ``value``, ``quality_base`` and ``quality_reason`` (the verdict of the source), ``qualifier``
    (``trace``, ``at_least``, ``less_than`` or null), ``group_bucket_name``, ``calculated`` and
    ``revision``; those that the bulk export has are named and coded as there.

    >>> import mesonet
    >>> feed = mesonet.read_feed(b"METAR KBUF 312354Z 21014KT=\\n", received="2020-01-01T00:00Z")
    >>> feed
    <mesonet.FeedReadings: 3 readings of 1 file>
    """

    def __init__(self, table: _mesonet.ArrowTable, files: tuple[FeedFile, ...]) -> None:
        super().__init__(table)
        self.files = files
        """How each file was read, in the order given."""

    def __repr__(self) -> str:
        files = len(self.files)
        return f"<mesonet.FeedReadings: {len(self)} readings of {files} file{'' if files == 1 else 's'}>"


def read_feed(
    source: Source | Iterable[Source],
    *,
    kind: str | None = None,
    received: Instant | None = None,
) -> FeedReadings:
    """Reads files of reports: METAR, SWOB, NDBC, IEM, ISD, GHCNh, api.weather.gov and others.

    ``source`` is a path, the content of a file, an open binary file, or several of them. Content
    packed with gzip or bzip2 is unpacked. The kind is found from the content and the name unless
    ``kind`` names one of ``FEED_KINDS``. ``received`` is any time within two weeks of the receipt,
    which feeds need whose reports give only the day of the month; by default a path's time of
    change, else the present.

    Values are in the canonical unit of their variable, or as reported where that is ambiguous;
    nothing is checked or derived. A report that cannot be read is left out and counted
    (:class:`FeedFile`). A file of no known kind, one that holds alerts, or one that breaks off
    raises :class:`mesonet.MesonetError`, and nothing of the files is returned.

    >>> import mesonet
    >>> mesonet.read_feed(b"hello")
    Traceback (most recent call last):
    mesonet.MesonetError: content: of no known kind; known are awc-csv, awc-xml, swob, geomet-swob, eccc-hourly, iem-asos, ndbc-latest, ndbc-realtime2, nws-observation, cap, nws-alerts, isd, ghcnh, metar-bulletin
    """
    several = isinstance(source, Iterable) and not isinstance(
        source, (str, bytes, bytearray, memoryview, os.PathLike, io.IOBase)
    )
    sources: Iterable[Any] = source if several else [source]  # type: ignore[assignment]
    received_ms = None if received is None else instant_ms(received, "received")
    files = [_file(one, received_ms, kind) for one in sources]
    table, told = _mesonet.read_feed(files)
    summaries = (
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
    return FeedReadings(table, tuple(summaries))


def _file(source: Any, received_ms: int | None, kind: str | None) -> tuple[str, bytes, int, str | None]:
    now_ms = instant_ms(datetime.datetime.now(datetime.UTC), "now")
    if isinstance(source, (str, os.PathLike)):
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
        raise TypeError(f"a source is a path, bytes or a binary file; got {type(source).__name__}")
    name, content = _unpacked(name, content)
    return name, content, now_ms if received_ms is None else received_ms, kind


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
