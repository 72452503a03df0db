"""The answers of the service: tables of columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from .. import answers
from .._mesonet import BASE_QUALITY_NAMES, REASON_QUALITY_NAMES, MesonetError
from .._optional import need
from .._shown import ShownRows

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]
    import polars
    from polars import DataFrame
    import pyarrow  # type: ignore[import-untyped,unused-ignore]
    import xarray
    from xarray import Dataset
    from numpy.typing import NDArray

__all__ = ["About", "ServiceTable"]

_CODES = {"quality_base": BASE_QUALITY_NAMES, "quality_reason": REASON_QUALITY_NAMES}


class About(TypedDict, total=False):
    """What is said once of all rows of a :class:`ServiceTable`: of a series all that the service says
    except its readings, of a grid ``step`` and ``coarsening``."""

    bucketMetadata: dict[str, answers.Bucket]
    firstAppearance: str
    intervalMinutes: int
    intervalType: answers.IntervalType
    name: str
    prettyName: str
    reportedUnit: str
    stationId: str
    timeZone: str
    unit: str
    step: int
    coarsening: answers.Coarsening


@dataclass(frozen=True, eq=False)
class ServiceTable(ShownRows):
    """Columns of one length, as NumPy arrays, with the other parts of the answer.

    ``timestamp`` is datetime64[us] in UTC; ``quality_base`` and ``quality_reason`` are codes of
    :class:`mesonet.BaseQuality` and :class:`mesonet.ReasonQuality`. Frames have the names of the
    codes instead, worst first, so that ``frame[frame.quality_base >= "Good"]`` works in pandas.
    Columns that the bulk export has too are named as there.

    >>> import numpy as np
    >>> from mesonet import ServiceTable
    >>> table = ServiceTable({"value": np.array([1.5, 2.5]), "quality_base": np.array([6, 3], np.uint8)})
    >>> table
    <mesonet.ServiceTable: 2 rows of value, quality_base>
    >>> table["value"].mean()
    np.float64(2.0)
    >>> table.to_pandas().quality_base.tolist()
    ['Good', 'Doubtful']
    """

    columns: "Mapping[str, NDArray[Any]]"
    """The columns, by name."""
    about: About | None = None
    """Properties of all rows: for a series its unit and interval, for a grid its ``step`` and
    ``coarsening``."""
    damaged: int = 0
    """How many damaged blocks of the record hold, or may hold, rows that are missing here."""
    replay: str | None = None
    """The time on the clock of a service that replays old data; None for a live one."""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> "NDArray[Any]":
        try:
            return self.columns[name]
        except KeyError:
            known = ", ".join(self.columns)
            raise KeyError(f"no column {name!r}; there are {known}") from None

    def __repr__(self) -> str:
        missing = f", {self.damaged} damaged blocks missing" if self.damaged else ""
        return f"<mesonet.ServiceTable: {len(self)} rows of {', '.join(self.columns)}{missing}>"

    def _shown(self) -> tuple[list[str], int]:
        return list(self.columns), len(self)

    def _shown_column(self, name: str, start: int, stop: int) -> Sequence[object]:
        values = self.columns[name][start:stop]
        return [_CODES[name][code] for code in values] if name in _CODES else list(values)

    def to_pandas(self) -> "pandas.DataFrame":
        """The ``pandas.DataFrame``. Times have the zone UTC, quality codes are ordered categories,
        and ``attrs`` holds ``damaged`` and ``replay`` where there are any.
        """
        pandas = need("pandas", "ServiceTable.to_pandas")
        frame = pandas.DataFrame({name: self._pandas(pandas, name) for name in self.columns})
        frame.attrs = self._attributes()
        return frame

    def to_arrow(self) -> "pyarrow.Table":
        """The ``pyarrow.Table``; quality codes are dictionaries."""
        pyarrow = need("pyarrow", "ServiceTable.to_arrow")
        columns = {name: self._arrow(pyarrow, name) for name in self.columns}
        said = {f"mesonet.{name}": str(value) for name, value in self._attributes().items()}
        return pyarrow.table(columns).replace_schema_metadata(said or None)

    def to_polars(self) -> "polars.DataFrame":
        """The ``polars.DataFrame``; quality codes are of the type ``Enum``, worst first."""
        polars = need("polars", "ServiceTable.to_polars")
        columns: dict[str, Any] = {}
        for name, column in self.columns.items():
            if name in _CODES:
                names = np.array(_CODES[name], object)[column].tolist()
                columns[name] = polars.Series(name, names, dtype=polars.Enum(_CODES[name]))
            elif column.dtype.kind == "M":
                columns[name] = polars.Series(name, column).dt.replace_time_zone("UTC")
            else:
                given = column.tolist() if column.dtype == object else column
                columns[name] = polars.Series(name, given)
        frame: DataFrame = polars.DataFrame(columns)
        return frame

    def to_xarray(self) -> "xarray.Dataset":
        """The readings of a grid as an ``xarray.Dataset`` over ``station`` and ``time``.

        There is a variable for each name, NaN where a cell is empty, and beside it ``NAME_age_s``
        (seconds, NaN) and ``NAME_quality`` (codes; 7, Unknown, where a cell is empty). Only
        readings that were requested with a ``step`` are on a grid.
        """
        xarray = need("xarray", "ServiceTable.to_xarray")
        if "position" not in self.columns:
            raise MesonetError("only readings on a grid can be an xarray.Dataset; ask for a step")
        station, row = np.unique(self["station_id"], return_inverse=True)
        time, column = np.unique(self["position"], return_inverse=True)
        made: Dataset = xarray.Dataset(coords={"station": station, "time": time.astype("M8[ns]")})
        for name in dict.fromkeys(self["observation_name"]):
            of = np.flatnonzero(self["observation_name"] == name)
            cells = (row[of], column[of])
            shape = (len(station), len(time))
            value, age = np.full(shape, np.nan), np.full(shape, np.nan)
            quality = np.full(shape, len(BASE_QUALITY_NAMES) - 1, np.uint8)
            value[cells], age[cells] = self["value"][of], self["age_s"][of]
            quality[cells] = self["quality_base"][of]
            made[name] = ("station", "time"), value
            made[f"{name}_age_s"] = ("station", "time"), age, {"units": "s"}
            made[f"{name}_quality"] = (
                ("station", "time"),
                quality,
                {
                    "flag_values": np.arange(len(BASE_QUALITY_NAMES), dtype=np.uint8),
                    "flag_meanings": " ".join(BASE_QUALITY_NAMES),
                },
            )
        return made.assign_attrs(self._attributes())

    def _attributes(self) -> dict[str, int | str]:
        said = {"damaged": self.damaged or None, "replay": self.replay}
        return {name: value for name, value in said.items() if value is not None}

    def _pandas(self, pandas: Any, name: str) -> Any:
        column = self.columns[name]
        if name in _CODES:
            dtype = pandas.CategoricalDtype(_CODES[name], ordered=name == "quality_base")
            return pandas.Categorical.from_codes(column.astype(np.int8), dtype=dtype)
        if column.dtype.kind == "M":
            return pandas.Series(column).dt.tz_localize("UTC")
        return column

    def _arrow(self, pyarrow: Any, name: str) -> Any:
        column = self.columns[name]
        if name in _CODES:
            indices = pyarrow.array(column.astype(np.int8))
            return pyarrow.DictionaryArray.from_arrays(indices, _CODES[name])
        if column.dtype.kind == "M":
            return pyarrow.array(column, pyarrow.timestamp("us", "UTC"))
        return pyarrow.array(column)


def utc(texts: Sequence[str]) -> "NDArray[np.datetime64]":
    """The times of an answer, which all end with Z."""
    return np.array([text.removesuffix("Z") for text in texts], "M8[us]")


def texts(of: Sequence[Any]) -> "NDArray[Any]":
    """A column of Python objects of any kind."""
    column = np.empty(len(of), object)
    column[:] = of
    return column
