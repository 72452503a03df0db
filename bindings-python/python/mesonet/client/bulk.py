"""Pages of the bulk export: in memory, and in files that can be continued."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .._mesonet import MesonetError
from .._optional import need
from .._shown import ShownFields, ShownRows
from ._files import flush, written_whole
from .netcdf import dataset_of, to_netcdf
from ._wire import Answer

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]
    import polars
    from polars import DataFrame
    import pyarrow  # type: ignore[import-untyped,unused-ignore]
    import xarray

__all__ = ["BulkFile", "BulkTable"]


@dataclass(frozen=True, eq=False)
class BulkTable(ShownRows):
    """The rows of a bulk export, with the columns of the service.

    Supports Arrow's interface of streams: ``polars.DataFrame(bulk)``, ``pyarrow.table(bulk)``,
    DuckDB.
    """

    table: "pyarrow.Table"
    """The ``pyarrow.Table``."""
    series_found: bool
    """False if the station has no such series; True with no rows means none in the window."""
    damaged: int
    """How many damaged blocks of the record hold, or may hold, rows that are missing: the most that
    one page lacks."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __repr__(self) -> str:
        missing = f", {self.damaged} damaged blocks missing" if self.damaged else ""
        return f"<mesonet.BulkTable: {len(self)} rows{missing}>"

    def _shown(self) -> tuple[list[str], int]:
        return list(self.table.column_names), len(self)

    def _shown_column(self, name: str, start: int, stop: int) -> Sequence[object]:
        values: list[Any] = self.table[name].slice(start, stop - start).to_pylist()
        return values

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> "pandas.DataFrame":
        """The ``pandas.DataFrame``; texts are categories."""
        return self.table.to_pandas()

    def to_polars(self) -> "polars.DataFrame":
        """The ``polars.DataFrame``; texts are categories."""
        frame: DataFrame = need("polars", "BulkTable.to_polars").DataFrame(self)
        return frame

    def to_xarray(self) -> "xarray.Dataset":
        """The rows as an ``xarray.Dataset`` by the CF conventions, version 1.11: time series of
        stations in a contiguous ragged array (discrete sampling geometries, chapter 9).

        The dimension ``obs`` has the times of each station, one station after the other, ``row_size``
        says how many are of each. There is a variable for each name, interval, bucket and unit of the
        rows, NaN at times without a reading, with ``standard_name``, ``units`` as UDUNITS has them,
        ``cell_methods``, and beside it ``NAME_quality``, codes with ``flag_meanings``. ``lat`` and
        ``lon`` of a station are those of its newest row. The rows must have units: ask for
        ``units="metric"`` or others. Needs xarray.
        """
        return dataset_of(self.table, self.damaged)

    def to_netcdf(self, path: str | os.PathLike[str]) -> None:
        """Writes :meth:`to_xarray` into a new NetCDF 4 file, which appears when it is whole. An
        existing file is kept, and that is an error. Needs xarray, and h5netcdf or netCDF4.
        """
        to_netcdf(self.to_xarray(), path)


@dataclass(frozen=True)
class BulkFile(ShownFields):
    """A bulk export in a Parquet file.

    >>> from pathlib import Path
    >>> from mesonet import BulkFile
    >>> BulkFile(Path("toronto.parquet"), 72, 2, True, 0).rows
    72
    """

    path: Path
    """The file."""
    rows: int
    """Its rows."""
    pages: int
    """The pages of the export; each is a row group."""
    series_found: bool
    """False if the station has no such series."""
    damaged: int
    """How many damaged blocks hold, or may hold, rows that are missing: the most of a page."""


@dataclass(frozen=True)
class Page:
    """A page of an export."""

    table: "pyarrow.Table"
    next_cursor: str | None
    series_found: bool
    damaged: int

    @staticmethod
    def of(answer: Answer) -> "Page":
        ipc = need("pyarrow.ipc", "a bulk export", "pyarrow")
        # Arrow refuses a stream that broke off; the headers reveal a stream of other rows.
        try:
            table = ipc.open_stream(answer.content).read_all()
        except (ValueError, OSError) as error:
            raise MesonetError(f"{answer.url}: the page cannot be read as Arrow: {error}") from error
        more = answer.headers.get("x-has-more", "").lower()
        if more not in ("true", "false"):
            raise MesonetError(f"{answer.url}: the page does not say whether others follow")
        cursor = answer.headers.get("x-next-cursor") if more == "true" else None
        if more == "true" and not cursor:
            raise MesonetError(f"{answer.url}: others follow the page, but there is no cursor")
        found = answer.headers.get("x-series-found", "").lower() != "false"
        return Page(table, cursor, found, answer.damaged)

    @property
    def last_time(self) -> str | None:
        if self.table.num_rows == 0:
            return None
        return str(self.table["timestamp"][self.table.num_rows - 1].as_py().isoformat())


