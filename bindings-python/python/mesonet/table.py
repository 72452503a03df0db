"""Arrow tables: what mesonet returns, and readings of many series in one table on a time grid.

>>> import mesonet, polars
>>> readings = polars.DataFrame({
...     "station": ["CYYZ", "CYYZ", "KBUF"],
...     "time": ["2024-08-03T20:00", "2024-08-03T20:07", "2024-08-03T20:01"],
...     "air_c": [29.4, 29.1, 26.0],
... }).with_columns(polars.col("time").str.to_datetime())
>>> mesonet.resample_table(
...     readings, key="station", time="time", value="air_c",
...     start="2024-08-03T20:00Z", end="2024-08-03T20:10Z", step=10,
... )["air_c"].to_list()
[29.4, 29.1, None, 26.0]
"""

import datetime
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, overload

import numpy as np

from . import _mesonet
from ._columns import Duration, Instant, duration_ms, instant_ms, step_minutes
from ._shown import ShownRows
from .time_grid import Caps, fitted

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]
    import polars
    import pyarrow  # type: ignore[import-untyped,unused-ignore]
    from numpy.typing import NDArray

__all__ = ["Table", "resample_table"]

_ROWS_AT_ONCE = 4_096

Frame = TypeVar("Frame", bound="pandas.DataFrame | polars.DataFrame | pyarrow.Table")
"""A frame of another library; the result is one of the same kind."""


