"""The quality checks over data frames in long form.

>>> import pandas, mesonet
>>> frame = pandas.DataFrame({
...     "station": "CYXY", "lon": -135.07, "lat": 60.71, "altitude_m": 706.0,
...     "observation_name": "airTemperature", "interval_type": "Instantaneous", "interval_minutes": 0,
...     "timestamp": pandas.date_range("2021-01-15", periods=3, freq="h", tz="UTC"),
...     "value": [-12.0, 140.0, -11.5]}, index=["a", "b", "c"])
>>> mesonet.check_frame(frame)[["value", "verdict_base", "verdict_reason"]]
   value verdict_base verdict_reason
a  -12.0         Good           None
b  140.0        Error          Range
c  -11.5         Good           None
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _mesonet
from ._columns import milliseconds, numbers, without_zone
from .quality import BaseQuality, ReasonQuality

__all__ = ["check_frame"]

_BASES = [code.name for code in BaseQuality]
_REASONS = ["None" if code == 0 else code.name for code in ReasonQuality]
_KEY = ["observation_name", "interval_type", "interval_minutes"]
_OPTIONAL_KEY = {"unit": None, "group_bucket_name": "", "calculated": False}
_NEEDED = ["station", "lon", "lat", *_KEY, "timestamp", "value"]


def check_frame(frame: Any, *, neighbours: bool = True, limits: str | None = None) -> Any:
    """Checks the readings of a frame, and gives the frame with their verdicts.

    ``frame`` is of pandas, polars or pyarrow, or anything with Arrow's stream, such as a
    :class:`mesonet.FeedReadings`, which gives a ``pyarrow.Table``. It has a row for each reading, in
    any order, with the columns ``station`` (or ``station_id``), ``lon``, ``lat``,
    ``observation_name``, ``interval_type``, ``interval_minutes``, ``timestamp`` (times; those without
    a zone are UTC) and ``value`` (missing or NaN for no value). Optional are ``network``, with which
    ``station`` is one key, ``altitude_m``, ``unit``, ``group_bucket_name``, ``calculated``, and
    the source's verdict as names in ``quality_base`` and ``quality_reason``. Others are kept.

    The result is a frame of the same kind with the same rows and index, and the columns
    ``verdict_base`` and ``verdict_reason``: names as ordered categories, the worst first, so that
    ``verdict_base < "Good"`` works in pandas. With ``neighbours``, the stations are one network
    (:func:`mesonet.check_network`); without, each is checked alone (:func:`mesonet.check_station`).

    A column that is missing or of a wrong type raises ``TypeError``; values that are refused, a
    station in two places and two readings of a series at one time raise
    :class:`mesonet.MesonetError`.

    >>> import mesonet
    >>> feed = mesonet.read_feed(b"raw_text,station_id,observation_time,latitude,longitude\\n"
    ...     b"CYYZ 032000Z 24012KT 15SM 99/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\\n",
    ...     received="2024-08-03T20:01Z")
    >>> import polars
    >>> frame = mesonet.check_frame(feed.to_polars())
    >>> frame.filter(polars.col("observation_name") == "airTemperature")["verdict_base"].to_list()
    ['Error']
    """
    view = _view(frame)
    names = set(view.names)
    station_column = "station" if "station" in names or "station_id" not in names else "station_id"
    needed = [station_column if name == "station" else name for name in _NEEDED]
    if missing := [name for name in needed if name not in names]:
        raise TypeError(f"the frame lacks the columns {', '.join(missing)}; it has {', '.join(view.names)}")
    ts_ms = view.times("timestamp")
    values = numbers(view.numbers("value"))
    station = view.codes(station_column)
    if "network" in names:
        station = _joined(station, view.codes("network"))
    place = [view.numbers(name) if name in names else None for name in ("lon", "lat", "altitude_m")]
    keys = [*_KEY, *(name for name in _OPTIONAL_KEY if name in names)]
    series = station
    for name in keys:
        series = _joined(series, view.codes(name))
    source = _source(view, names)

    order = np.lexsort((ts_ms, series, station))
    bounds = _bounds(series[order])
    texts = {name: view.cells(name, order[bounds[:-1]]) for name in keys}
    base = np.empty(ts_ms.size, np.uint8)
    reason = np.empty(ts_ms.size, np.uint8)
    sites: list[Any] = []
    rows_of: list[list[NDArray[np.intp]]] = []
    last = None
    for which, (start, end) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        rows = order[start:end]
        if station[rows[0]] != last:
            last = station[rows[0]]
            sites.append((*_place(view, station_column, place, np.flatnonzero(station == last)), []))
            rows_of.append([])
        times = ts_ms[rows]
        if (twice := np.flatnonzero(times[1:] == times[:-1])).size:
            at = np.datetime64(int(times[twice[0]]), "ms")
            raise _mesonet.MesonetError(
                f"station {view.cells(station_column, rows[:1])[0]} has two readings of "
                f"{texts['observation_name'][which]} at {at}Z; keep one of them"
            )
        given = {name: texts[name][which] if name in texts else other for name, other in _OPTIONAL_KEY.items()}
        sites[-1][3].append(
            SimpleNamespace(
                variable=texts["observation_name"][which],
                interval_type=texts["interval_type"][which],
                interval_minutes=int(texts["interval_minutes"][which]),
                calculated=bool(given["calculated"]),
                reported_unit=given["unit"],
                bucket=given["group_bucket_name"] or "",
                ts_ms=np.ascontiguousarray(times),
                value=np.ascontiguousarray(values[rows]),
                source=None if source is None else (source[0][rows], source[1][rows]),
            )
        )
        rows_of[-1].append(rows)
    if neighbours:
        verdicts = _mesonet.check_network(sites, limits)
    else:
        verdicts = [
            _mesonet.check_station(lon, lat, altitude_m, series, limits)
            for lon, lat, altitude_m, series in sites
        ]
    for of_rows, of_station in zip(rows_of, verdicts, strict=True):
        for rows, (bases, reasons) in zip(of_rows, of_station, strict=True):
            base[rows], reason[rows] = bases, reasons
    return view.with_verdicts(base, reason)


def _joined(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes of the pairs of two columns of codes."""
    pairs = one * (int(other.max(initial=0)) + 1) + other
    codes: NDArray[np.int64] = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return codes


