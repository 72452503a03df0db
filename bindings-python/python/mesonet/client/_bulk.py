"""The calls of the bulk export, which follow the cursor from page to page."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Unpack

from .. import answers
from .._columns import Instant
from .._mesonet import MesonetError
from .._optional import need
from ._filter import BBox, StationFilter, box, filter_query, parameters
from ._parameters import Units, form, instant_text
from ._twin import call
from ._wire import Program, Request
from .bulk import BulkFile, BulkTable, Download, Page, Progress, progress_of

ARROW = "application/vnd.apache.arrow.stream"
_MOST_ROWS = 200_000

Requests: TypeAlias = Sequence[answers.BulkEntry]
"""Selects series, and rows of each series: entries of the bulk export as the service takes them,
with ``name``, ``intervalType``, ``intervalMinutes``, ``calculated``, ``reportedUnit``,
``groupBucketName``, ``lowerValueBound``, ``upperValueBound`` and ``qualityRange``."""

ProgressGiven: TypeAlias = bool | Callable[[int, str | None], object]
"""True for a progress bar of tqdm, if it is installed; or a function that is called after each page
with the number of rows so far and the time of the last row."""


class Bulk:
    """The calls of :class:`mesonet.Client` and :class:`mesonet.AsyncClient` to the bulk export,
    which is open to the commercial plan."""

    @call
    def bulk(
        self,
        station_id: str | Sequence[str] | None,
        start: Instant,
        end: Instant,
        *,
        requests: Requests | None = None,
        page_size: int = _MOST_ROWS,
        progress: ProgressGiven = False,
        units: Units | None = None,
        unit_of: Mapping[str, str] | None = None,
        tz: str | None = None,
        bbox: BBox | None = None,
        **filter: Unpack[StationFilter],
    ) -> Program[BulkTable]:
        """All readings of a station from ``start`` to just before ``end``, in memory: ascending in
        time, then by series. Needs pyarrow. Use :meth:`bulk_to_parquet` for more rows than fit into
        memory.

        For several stations ``station_id`` is a list of ids; or None with ``bbox`` and what
        :meth:`stations` takes to choose stations. Rows are then station by station, with a column
        ``station_id``. ``units``, ``unit_of`` and ``tz`` are those of :meth:`readings`.
        :meth:`BulkTable.to_netcdf` writes what has units as CF.

        >>> bulk = client.bulk("700f7e18-e84e-51b2-90bd-f054766d1ec5",
        ...                    "2024-08-03T00:00Z", "2024-08-04T00:00Z",
        ...                    requests=[{"name": "airTemperature"}])
        >>> bulk.to_pandas().value.tolist(), bulk.series_found
        ([27.0, 28.0, 29.0, 29.0], True)
        >>> many = client.bulk(None, "2024-08-03T20:00Z", "2024-08-04T00:00Z", units="us",
        ...                    requests=[{"name": "airTemperature"}], bbox=(-80, 43, -79, 44))
        >>> len(many.to_pandas().station_id.unique())
        9
        """
        pyarrow = need("pyarrow", "Client.bulk")
        request = _request(station_id, start, end, requests, page_size)
        request = _chosen(request, form(units, unit_of, tz), box(bbox) + filter_query(filter))
        pages, rows, cursor, shown = [], 0, None, progress_of(progress)
        try:
            while True:
                page = yield from _page(request, cursor)
                pages.append(page)
                rows += page.table.num_rows
                shown(rows, page.last_time)
                if page.next_cursor is None:
                    break
                cursor = _moved(cursor, page.next_cursor)
        finally:
            shown.close()
        table = pyarrow.concat_tables([page.table for page in pages]).unify_dictionaries()
        damaged = max(page.damaged for page in pages)
        return BulkTable(table, pages[0].series_found, damaged)

    @call
    def bulk_to_parquet(
        self,
        path: str | os.PathLike[str],
        station_id: str | Sequence[str] | None,
        start: Instant,
        end: Instant,
        *,
        requests: Requests | None = None,
        page_size: int = _MOST_ROWS,
        progress: ProgressGiven = False,
        units: Units | None = None,
        unit_of: Mapping[str, str] | None = None,
        tz: str | None = None,
        bbox: BBox | None = None,
        **filter: Unpack[StationFilter],
    ) -> Program[BulkFile]:
        """The same, straight into a Parquet file, with memory for one page. Needs pyarrow.

        The pages are kept in the folder ``PATH.download`` while they arrive. An interrupted
        download goes on from there when the same call is made again; the folder of another request
        is refused. The file appears under its name only once it is whole; an existing file is then
        replaced. Its metadata has ``mesonet.damaged`` if readings are missing.

        >>> import os, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> file = client.bulk_to_parquet(os.path.join(folder.name, "toronto.parquet"),
        ...     "700f7e18-e84e-51b2-90bd-f054766d1ec5", "2024-08-03T00:00Z", "2024-08-04T00:00Z",
        ...     page_size=50)
        >>> file.rows, file.pages, os.listdir(folder.name)
        (72, 2, ['toronto.parquet'])
        >>> folder.cleanup()
        """
        need("pyarrow.parquet", "Client.bulk_to_parquet", "pyarrow")
        request = _request(station_id, start, end, requests, page_size)
        request = _chosen(request, form(units, unit_of, tz), box(bbox) + filter_query(filter))
        download = Download.begun(path, request.query, request.body)
        shown = progress_of(progress)
        try:
            while not download.is_whole:
                page = yield from _page(request, download.cursor)
                if page.next_cursor is not None:
                    _moved(download.cursor, page.next_cursor)
                download = download.with_page(page)
                shown(download.rows, page.last_time)
        finally:
            shown.close()
        return download.finished()


def _request(
    station_id: str | Sequence[str] | None,
    start: Instant,
    end: Instant,
    requests: Requests | None,
    page_size: int,
) -> Request:
    query = parameters(
        start=instant_text(start, "start"),
        end=instant_text(end, "end"),
        pageSize=str(page_size),
        qualifiers="true",
    )
    body: dict[str, Any] = {}
    if isinstance(station_id, str):
        body["stationId"] = station_id
    elif station_id is not None:
        body["stationIds"] = list(station_id)
    if requests is not None:
        body["requests"] = [dict(one) for one in requests]
    return Request("/historical/bulk", query, body, ARROW)


def _chosen(
    request: Request, form: tuple[tuple[str, str], ...], stations: tuple[tuple[str, str], ...]
) -> Request:
    """The same with the form of the answer and the parameters that choose stations."""
    return Request(request.path, request.query + form + stations, request.body, request.accept)


def _page(request: Request, cursor: str | None) -> Program[Page]:
    query = request.query + (() if cursor is None else (("cursor", cursor),))
    answer = yield Request(request.path, query, request.body, request.accept)
    return Page.of(answer)


def _moved(cursor: str | None, following: str) -> str:
    if following == cursor:
        raise MesonetError("the service gave the same cursor twice; the export would never end")
    return following


__all__ = ["Bulk", "Progress"]
