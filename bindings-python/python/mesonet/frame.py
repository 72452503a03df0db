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
from typing import TYPE_CHECKING, Any, overload
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from . import _mesonet
from ._columns import milliseconds, numbers, without_zone
from .quality import BaseQuality, ReasonQuality
from .table import ArrowStream, Frame, Rows
from .unit import resolve_unit
from .warning import MesonetWarning

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped,unused-ignore]

__all__ = ["check_frame"]

_BASES = [code.name for code in BaseQuality]
_REASONS = ["None" if code == 0 else code.name for code in ReasonQuality]
_KEY = ["observation_name", "interval_type", "interval_minutes"]
_OPTIONAL_KEY = {"group_bucket_name": "", "calculated": False}
_PLACE = ("lon", "lat", "altitude_m")
_NEEDED = ["station", "lon", "lat", *_KEY, "timestamp", "value"]


@overload
def check_frame(frame: Rows, *, neighbours: bool = True, limits: str | None = None) -> "pyarrow.Table": ...
@overload
def check_frame(frame: Frame, *, neighbours: bool = True, limits: str | None = None) -> Frame: ...
@overload
def check_frame(frame: ArrowStream, *, neighbours: bool = True, limits: str | None = None) -> "pyarrow.Table": ...
def check_frame(
    frame: "Frame | ArrowStream", *, neighbours: bool = True, limits: str | None = None
) -> "Frame | pyarrow.Table":
    """Checks the readings of a frame, and returns the frame with their verdicts.

    ``frame`` is a frame of pandas, polars or pyarrow, or anything else with Arrow's stream, such as
    a :class:`mesonet.FeedReadings`, for which the result is a ``pyarrow.Table``. It has one row per
    reading, in any order, with the columns ``station`` (or ``station_id``), ``lon``, ``lat``,
    ``observation_name``, ``interval_type``, ``interval_minutes``, ``timestamp`` (times; those
    without a zone are UTC) and ``value`` (missing or NaN for no value). Optional columns are
    ``network``, which forms one key with ``station``, ``altitude_m``, ``unit``,
    ``group_bucket_name``, ``calculated``, and the source's verdict as names in ``quality_base`` and
    ``quality_reason``. Other columns are kept.

    The result is a frame of the same kind with the same rows and index, and the columns
    ``verdict_base`` and ``verdict_reason``: names as ordered categories, the worst first, so that
    ``verdict_base < "Good"`` works in pandas. With ``neighbours``, the stations are one network
    (:func:`mesonet.check_network`). Without, each station is checked alone
    (:func:`mesonet.check_station`).

    Values with a ``unit`` are converted as :func:`mesonet.convert` does. Values with an ambiguous
    unit are not converted, and are judged by the widest of the possible limits. A unit that is
    unknown, or of another quantity, is refused. Of several rows for one moment of a series, the
    last row with the highest ``revision`` counts; a row with another value that does not count has
    no verdict. A station is where its newest row says. A station without ``lon`` and ``lat`` is
    judged by limits that hold everywhere, and is not compared with others. A
    :class:`mesonet.MesonetWarning` gives the number of such rows, as do ``attrs`` of a pandas frame
    and the metadata of an Arrow table, as ``rows_without_place``.

    A column that is missing or of a wrong type raises ``TypeError``. These raise
    :class:`mesonet.MesonetError`: values that are refused, a station whose rows for one moment are
    in two places, and two values of a series at one moment in a frame without ``revision``.

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
    values, units = _converted(view, names)
    station = view.codes(station_column)
    if "network" in names:
        station = _joined(station, view.codes("network"))
    keys = [*_KEY, *(name for name in _OPTIONAL_KEY if name in names)]
    series = _joined(station, units)
    for name in keys:
        series = _joined(series, view.codes(name))
    source = _source(view, names)
    revision = view.numbers("revision") if "revision" in names else None

    order = np.lexsort((np.zeros(ts_ms.size) if revision is None else revision, ts_ms, series, station))
    # The last row of each moment counts.
    counts = np.ones(order.size, bool)
    counts[:-1] = (series[order[1:]] != series[order[:-1]]) | (ts_ms[order[1:]] != ts_ms[order[:-1]])
    winner = order[counts][np.cumsum(counts) - counts] if order.size else order
    same = (values[order] == values[winner]) | (np.isnan(values[order]) & np.isnan(values[winner]))
    if revision is None and not same.all():
        row = order[~same][:1]
        at = np.datetime64(int(ts_ms[row[0]]), "ms")
        raise _mesonet.MesonetError(
            f"station {view.cells(station_column, row)[0]} has two readings of "
            f"{view.cells('observation_name', row)[0]} at {at}Z; keep one of them"
        )
    placed = _places(view, station_column, names, station, ts_ms)
    kept = order[counts]
    bounds = _bounds(series[kept])
    texts = {name: view.cells(name, kept[bounds[:-1]]) for name in keys}
    left = view.cells("unit", kept[bounds[:-1]]) if "unit" in names else None
    base = np.empty(ts_ms.size, np.uint8)
    reason = np.empty(ts_ms.size, np.uint8)
    sites: list[Any] = []
    rows_of: list[list[NDArray[np.intp]]] = []
    last = None
    for which, (start, end) in enumerate(zip(bounds[:-1], bounds[1:], strict=True)):
        rows = kept[start:end]
        if station[rows[0]] != last:
            last = station[rows[0]]
            sites.append((*placed[last], []))
            rows_of.append([])
        given = {name: texts[name][which] if name in texts else other for name, other in _OPTIONAL_KEY.items()}
        sites[-1][3].append(
            SimpleNamespace(
                variable=texts["observation_name"][which],
                interval_type=texts["interval_type"][which],
                interval_minutes=int(texts["interval_minutes"][which]),
                calculated=bool(given["calculated"]),
                reported_unit=left[which] if left and units[rows[0]] else None,
                bucket=given["group_bucket_name"] or "",
                ts_ms=np.ascontiguousarray(ts_ms[rows]),
                value=np.ascontiguousarray(values[rows]),
                source=None if source is None else (source[0][rows], source[1][rows]),
            )
        )
        rows_of[-1].append(rows)
    nowhere = [which for which, of in enumerate(sites) if of[0] is None]
    somewhere = [which for which, of in enumerate(sites) if of[0] is not None]
    verdicts: list[Any] = [None] * len(sites)
    for which in nowhere:
        verdicts[which] = _anywhere(sites[which], limits)
    if neighbours:
        found = _mesonet.check_network([sites[which] for which in somewhere], limits)
    else:
        found = [
            _mesonet.check_station(lon, lat, altitude_m, series, limits)
            for lon, lat, altitude_m, series in (sites[which] for which in somewhere)
        ]
    for which, of in zip(somewhere, found, strict=True):
        verdicts[which] = of
    for of_rows, of_station in zip(rows_of, verdicts, strict=True):
        for rows, (bases, reasons) in zip(of_rows, of_station, strict=True):
            base[rows], reason[rows] = bases, reasons
    base[order], reason[order] = base[winner], reason[winner]
    is_judged = np.ones(ts_ms.size, bool)
    is_judged[order] = same
    without_place = sum(rows.size for which in nowhere for rows in rows_of[which])
    if without_place and neighbours:
        stations = f"{len(nowhere)} station{'' if len(nowhere) == 1 else 's'}"
        warn(
            f"{without_place} rows of {stations} have no place: they were not compared with others",
            MesonetWarning,
            stacklevel=2,
        )
    return view.with_verdicts(base, reason, is_judged, without_place)


# Latitudes of each set of limits: low and high ones, north and south.
_LATITUDES = (20.0, 70.0, -20.0, -70.0)


def _anywhere(site: tuple[Any, ...], limits: str | None) -> list[tuple[Any, Any]]:
    """The best of the verdicts that the readings of a station could have in some place."""
    _, _, altitude_m, series = site
    found = [_mesonet.check_station(0.0, lat, altitude_m, series, limits) for lat in _LATITUDES]
    best = []
    for verdicts in zip(*found, strict=True):
        bases = np.array([base for base, _ in verdicts])
        reasons = np.array([reason for _, reason in verdicts])
        which = bases.argmax(0)[None]
        best.append((np.take_along_axis(bases, which, 0)[0], np.take_along_axis(reasons, which, 0)[0]))
    return best


def _converted(view: Any, names: set[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The values in the units of their variables, and a code for the unit of values that are not
    converted: 0 for none.
    """
    values = numbers(view.numbers("value"))
    left = np.zeros(values.size, np.int64)
    if "unit" not in names:
        return values, left
    pairs = _joined(view.codes("observation_name"), view.codes("unit"))
    _, first, which = np.unique(pairs, return_index=True, return_inverse=True)
    variables, units = view.cells("observation_name", first), view.cells("unit", first)
    own = True
    for at, (variable, unit) in enumerate(zip(variables, units, strict=True)):
        # A code has no unit.
        if unit is None or unit == "":
            continue
        if not isinstance(unit, str):
            raise TypeError(f"unit must be texts; got {type(unit).__name__}")
        symbol, numbered = _mesonet.canonical(variable, unit, None)
        if numbered is None:
            if resolve_unit(unit).state != "ambiguous":
                raise _mesonet.MesonetError(
                    f'invalid unit "{unit}" of {variable}: it must be known and convert to that of the variable'
                )
            left[which == at] = at + 1
        elif symbol != unit:
            if own:
                values, own = values.copy(), False
            rows = which == at
            values[rows] = _mesonet.convert_numbered(values[rows], *map(np.uint8, numbered))
    return values, left


