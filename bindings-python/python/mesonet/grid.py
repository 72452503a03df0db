"""The native grid of a model: rows and columns, the places of cells, the rotation of their winds.

>>> from mesonet import NativeGrid
>>> hrrr = NativeGrid({
...     "rows": 1059, "columns": 1799,
...     "projection": "lambert_conformal", "radius_m": 6371229.0,
...     "origin_lat": 38.5, "central_lon": 262.5, "parallels": [38.5, 38.5],
...     "first_lon": 237.280472, "first_lat": 21.138123,
...     "column_step": 3000.0, "row_step": 3000.0, "grid_relative_winds": True,
... })
>>> hrrr.nearest(-105.2705, 40.015)
Cell(row=595, column=679)
>>> lon, lat = hrrr.position(595, 679)
>>> round(lon, 4), round(lat, 4)
(-105.2636, 40.027)
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar, overload

import numpy as np

from . import _mesonet
from ._columns import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Cell", "GridDefinition", "NativeGrid", "Position", "Rotation"]


Of = TypeVar("Of")


class Cell(NamedTuple, Generic[Of]):
    """Rows and columns, from 0: numbers for a place, arrays for several."""

    row: Of
    column: Of


class Position(NamedTuple, Generic[Of]):
    """Longitudes, from -180 to just below 180, and latitudes in degrees: numbers or arrays."""

    lon: Of
    lat: Of


class Rotation(NamedTuple, Generic[Of]):
    """Cosine and sine of the rotation of a grid's axes, as :func:`mesonet.rotate` takes them."""

    cos: Of
    sin: Of


class GridDefinition(TypedDict):
    """The definition of a grid; which members there are besides depends on ``projection``."""

    rows: int
    columns: int
    projection: Literal[
        "lambert_conformal", "polar_stereographic", "mercator", "lat_lon", "gaussian", "rotated_lat_lon"
    ]
    first_lon: float
    first_lat: float
    column_step: float
    row_step: float
    grid_relative_winds: bool
    radius_m: NotRequired[float]
    flattening: NotRequired[float]
    origin_lat: NotRequired[float]
    central_lon: NotRequired[float]
    true_lat: NotRequired[float]
    south: NotRequired[bool]
    parallels: NotRequired[list[float] | int]
    south_pole_lat: NotRequired[float]
    south_pole_lon: NotRequired[float]


