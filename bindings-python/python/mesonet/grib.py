"""The fields of GRIB2 files: what they describe, their values, their grids, and xarray.

>>> import mesonet
>>> file = mesonet.read_grib(b"")
>>> len(file), file.refused
(0, ())
"""

import datetime
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from . import _mesonet
from ._grib_dataset import dataset
from ._shown import ShownFields, ShownRows
from .feed import Source, files_of
from .grid import NativeGrid, _numbers
from .wind import rotate

if TYPE_CHECKING:
    import xarray
    from numpy.typing import ArrayLike, NDArray

__all__ = ["GribField", "GribFile", "GribLevel", "GribRefusal", "read_grib", "true_winds"]


class GribLevel(NamedTuple):
    """A level (code table 4.5): 100 is a pressure in Pa, 103 a height above ground in m.

    >>> from mesonet.grib import GribLevel
    >>> str(GribLevel(103, 2.0)), str(GribLevel(1, None))
    ('103:2', '1')
    """

    kind: int
    """The kind of level."""
    value: float | None
    """Its value in the unit of the kind, if it has one."""

    def __str__(self) -> str:
        return f"{self.kind}" if self.value is None else f"{self.kind}:{self.value:g}"


@dataclass(frozen=True, slots=True)
class GribRefusal(ShownFields):
    """A message of a file that cannot be read."""

    number: int
    """Its place in the file among fields and broken messages, from 0."""
    reason: str
    """Why."""


class GribField:
    """One field: a parameter at a level and time on a grid.

    Its members describe it; :attr:`values` unpacks it. If its grid is not supported,
    :attr:`refusal` says why, and members that need the grid raise :class:`mesonet.MesonetError`.
    """

    def __init__(self, file: _mesonet.GribFile, number: int, told: dict[str, Any]) -> None:
        self._file, self._told = file, told
        self.number: int = number
        """Its place in the file among fields and broken messages, from 0."""
        self.parameter: str = told["parameter"]
        """Centre, discipline, category and number: ``7:0.0.0``."""
        self.wgrib2_name: str | None = told["wgrib2_name"]
        """The name of the parameter in wgrib2, such as ``TMP``, if the tables have it."""
        self.eccodes_name: str | None = told["eccodes_name"]
        """The short name of the parameter in ecCodes, such as ``t``, if it is the same for all levels."""
        self.units: str | None = told["units"]
        """The unit of the parameter, if the tables have it."""
        self.level: GribLevel = GribLevel(*told["level"])
        """The level, or the first of the two that bound a layer."""
        self.second_level: GribLevel | None = told["second_level"] and GribLevel(*told["second_level"])
        """The second level of a layer."""
        self.kind: str = told["kind"]
        """The kind of forecast: ``deterministic``, ``member:3``, ``mean``, ``percentile:90`` …"""
        self.reference: datetime.datetime = _instant(told["reference_ms"])
        """The reference time (UTC): for a model, the start of its run."""
        self.valid: datetime.datetime = _instant(told["valid_ms"])
        """The valid time (UTC); for a statistic, the end of its interval."""
        self.interval: datetime.timedelta = datetime.timedelta(milliseconds=told["interval_ms"])
        """The length of the interval of a statistic; 0 for an instant."""
        self.statistic: str | None = told["statistic"]
        """How the values of the interval were combined: ``average``, ``accumulation``, ``maximum`` …"""
        self.packing: int | None = told["packing"]
        """The number of its packing (code table 5.0)."""
        self.refusal: str | None = told.get("refusal")
        """Why its grid cannot be read; None if it can."""

    @property
    def called(self) -> str:
        """Its name: that of ecCodes, else that of wgrib2, else its numbers."""
        return self.eccodes_name or self.wgrib2_name or self.parameter

    def __repr__(self) -> str:
        name = self.called
        over = f", {self.statistic} over {self.interval}" if self.statistic else ""
        return f"<mesonet.GribField: {name} at {self.level}, {self.valid:%Y-%m-%dT%H:%MZ}{over}, {self.kind}>"

    @cached_property
    def grid(self) -> NativeGrid:
        """The grid, in the order of the values: row 0 holds the first point of the message."""
        if self.refusal is not None:
            raise _mesonet.MesonetError(self.refusal)
        return NativeGrid(json.loads(self._told["grid"]))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.grid.rows, self.grid.columns

    @property
    def is_reduced(self) -> bool:
        """Whether the rows of the message differ in length; each cell then has the value of the nearest
        point of its row."""
        return bool(self._told.get("is_reduced"))

    @cached_property
    def values(self) -> "NDArray[np.float32]":
        """The values, rows × columns, unpacked at the first use without the GIL; NaN where missing.

        They are computed in float64 and rounded once. Raises :class:`mesonet.MesonetError` for a
        packing that is not supported, and for more than 2²⁶ points.
        """
        values = self._file.values(self.number)
        values.flags.writeable = False
        return values

    def at(self, lon: "ArrayLike", lat: "ArrayLike") -> "np.float32 | NDArray[np.float32]":
        """The values of the cells that contain given places: numbers or arrays, which broadcast.
        NaN beyond the grid.
        """
        lon, lat = np.broadcast_arrays(_numbers(lon, "lon"), _numbers(lat, "lat"))
        within = ~np.isnan(self.grid.locate(lon, lat).row)
        found = np.full(lon.shape, np.nan, np.float32)
        found[within] = self.values[self.grid.nearest(lon[within], lat[within])]
        return found[()]

    def to_xarray(self, *, name: str | None = None) -> "xarray.DataArray":
        """The ``xarray.DataArray``: values, places, times, and attributes of the CF conventions.

        On a globe of latitudes and longitudes, the places are the coordinates ``latitude`` and
        ``longitude`` of the dimensions. On other grids the dimensions are ``y`` and ``x``, in the
        units of the projection (``projection`` among the attributes, for PROJ), and latitudes and
        longitudes are coordinates of both. Scalar coordinates are ``time`` (the reference time),
        ``valid_time`` and ``step``, as in cfgrib. Winds are as in the message;
        :func:`mesonet.true_winds` turns them. Needs xarray.
        """
        return _array(self, self.values, name, self._told.get("attributes", ()))