class ArrowStream(Protocol):
    """Anything that has Arrow's interface of capsules."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class Streamed:
    """Rows that are handed out through Arrow's interface of capsules."""

    _table: ArrowStream

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> "pyarrow.Table":
        """The ``pyarrow.Table``, without a copy."""
        import pyarrow  # type: ignore[import-untyped,unused-ignore]

        return pyarrow.table(self)

    def to_batches(self) -> "pyarrow.RecordBatchReader":
        """A ``pyarrow.RecordBatchReader``, which holds one batch at a time."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self)

    def to_polars(self) -> "polars.DataFrame":
        """The ``polars.DataFrame``; texts that repeat are categories."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """The ``pandas.DataFrame``, by pyarrow; texts that repeat are categories."""
        return self.to_arrow().to_pandas()


class Rows(Streamed, ShownRows):
    """The rows of an Arrow table: columns, parts and single rows, without another library."""

    @property
    def _held(self) -> _mesonet.ArrowTable:
        """The table in memory."""
        raise NotImplementedError

    def _with(self, table: _mesonet.ArrowTable) -> Self:
        """The same with other rows."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._held)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._held.column_names()

    def head(self, count: int = 5) -> Self:
        """The first rows."""
        return self[: max(operator.index(count), 0)]

    @overload
    def __getitem__(self, key: str) -> "NDArray[Any]": ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: str | slice) -> "NDArray[Any] | Self":
        """A column as an array, by its name, or consecutive rows, by a slice.

        Times are datetime64 in UTC; a number that is missing is NaN, a time NaT, a text None.
        """
        if isinstance(key, str):
            return self._column(self._held, key)
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise _mesonet.MesonetError(f"the step of a slice must be 1; got {step}")
            return self._with(self._held.rows(start, max(stop - start, 0)))
        raise TypeError(f"rows are taken by the name of a column or a slice; got {type(key).__name__}")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, each as a dict of plain objects; times are aware, in UTC."""
        names = self.column_names
        for start in range(0, len(self), _ROWS_AT_ONCE):
            part = self._held.rows(start, _ROWS_AT_ONCE)
            columns = [_plain(self._column(part, name)) for name in names]
            for values in zip(*columns, strict=True):
                yield dict(zip(names, values, strict=True))

    def _column(self, table: _mesonet.ArrowTable, name: str) -> "NDArray[Any]":
        try:
            values, dtype = table.column(name)
        except KeyError:
            known = ", ".join(self.column_names)
            raise KeyError(f"no column {name!r}; there are {known}") from None
        if isinstance(values, list):
            texts = np.empty(len(values), object)
            texts[:] = values
            return texts
        array: NDArray[Any] = values if dtype is None else values.view(dtype)
        return array

    def _shown(self) -> tuple[list[str], int]:
        return self.column_names, len(self)

    def _shown_column(self, name: str, start: int, stop: int) -> Sequence[object]:
        try:
            return list(self._column(self._held.rows(start, stop - start), name))
        except TypeError:
            # A column that NumPy has no type for.
            return ["…"] * (stop - start)


def _plain(column: "NDArray[Any]") -> list[Any]:
    """The values as plain objects."""
    values: list[Any] = column.tolist()
    if column.dtype.kind == "M":
        of = column.astype("M8[us]").tolist()
        return [None if at is None else at.replace(tzinfo=datetime.UTC) for at in of]
    return values


class Table(Rows):
    """An Arrow table that other libraries take over without a copy.

    Anything that takes Arrow's streams takes it: ``pyarrow.table(table)``,
    ``polars.DataFrame(table)``, DuckDB; pandas by :meth:`to_pandas`. Without such a library
    ``table["value"]`` is a column as a NumPy array, ``table[10:20]`` and ``table.head()`` are some of
    the rows, and iteration gives each row as a dict.

    >>> import mesonet
    >>> feed = mesonet.read_feed(b"METAR KBUF 312354Z 21014KT=\\n", received="2020-01-01T00:00Z")
    >>> isinstance(feed, mesonet.Table), len(feed), feed.to_arrow().num_rows
    (True, 3, 3)
    >>> feed["observation_name"].tolist(), feed.head(1)["value"].tolist()
    (['windSpeed', 'windSpeed10m', 'windDirection'], [25.928])
    >>> [row["unit"] for row in feed]
    ['km/h', 'km/h', '°']
    """

    _table: _mesonet.ArrowTable

    def __init__(self, table: _mesonet.ArrowTable) -> None:
        self._table = table

    @property
    def _held(self) -> _mesonet.ArrowTable:
        return self._table

    def __repr__(self) -> str:
        return f"<mesonet.Table: {len(self)} rows of {', '.join(self.column_names)}>"

    def __reduce__(self) -> str | tuple[object, ...]:
        return _table_of, (self._table.to_ipc(),)

    def _with(self, table: _mesonet.ArrowTable) -> Self:
        return type(self)(table)


def _table_of(ipc: bytes) -> Table:
    return Table(_mesonet.ArrowTable.from_ipc(ipc))


@overload
def resample_table(
    table: Rows,
    *,
    key: str | Sequence[str],
    time: str,
    value: str,
    start: Instant,
    end: Instant,
    step: int | Duration,
    max_age: Duration | None = None,
    caps: Caps | None = None,
    sort: bool = False,
) -> Table: ...
@overload
def resample_table(
    table: Frame,
    *,
    key: str | Sequence[str],
    time: str,
    value: str,
    start: Instant,
    end: Instant,
    step: int | Duration,
    max_age: Duration | None = None,
    caps: Caps | None = None,
    sort: bool = False,
) -> Frame: ...
@overload
def resample_table(
    table: ArrowStream,
    *,
    key: str | Sequence[str],
    time: str,
    value: str,
    start: Instant,
    end: Instant,
    step: int | Duration,
    max_age: Duration | None = None,
    caps: Caps | None = None,
    sort: bool = False,
) -> "Table | pyarrow.Table": ...
def resample_table(
    table: "Frame | ArrowStream",
    *,
    key: str | Sequence[str],
    time: str,
    value: str,
    start: Instant,
    end: Instant,
    step: int | Duration,
    max_age: Duration | None = None,
    caps: Caps | None = None,
    sort: bool = False,
) -> "Frame | Table | pyarrow.Table":
    """Puts the series of a table on a time grid: for each series, the latest reading at or before
    each position.

    ``table`` is a pyarrow table, a polars or pandas frame, a DuckDB relation, a
    :class:`mesonet.Table`, or anything else with Arrow's ``__arrow_c_stream__``. Rows with the same
    ``key`` are a series; the key is one column of texts, categories or integers, or several such
    columns. ``time`` names a column of timestamps, or of int64 milliseconds since 1970; timestamps
    without a time zone are UTC. ``value`` names a column of numbers; a null is a reading without a
    number, NaN. The grid, ``max_age`` and ``caps`` are those of :func:`mesonet.resample`.

    The rows of a series must stand together, with ascending times. With ``sort`` they may be in any
    order; the readings are then copied and sorted.

    Returns a table of the kind that was given, or a :class:`mesonet.Table`, with a row for each
    series and position: the key, the position (timestamp in microseconds, in the time zone of
    ``time``), the value (float64), ``age`` (duration in milliseconds) and ``row`` (the row of the
    reading in ``table``). The last three are null where there is no reading. Series are in the order
    of their first row.

    Columns of float64 and of timestamps in milliseconds without nulls are read in place if the table
    is one chunk. The work is done without the GIL.

    Raises :class:`mesonet.MesonetError` for a missing column, for nulls among keys or times, and
    for rows in the wrong order; ``TypeError`` for a column of a wrong type.

    >>> import mesonet, pyarrow
    >>> readings = pyarrow.table({"id": ["a", "b", "a"], "ms": [0, 0, 60_000], "v": [1.0, 2.0, 3.0]})
    >>> of = dict(key="id", time="ms", value="v", start=0, end=60_000, step=1)
    >>> mesonet.resample_table(readings, **of)
    Traceback (most recent call last):
    mesonet.MesonetError: the rows of a series must stand together; row 2 has the key of row 0, and others are between them; sort=True takes rows in any order
    >>> mesonet.resample_table(readings, sort=True, **of).select(["id", "v", "row"]).to_pylist()[:2]
    [{'id': 'a', 'v': 1.0, 'row': 0}, {'id': 'a', 'v': 3.0, 'row': 2}]
    """
    if not hasattr(table, "__arrow_c_stream__") or type(table).__name__ == "Series":
        raise TypeError(
            "table must have Arrow's __arrow_c_stream__, as pyarrow, polars and pandas 2.2 have; "
            f"got {type(table).__name__}"
        )
    keys = [key] if isinstance(key, str) else list(key)
    if not keys:
        raise _mesonet.MesonetError("key must name at least one column")
    names = [*keys, time, value]
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a column is named by a text; got {type(name).__name__}")
        if names.count(name) > 1:
            raise _mesonet.MesonetError(f"key, time and value must be different columns; got {name} twice")
    grid = (instant_ms(start, "start"), instant_ms(end, "end"), step_minutes(step))
    max_age_ms = None if max_age is None else duration_ms(max_age, "max_age")
    columns = _mesonet.TableColumns(table, keys, time, value, sort)
    if caps is not None:
        grid, _ = fitted(grid, columns.series(), 1, caps)
    made = Table(columns.resample(grid, max_age_ms))
    library = type(table).__module__.partition(".")[0]
    if library == "pyarrow":
        return made.to_arrow()
    if library == "polars":
        return made.to_polars()
    return made.to_pandas() if library == "pandas" else made