@dataclass(frozen=True)
class _State:
    """How far a download has come; rewritten after each page."""

    request: str
    pages: int = 0
    rows: int = 0
    cursor: str | None = None
    is_whole: bool = False
    series_found: bool = True
    damaged: int = 0


@dataclass(frozen=True)
class Download:
    """A download in its folder: a Parquet file for each page, and how far it has come."""

    path: Path
    state: _State

    @staticmethod
    def begun(
        path: str | os.PathLike[str],
        query: tuple[tuple[str, str], ...],
        body: Mapping[str, Any] | None,
    ) -> "Download":
        """Continues the download of the request, or begins it."""
        final = Path(path)
        asked = json.dumps([query, body], sort_keys=True).encode()
        download = Download(final, _State(hashlib.sha256(asked).hexdigest()))
        folder = download.folder
        if (folder / "state.json").exists():
            try:
                state = _State(**json.loads((folder / "state.json").read_text(encoding="utf-8")))
            except (ValueError, TypeError) as error:
                raise MesonetError(f"{folder}: its state cannot be read ({error}); remove it") from error
            if state.request != download.state.request:
                raise MesonetError(f"{folder} holds the download of another request; remove or finish it")
            return Download(final, state)
        folder.mkdir(parents=True, exist_ok=True)
        return download

    @property
    def folder(self) -> Path:
        return self.path.with_name(self.path.name + ".download")

    @property
    def cursor(self) -> str | None:
        return self.state.cursor

    @property
    def rows(self) -> int:
        return self.state.rows

    @property
    def is_whole(self) -> bool:
        return self.state.is_whole

    def with_page(self, page: Page) -> "Download":
        """The page is on disk before the state says so. An interrupted page is fetched again."""
        parquet = need("pyarrow.parquet", "a bulk export", "pyarrow")
        with written_whole(self._part(self.state.pages)) as part:
            parquet.write_table(page.table, part)
        state = replace(
            self.state,
            pages=self.state.pages + 1,
            rows=self.state.rows + page.table.num_rows,
            cursor=page.next_cursor,
            is_whole=page.next_cursor is None,
            series_found=page.series_found,
            damaged=max(self.state.damaged, page.damaged),
        )
        with written_whole(self.folder / "state.json") as part:
            part.write_text(json.dumps(asdict(state)), encoding="utf-8")
        return Download(self.path, state)

    def finished(self) -> BulkFile:
        """Joins the pages, one at a time, and removes them."""
        parquet = need("pyarrow.parquet", "a bulk export", "pyarrow")
        rows = 0
        with written_whole(self.path) as part:
            schema = parquet.read_schema(self._part(0))
            if self.state.damaged:
                said = {"mesonet.damaged": str(self.state.damaged)}
                schema = schema.with_metadata({**(schema.metadata or {}), **said})
            with parquet.ParquetWriter(part, schema) as writer:
                for page in self._pages():
                    table = parquet.read_table(page)
                    rows += table.num_rows
                    writer.write_table(table.replace_schema_metadata(schema.metadata))
            if rows != self.state.rows:
                raise MesonetError(
                    f"{self.folder} should hold {self.state.rows} rows; there are {rows}: remove it"
                )
        flush(self.path.parent)
        shutil.rmtree(self.folder)
        return BulkFile(
            self.path, rows, self.state.pages, self.state.series_found, self.state.damaged
        )

    def _part(self, page: int) -> Path:
        return self.folder / f"{page:06}.parquet"

    def _pages(self) -> Iterator[Path]:
        return (self._part(page) for page in range(self.state.pages))


class Progress(Protocol):
    """Called after each page."""

    def __call__(self, rows: int, last_time: str | None) -> None: ...
    def close(self) -> None: ...


def progress_of(given: bool | Callable[[int, str | None], object]) -> Progress:
    if given is False:
        return _Told(lambda rows, last_time: None)
    if given is not True:
        return _Told(given)
    try:
        tqdm = need("tqdm", "progress=True").tqdm
    except ImportError:
        return _Told(lambda rows, last_time: None)
    return _Bar(tqdm(unit=" rows", unit_scale=True))


class _Told:
    def __init__(self, tell: Callable[[int, str | None], object]) -> None:
        self._tell = tell

    def __call__(self, rows: int, last_time: str | None) -> None:
        self._tell(rows, last_time)

    def close(self) -> None:
        pass


class _Bar:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def __call__(self, rows: int, last_time: str | None) -> None:
        if last_time is not None:
            self._bar.set_postfix_str(last_time, refresh=False)
        self._bar.update(rows - self._bar.n)

    def close(self) -> None:
        self._bar.close()
