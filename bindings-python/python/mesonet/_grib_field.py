"""One field of a GRIB file: what it describes, its grid, its values, and as an array of xarray."""

import datetime
import json
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _mesonet
from ._optional import need
from .grid import NativeGrid, _numbers

if TYPE_CHECKING:
    import xarray
    from numpy.typing import ArrayLike, NDArray
    from xarray import DataArray


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
        return as_array(self, self.values, name, self._told.get("attributes", ()))


def _instant(ms: int) -> datetime.datetime:
    return datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(milliseconds=ms)


def as_array(
    field: GribField, values: "NDArray[np.float32]", name: str | None, attributes: Iterable[tuple[str, str]]
) -> "xarray.DataArray":
    """Values on the grid of a field as an ``xarray.DataArray``; see :meth:`mesonet.GribField.to_xarray`."""
    xarray = need("xarray", "to_xarray")
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
    array: DataArray = xarray.DataArray(values, coordinates, dimensions, name or field.called, told)
    return array