class GribFile(Sequence[GribField], ShownRows):
    """The fields of a file, in the order of the file.

    ``refused`` lists what cannot be read: broken messages, edition 1, and products of templates
    that are not supported.
    """

    def __init__(self, file: _mesonet.GribFile) -> None:
        inventory = file.inventory()
        self._fields = [GribField(file, number, told) for number, (told, _) in enumerate(inventory) if told]
        self.refused: tuple[GribRefusal, ...] = tuple(
            GribRefusal(number, reason) for number, (_, reason) in enumerate(inventory) if reason
        )
        """What cannot be read, and why."""

    def __len__(self) -> int:
        return len(self._fields)

    @overload
    def __getitem__(self, index: int) -> GribField: ...
    @overload
    def __getitem__(self, index: slice) -> list[GribField]: ...
    def __getitem__(self, index: int | slice) -> GribField | list[GribField]:
        return self._fields[index]

    def __iter__(self) -> Iterator[GribField]:
        return iter(self._fields)

    def __repr__(self) -> str:
        refused = f", {len(self.refused)} refused" if self.refused else ""
        return f"<mesonet.GribFile: {len(self)} fields{refused}>"

    def _shown(self) -> tuple[list[str], int]:
        return ["name", "level", "second_level", "valid", "statistic", "kind", "units"], len(self)

    def _shown_column(self, name: str, start: int, stop: int) -> Sequence[object]:
        fields = self._fields[start:stop]
        if name == "name":
            return [field.called for field in fields]
        if name == "valid":
            return [f"{field.valid:%Y-%m-%d %H:%MZ}" for field in fields]
        return [getattr(field, name) for field in fields]

    def to_xarray(self, **members: object) -> "xarray.Dataset":
        """The fields as one ``xarray.Dataset``: all, or those that :meth:`select` finds.

        Fields of one parameter, kind of level and statistic are a variable, over ``valid_time``, if the
        file has several, and its levels, if there are several; a combination that the file lacks is
        NaN. ``time`` is the reference time of each valid time. Where runs overlap, the one with the
        most fields counts, or else the latest; ``reference=`` chooses another. It has the name of
        ecCodes; if several variables would have it, the kind of level, the layer, the kind of
        forecast, the statistic and its hours follow. Fields on another grid than most, of an
        overlapping run, that are there twice, or that cannot be read are left out and named in a
        :class:`mesonet.MesonetWarning`. All values are unpacked, so select what you need of a large
        file. Needs xarray.
        """
        return dataset(self.select(**members) if members else self._fields)

    def select(self, **members: object) -> list[GribField]:
        """The fields whose members have these values: ``file.select(eccodes_name="t", level=(103,
        2.0))``.

        A level may also be a text, ``"103:2"``. A name that no field has raises ``TypeError``.
        """
        known = {"parameter", "wgrib2_name", "eccodes_name", "units", "level", "second_level", "kind"}
        known |= {"reference", "valid", "interval", "statistic", "packing"}
        if unknown := members.keys() - known:
            raise TypeError(f"a field has no member {min(unknown)}; it has {', '.join(sorted(known))}")

        def is_meant(field: GribField) -> bool:
            values = ((getattr(field, name), wanted) for name, wanted in members.items())
            return all(value == wanted or isinstance(value, GribLevel) and str(value) == wanted for value, wanted in values)

        return [field for field in self if is_meant(field)]