def _places(
    view: Any, station_column: str, names: set[str], station: NDArray[np.int64], ts_ms: NDArray[np.int64]
) -> dict[int, tuple[float | None, float | None, float | None]]:
    """Where each station is, by its newest row that gives a place."""
    columns = [view.numbers(name) if name in names else np.full(ts_ms.size, np.nan) for name in _PLACE]
    found: list[dict[int, float]] = []
    for what, column in zip(_PLACE, columns, strict=True):
        said = np.flatnonzero(~np.isnan(column))
        order = said[np.lexsort((ts_ms[said], station[said]))]
        stations, times, numbers_ = station[order], ts_ms[order], column[order]
        is_last = np.ones(order.size, bool)
        is_last[:-1] = stations[1:] != stations[:-1]
        twice = (stations[1:] == stations[:-1]) & (times[1:] == times[:-1]) & (numbers_[1:] != numbers_[:-1])
        if twice.any():
            at = int(twice.argmax())
            raise _mesonet.MesonetError(
                f"station {view.cells(station_column, order[at : at + 1])[0]} has several values of {what} at "
                f"one time: {numbers_[at]}, {numbers_[at + 1]}"
            )
        found.append(dict(zip(stations[is_last].tolist(), numbers_[is_last].tolist(), strict=True)))
    lon, lat, altitude_m = found
    return {
        of: (lon.get(of), lat.get(of), altitude_m.get(of)) if of in lon and of in lat else (None, None, altitude_m.get(of))
        for of in np.unique(station).tolist()
    }