class NativeGrid:
    """The native grid of a model, made from the definition that the service gives.

    ``definition`` has the members ``rows``, ``columns``, ``first_lon``, ``first_lat`` (of the cell
    at row 0, column 0; on a rotated globe, in rotated coordinates), ``column_step``,
    ``row_step`` (metres on a map, degrees on a globe), ``grid_relative_winds``, and ``projection``
    with what it needs:

    =======================  ======================================================
    ``lambert_conformal``    ``radius_m``, ``origin_lat``, ``central_lon``, ``parallels``
    ``polar_stereographic``  ``radius_m``, ``south``, ``central_lon``, ``true_lat``
    ``mercator``             ``radius_m``, ``central_lon``, ``true_lat``
    ``lat_lon``
    ``gaussian``             ``parallels`` (from a pole to the equator); ``row_step`` is 1 or -1
    ``rotated_lat_lon``      ``south_pole_lat``, ``south_pole_lon``
    =======================  ======================================================

    A map of an ellipsoid also has ``flattening``; its ``radius_m`` is the semi-major axis. Other
    members are ignored. Missing or invalid members raise :class:`mesonet.MesonetError`.

    Arguments of the methods are numbers or arrays, which broadcast; numbers give numbers. The
    longitude goes before the latitude, and the row before the column. Rows and columns are
    integers, and negative ones do not count from the end. A longitude beyond ±180 or a latitude
    beyond ±90 raises :class:`mesonet.MesonetError`; an array of a wrong type raises ``TypeError``.

    >>> from mesonet import NativeGrid, rotate
    >>> gfs = NativeGrid({
    ...     "rows": 73, "columns": 144, "projection": "lat_lon", "first_lon": 0.0, "first_lat": 90.0,
    ...     "column_step": 2.5, "row_step": -2.5, "grid_relative_winds": False,
    ... })
    >>> gfs
    <mesonet.NativeGrid: lat_lon, 73 rows of 144>
    >>> gfs.nearest([-79.4, -0.1], [43.7, 51.5])
    Cell(row=array([19, 15]), column=array([112,   0]))
    >>> NativeGrid({"rows": 73})
    Traceback (most recent call last):
    mesonet.MesonetError: columns of a grid must be a whole number that is not negative; got nothing
    """

    __slots__ = ("_grid",)

    def __init__(self, definition: Mapping[str, object]) -> None:
        if not isinstance(definition, Mapping):
            raise TypeError(f"a definition must be a mapping; got {type(definition).__name__}")
        self._grid = _mesonet.NativeGrid(dict(definition))

    @property
    def rows(self) -> int:
        """Number of rows, ny."""
        return self._grid.rows()

    @property
    def columns(self) -> int:
        """Number of columns, nx."""
        return self._grid.columns()

    @property
    def definition(self) -> GridDefinition:
        """The definition of the grid, without ignored members."""
        definition: GridDefinition = json.loads(self._grid.definition())
        return definition

    @property
    def proj_string(self) -> str:
        """The projection as a PROJ string, for pyproj, cartopy, rasterio.

        With x, y from :attr:`first_xy`, the cell at a row and column is at
        ``x + column * column_step``, ``y + row * row_step``: metres on a map, degrees on a globe.
        """
        return self._grid.proj_string()

    @property
    def first_xy(self) -> tuple[float, float]:
        """x and y of the cell at row 0, column 0 in the coordinates of :attr:`proj_string`."""
        return self._grid.first_xy()

    @overload
    def locate(self, lon: float, lat: float) -> Cell[float]: ...
    @overload
    def locate(self, lon: "ArrayLike", lat: "ArrayLike") -> "Cell[NDArray[np.float64]]": ...
    def locate(self, lon: "ArrayLike", lat: "ArrayLike") -> "Cell[float] | Cell[NDArray[np.float64]]":
        """Returns fractional rows and columns of positions, as float64.

        NaN for NaN and for a position beyond the grid, that is, more than half a cell beyond the
        outermost centres.
        """
        return Cell(*_each(self._grid.locate, _numbers(lon, "lon"), _numbers(lat, "lat")))

    @overload
    def nearest(self, lon: float, lat: float) -> Cell[int]: ...
    @overload
    def nearest(self, lon: "ArrayLike", lat: "ArrayLike") -> "Cell[NDArray[np.int64]]": ...
    def nearest(self, lon: "ArrayLike", lat: "ArrayLike") -> "Cell[int] | Cell[NDArray[np.int64]]":
        """Returns integer rows and columns of the cells whose centres are nearest along the axes.

        They index a field: ``field[grid.nearest(lon, lat)]``. A position beyond the grid raises
        :class:`mesonet.MesonetError`, whose message says where it would be; :meth:`locate` gives
        NaN there.
        """
        return Cell(*_each(self._grid.nearest, _numbers(lon, "lon"), _numbers(lat, "lat")))

    @overload
    def position(self, row: int, column: int) -> Position[float]: ...
    @overload
    def position(self, row: "ArrayLike", column: "ArrayLike") -> "Position[NDArray[np.float64]]": ...
    def position(self, row: "ArrayLike", column: "ArrayLike") -> "Position[float] | Position[NDArray[np.float64]]":
        """Returns the centres of cells. A cell that is not on the grid raises
        :class:`mesonet.MesonetError`.
        """
        return Position(
            *_each(self._grid.position, _integers(row, "row"), _integers(column, "column"))
        )

    @overload
    def wind_rotation(self, row: int, column: int) -> Rotation[float]: ...
    @overload
    def wind_rotation(self, row: "ArrayLike", column: "ArrayLike") -> "Rotation[NDArray[np.float64]]": ...
    def wind_rotation(
        self, row: "ArrayLike", column: "ArrayLike"
    ) -> "Rotation[float] | Rotation[NDArray[np.float64]]":
        """Returns the rotation of the winds of cells to true north, for :func:`mesonet.rotate`.

        It is 1 and 0 if the winds are already earth-relative. A cell that is not on the grid raises
        :class:`mesonet.MesonetError`.
        """
        return Rotation(
            *_each(self._grid.wind_rotation, _integers(row, "row"), _integers(column, "column"))
        )

    def positions(self) -> "Position[NDArray[np.float64]]":
        """Returns the centres of all cells: two arrays of rows × columns."""
        return Position(*self._grid.positions())

    def wind_rotations(self) -> "Rotation[NDArray[np.float64]]":
        """Returns the rotation of the winds of all cells: two arrays of rows × columns."""
        return Rotation(*self._grid.wind_rotations())

    def __repr__(self) -> str:
        projection = self.definition["projection"]
        return f"<mesonet.NativeGrid: {projection}, {self.rows} rows of {self.columns}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NativeGrid):
            return NotImplemented
        return self._grid.definition() == other._grid.definition()

    def __hash__(self) -> int:
        return hash(self._grid.definition())

    def __reduce__(self) -> tuple[type["NativeGrid"], tuple[GridDefinition]]:
        return NativeGrid, (self.definition,)


def _each(run: Any, first: "NDArray[Any]", second: "NDArray[Any]") -> tuple[Any, Any]:
    """Runs over two arrays that broadcast; arrays without dimensions become numbers."""
    first, second = np.broadcast_arrays(first, second)
    one, other = run(np.ravel(first), np.ravel(second))
    if first.ndim == 0:
        return one.item(), other.item()
    return one.reshape(first.shape), other.reshape(first.shape)


def _numbers(given: "ArrayLike", what: str) -> "NDArray[np.float64]":
    array = plain(given, what)
    if array.dtype.kind not in "iuf" or not np.can_cast(array.dtype, np.float64):
        raise TypeError(f"{what} must be numbers; got {array.dtype}")
    return array.astype(np.float64, copy=False)


def _integers(given: "ArrayLike", what: str) -> "NDArray[np.int64]":
    array = plain(given, what)
    if not np.can_cast(array.dtype, np.int64) or array.dtype.kind not in "iu":
        raise TypeError(f"{what} must be integers; got {array.dtype}")
    return array.astype(np.int64, copy=False)