def read_grib(source: Source) -> GribFile:
    """Reads a GRIB2 file: the fields, their descriptions, and their values on request.

    ``source`` is a path, the content of a file, or an open binary file; content packed with gzip or
    bzip2 is unpacked. It reads grids of latitudes and longitudes, also rotated ones; regular and
    reduced Gaussian grids; and maps in the Mercator, Lambert and polar stereographic projections.
    The packings are 5.0, 5.2, 5.3, 5.4, 5.40, 5.41 and 5.42. :attr:`GribFile.refused` lists what
    cannot be read; the other messages of the file are read all the same.

    Content that does not hold a message of GRIB raises :class:`mesonet.MesonetError`, unless it is
    empty.

    >>> import mesonet
    >>> file = mesonet.read_grib(b"GRIB\\0\\0\\0\\x02\\0\\0\\0\\0\\0\\0\\x01\\0")
    >>> file.refused[0].reason
    'the message is cut short: got 16 of 256 octets'
    >>> mesonet.read_grib(b"hello")
    Traceback (most recent call last):
    mesonet.MesonetError: content: it holds no GRIB message
    """
    [(name, content, *_)] = files_of([source], None, None)
    if content and b"GRIB" not in content:
        raise _mesonet.MesonetError(f"{name}: it holds no GRIB message")
    return GribFile(_mesonet.GribFile(content))


def true_winds(u: GribField, v: GribField) -> "tuple[xarray.DataArray, xarray.DataArray]":
    """Two components of a wind, towards true east and north, as xarray's ``DataArray``.

    ``u`` and ``v`` come from one file or from two. They have the same grid, level, times and kind,
    and ``v`` is the parameter after ``u`` in its table (0.2.2 and 0.2.3). If the winds of the grid
    are along its axes, they are turned (:func:`mesonet.rotate`); otherwise they are already along
    east and north.

    Raises :class:`mesonet.MesonetError` if the fields are not such a pair.
    """
    for what in ["level", "second_level", "valid", "reference", "interval", "statistic", "kind", "grid"]:
        first, second = getattr(u, what), getattr(v, what)
        if first != second:
            raise _mesonet.MesonetError(f"u and v must have the same {what}; got {first} and {second}")
    numbers = u._told["numbers"]
    if v._told["numbers"] != (*numbers[:3], numbers[3] + 1):
        raise _mesonet.MesonetError(
            f"v must be the parameter after u, such as 0.2.3 after 0.2.2; got {u.parameter} and {v.parameter}"
        )
    names = {"x_wind": "eastward_wind", "y_wind": "northward_wind"}
    turned = (u.values, v.values)
    if u.grid.definition["grid_relative_winds"]:
        cos, sin = u.grid.wind_rotations()
        east, north = rotate(cos, sin, u.values.astype(np.float64), v.values.astype(np.float64))
        turned = (east.astype(np.float32), north.astype(np.float32))
    made = []
    for field, values in zip((u, v), turned, strict=True):
        attributes = [(name, names.get(text, text)) for name, text in field._told["attributes"]]
        made.append(_array(field, values, None, attributes))
    return made[0], made[1]


def _instant(ms: int) -> datetime.datetime:
    return datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(milliseconds=ms)


def _array(
    field: GribField, values: "NDArray[np.float32]", name: str | None, attributes: Iterable[tuple[str, str]]
) -> "xarray.DataArray":
    try:
        import xarray
    except ImportError as error:
        raise ImportError("to_xarray needs xarray: pip install xarray") from error
    grid, definition = field.grid, field.grid.definition
    lon, lat = grid.positions()
    east = {"standard_name": "longitude", "units": "degrees_east"}
    north = {"standard_name": "latitude", "units": "degrees_north"}
    coordinates: dict[str, Any] = {}
    if definition["projection"] in ("lat_lon", "gaussian"):
        dimensions = ("latitude", "longitude")
        # Longitudes from -180 would jump; along a row they must run on.
        along = np.unwrap(lon[0], period=360.0)
        coordinates |= {"latitude": ("latitude", lat[:, 0], north), "longitude": ("longitude", along, east)}
    else:
        dimensions = ("y", "x")
        x, y = grid.first_xy
        unit = "degrees" if definition["projection"] == "rotated_lat_lon" else "m"
        of = {"degrees": ("grid_longitude", "grid_latitude")}.get(
            unit, ("projection_x_coordinate", "projection_y_coordinate")
        )
        along_x = x + np.arange(grid.columns) * definition["column_step"]
        along_y = y + np.arange(grid.rows) * definition["row_step"]
        coordinates |= {
            "x": ("x", along_x, {"standard_name": of[0], "units": unit, "axis": "X"}),
            "y": ("y", along_y, {"standard_name": of[1], "units": unit, "axis": "Y"}),
            "latitude": (dimensions, lat, north),
            "longitude": (dimensions, lon, east),
        }
    reference, valid = (np.datetime64(at.replace(tzinfo=None), "ns") for at in (field.reference, field.valid))
    coordinates |= {
        "time": ((), reference, {"standard_name": "forecast_reference_time"}),
        "valid_time": ((), valid, {"standard_name": "time"}),
        "step": ((), valid - reference, {"standard_name": "forecast_period"}),
    }
    told = dict(attributes) | {
        "GRIB_parameter": field.parameter,
        "GRIB_level": str(field.level) + (f" to {field.second_level}" if field.second_level else ""),
        "GRIB_kind": field.kind,
        "projection": grid.proj_string,
    }
    if field.statistic:
        told["GRIB_statistic"] = f"{field.statistic} over {field.interval}"
    return xarray.DataArray(values, coordinates, dimensions, name or field.called, told)