def _joined(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes of the pairs of two columns of codes."""
    pairs = one * (int(other.max(initial=0)) + 1) + other
    codes: NDArray[np.int64] = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return codes


def _bounds(sorted_codes: NDArray[np.int64]) -> NDArray[np.intp]:
    changes = np.flatnonzero(sorted_codes[1:] != sorted_codes[:-1]) + 1
    ends = [sorted_codes.size] if sorted_codes.size else []
    return np.concatenate([[0], changes, ends]).astype(np.intp) if ends else np.zeros(1, np.intp)


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
    if type(frame).__name__ == "Series":
        raise TypeError("a frame is of pandas, polars or Arrow; got a Series")
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

    def with_verdicts(
        self, base: NDArray[np.uint8], reason: NDArray[np.uint8], is_judged: NDArray[np.bool_], without_place: int
    ) -> Any:
        import pandas  # type: ignore[import-untyped,unused-ignore]

        def column(codes: NDArray[np.uint8], names: list[str]) -> Any:
            return pandas.Categorical.from_codes(np.where(is_judged, codes.astype(np.int8), -1), names, ordered=True)

        checked = self.frame.assign(verdict_base=column(base, _BASES), verdict_reason=column(reason, _REASONS))
        checked.attrs = {**checked.attrs, "rows_without_place": without_place}
        return checked


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

    def with_verdicts(
        self, base: NDArray[np.uint8], reason: NDArray[np.uint8], is_judged: NDArray[np.bool_], without_place: int
    ) -> Any:
        import polars

        def column(name: str, codes: NDArray[np.uint8], names: list[str]) -> Any:
            gathered = polars.Series(name, names, dtype=polars.Enum(names)).gather(codes)
            return gathered if is_judged.all() else gathered.set(polars.Series(~is_judged), None)

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

    def with_verdicts(
        self, base: NDArray[np.uint8], reason: NDArray[np.uint8], is_judged: NDArray[np.bool_], without_place: int
    ) -> Any:
        import pyarrow

        def column(codes: NDArray[np.uint8], names: list[str]) -> Any:
            indices = pyarrow.array(codes.astype(np.int8), mask=~is_judged)
            return pyarrow.DictionaryArray.from_arrays(indices, names, ordered=True)

        metadata = {**(self.table.schema.metadata or {}), "rows_without_place": str(without_place)}
        table = self.table.replace_schema_metadata(metadata)
        for name, codes, names in (("verdict_base", base, _BASES), ("verdict_reason", reason, _REASONS)):
            if name in table.column_names:
                table = table.set_column(table.column_names.index(name), name, column(codes, names))
            else:
                table = table.append_column(name, column(codes, names))
        return table


def _plain(cell: Any) -> Any:
    # Pandas' missing values are of several types; each is unequal to itself or has no truth.
    return None if cell is None or cell is not cell or type(cell).__name__ == "NAType" or cell != cell else cell