def _bounds(sorted_codes: NDArray[np.int64]) -> NDArray[np.intp]:
    changes = np.flatnonzero(sorted_codes[1:] != sorted_codes[:-1]) + 1
    ends = [sorted_codes.size] if sorted_codes.size else []
    return np.concatenate([[0], changes, ends]).astype(np.intp) if ends else np.zeros(1, np.intp)


def _place(view: Any, name: str, columns: list[Any], rows: NDArray[np.intp]) -> tuple[Any, ...]:
    found = []
    for what, column in zip(("lon", "lat", "altitude_m"), columns, strict=True):
        given = np.full(1, np.nan) if column is None else np.unique(column[rows])
        if given.size > 1:
            raise _mesonet.MesonetError(
                f"station {view.cells(name, rows[:1])[0]} has several values of {what}: {given[0]}, {given[1]}"
            )
        found.append(float(given[0]))
    lon, lat, altitude_m = found
    return lon, lat, None if np.isnan(altitude_m) else altitude_m


def _source(view: Any, names: set[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    given = [name for name in ("quality_base", "quality_reason") if name in names]
    if not given:
        return None
    if len(given) == 1:
        raise TypeError(f"quality_base and quality_reason go together; got only {given[0]}")
    found = []
    for name, known in zip(given, (_mesonet.base_quality_code, _mesonet.reason_quality_code), strict=True):
        codes = view.codes(name)
        distinct, first, places = np.unique(codes, return_index=True, return_inverse=True)
        del distinct
        texts = view.cells(name, first)
        found.append(np.array([known(text) for text in texts], np.uint8)[places])
    return found[0], found[1]


def _view(frame: Any) -> Any:
    module = type(frame).__module__.partition(".")[0]
    if module == "pandas" and hasattr(frame, "columns"):
        return _Pandas(frame)
    if type(frame).__name__ == "LazyFrame":
        raise TypeError("a lazy frame is not read; collect it first")
    if module == "polars" and hasattr(frame, "get_column"):
        return _Polars(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        import pyarrow  # type: ignore[import-untyped,unused-ignore]

        return _Arrow(frame if isinstance(frame, pyarrow.Table) else pyarrow.table(frame))
    raise TypeError(f"a frame is of pandas, polars or Arrow; got {type(frame).__name__}")


def _not_times(name: str, got: Any) -> TypeError:
    return TypeError(f"{name} must be times, all in one time zone; got {got}")


def _not_numbers(name: str, got: Any) -> TypeError:
    return TypeError(f"{name} must be numbers; got {got}")


def _no_time(rows: NDArray[np.bool_]) -> None:
    if rows.any():
        raise _mesonet.MesonetError(f"timestamp must be times; row {int(rows.argmax())} is NaT")


class _Pandas:
    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, [str(name) for name in frame.columns]

    def times(self, name: str) -> NDArray[np.int64]:
        column = without_zone(self.frame[name])
        if getattr(column.dtype, "kind", "O") != "M":
            raise _not_times(name, column.dtype)
        _no_time(column.isna().to_numpy())
        return milliseconds(column.to_numpy())

    def numbers(self, name: str) -> NDArray[np.float64]:
        column = self.frame[name]
        if getattr(column.dtype, "kind", "O") not in "iuf":
            raise _not_numbers(name, column.dtype)
        values: NDArray[np.float64] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return values

    def codes(self, name: str) -> NDArray[np.int64]:
        import pandas  # type: ignore[import-untyped,unused-ignore]

        # A missing value is a value of its own.
        codes: NDArray[np.int64] = pandas.factorize(self.frame[name])[0].astype(np.int64) + 1
        return codes

    def cells(self, name: str, rows: NDArray[np.intp]) -> list[Any]:
        return [_plain(cell) for cell in self.frame[name].iloc[rows]]

    def with_verdicts(self, base: NDArray[np.uint8], reason: NDArray[np.uint8]) -> Any:
        import pandas  # type: ignore[import-untyped,unused-ignore]

        def column(codes: NDArray[np.uint8], names: list[str]) -> Any:
            return pandas.Categorical.from_codes(codes.astype(np.int8), names, ordered=True)

        return self.frame.assign(verdict_base=column(base, _BASES), verdict_reason=column(reason, _REASONS))


class _Polars:
    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, list(frame.columns)

    def times(self, name: str) -> NDArray[np.int64]:
        column = self.frame.get_column(name)
        if not str(column.dtype).startswith("Datetime"):
            raise _not_times(name, column.dtype)
        _no_time(column.is_null().to_numpy())
        times: NDArray[np.int64] = column.dt.epoch("ms").to_numpy()
        return times

    def numbers(self, name: str) -> NDArray[np.float64]:
        import polars

        column = self.frame.get_column(name)
        if not column.dtype.is_numeric():
            raise _not_numbers(name, column.dtype)
        values: NDArray[np.float64] = column.cast(polars.Float64).fill_null(np.nan).to_numpy()
        return values

    def codes(self, name: str) -> NDArray[np.int64]:
        import polars

        codes: NDArray[np.int64] = self.frame.get_column(name).rank("dense").fill_null(0).cast(polars.Int64).to_numpy()
        return codes

    def cells(self, name: str, rows: NDArray[np.intp]) -> list[Any]:
        cells: list[Any] = self.frame.get_column(name).gather(rows).to_list()
        return cells

    def with_verdicts(self, base: NDArray[np.uint8], reason: NDArray[np.uint8]) -> Any:
        import polars

        def column(name: str, codes: NDArray[np.uint8], names: list[str]) -> Any:
            return polars.Series(name, names, dtype=polars.Enum(names)).gather(codes)

        return self.frame.with_columns(
            column("verdict_base", base, _BASES), column("verdict_reason", reason, _REASONS)
        )


class _Arrow:
    def __init__(self, table: Any) -> None:
        self.table, self.names = table, list(table.column_names)

    def times(self, name: str) -> NDArray[np.int64]:
        import pyarrow

        column = self.table[name]
        if not pyarrow.types.is_timestamp(column.type):
            raise _not_times(name, column.type)
        _no_time(column.is_null().to_numpy())
        return milliseconds(column.cast("int64").to_numpy().view(f"M8[{column.type.unit}]"))

    def numbers(self, name: str) -> NDArray[np.float64]:
        import pyarrow

        column = self.table[name]
        kind = column.type
        if not (pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)):
            raise _not_numbers(name, kind)
        values: NDArray[np.float64] = column.cast("float64").fill_null(np.nan).to_numpy()
        return values

    def codes(self, name: str) -> NDArray[np.int64]:
        import pyarrow

        column = self.table[name].unify_dictionaries()
        if not pyarrow.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        parts = [chunk.indices.cast("int64").fill_null(-1).to_numpy() for chunk in column.chunks]
        return np.concatenate([np.zeros(0, np.int64), *parts]) + 1

    def cells(self, name: str, rows: NDArray[np.intp]) -> list[Any]:
        cells: list[Any] = self.table[name].take(rows).to_pylist()
        return cells

    def with_verdicts(self, base: NDArray[np.uint8], reason: NDArray[np.uint8]) -> Any:
        import pyarrow

        def column(codes: NDArray[np.uint8], names: list[str]) -> Any:
            return pyarrow.DictionaryArray.from_arrays(codes.astype(np.int8), names, ordered=True)

        table = self.table
        for name, codes, names in (("verdict_base", base, _BASES), ("verdict_reason", reason, _REASONS)):
            if name in table.column_names:
                table = table.set_column(table.column_names.index(name), name, column(codes, names))
            else:
                table = table.append_column(name, column(codes, names))
        return table


def _plain(cell: Any) -> Any:
    # Pandas' missing values are of several types; each is unequal to itself or has no truth.
    return None if cell is None or cell is not cell or type(cell).__name__ == "NAType" or cell != cell else cell
