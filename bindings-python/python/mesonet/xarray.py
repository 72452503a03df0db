"""The accessor ``mesonet`` of xarray: winds to true north, units, and the cell at a place.

``import mesonet.xarray`` registers it for datasets and arrays. It works on runs of the service's
store (``xarray.open_zarr``), on other datasets with a :class:`mesonet.NativeGrid`, and lazily on dask.

>>> import numpy as np, xarray, mesonet, mesonet.xarray
>>> grid = mesonet.NativeGrid({
...     "rows": 2, "columns": 3, "projection": "lat_lon", "first_lon": -80.0, "first_lat": 43.0,
...     "column_step": 1.0, "row_step": 1.0, "grid_relative_winds": False,
... })
>>> field = (("y", "x"), [[280.0, 281.0, 282.0], [283.0, 284.0, 285.0]], {"units": "K"})
>>> run = xarray.Dataset({"temperature_2m": field})
>>> warm = run.mesonet.to_units(temperature_2m="°C")
>>> warm.mesonet.sel_place(lat=43.9, lon=-79.2, grid=grid).temperature_2m.item()
10.850000000000023
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray

from ._mesonet import MesonetError
from .grid import NativeGrid
from .unit import IN_UNIT, convert, resolve_unit
from .wind import rotate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["DataArrayAccessor", "DatasetAccessor"]

_ROWS = {"projection_y_coordinate", "grid_latitude", "latitude"}
_COLUMNS = {"projection_x_coordinate", "grid_longitude", "longitude"}


@xarray.register_dataset_accessor("mesonet")  # type: ignore[no-untyped-call,unused-ignore]
class DatasetAccessor:
    """``dataset.mesonet``."""

    def __init__(self, dataset: xarray.Dataset) -> None:
        self._dataset = dataset

    @property
    def grid(self) -> NativeGrid:
        """The native grid of a run of the service's store, from the attributes of the dataset.

        >>> import xarray, mesonet.xarray
        >>> xarray.Dataset().mesonet.grid
        Traceback (most recent call last):
        mesonet.MesonetError: the dataset does not say what its grid is; pass grid=mesonet.NativeGrid(…)
        """
        try:
            definition = self._dataset.attrs["mesonet"]["definition"]["grid"]
        except (KeyError, TypeError):
            raise MesonetError(
                "the dataset does not say what its grid is; pass grid=mesonet.NativeGrid(…)"
            ) from None
        return NativeGrid(definition)

    def rotate_winds(
        self,
        pairs: Sequence[tuple[str, str]] | None = None,
        *,
        grid: NativeGrid | None = None,
    ) -> xarray.Dataset:
        """Turns wind components from the axes of the grid towards true east and north.

        ``pairs`` names the variables, u first. By default these are all variables whose standard
        names are ``x_wind`` and ``y_wind``, paired by their names (``u_wind_10m`` and
        ``v_wind_10m``). Their standard names become ``eastward_wind`` and ``northward_wind``, so a
        second call does not turn them again. Lazy on dask. A pair of different shapes, or one
        component alone, raises :class:`mesonet.MesonetError`.

        >>> import numpy as np, xarray, mesonet, mesonet.xarray
        >>> grid = mesonet.NativeGrid({
        ...     "rows": 65, "columns": 93, "projection": "lambert_conformal", "radius_m": 6371229.0,
        ...     "origin_lat": 25.0, "central_lon": 265.0, "parallels": [25.0, 25.0],
        ...     "first_lon": 226.541, "first_lat": 12.19, "column_step": 81271.0,
        ...     "row_step": 81271.0, "grid_relative_winds": True})
        >>> still = np.zeros((65, 93))
        >>> run = xarray.Dataset({
        ...     "u_wind": (("y", "x"), still, {"standard_name": "x_wind"}),
        ...     "v_wind": (("y", "x"), still + 10.0, {"standard_name": "y_wind"})})
        >>> turned = run.mesonet.rotate_winds(grid=grid)
        >>> turned.u_wind.attrs["standard_name"], turned.u_wind.isel(y=37, x=68).round(3).item()
        ('eastward_wind', 1.125)
        """
        dataset = self._dataset
        pairs = _pairs(dataset) if pairs is None else list(pairs)
        for name in (name for pair in pairs for name in pair):
            if name not in dataset:
                raise MesonetError(f"no variable {name!r}; there are {_names(dataset)}")
        if not pairs:
            return dataset
        grid = grid or self.grid
        if not grid.definition["grid_relative_winds"]:
            raise MesonetError("the winds of this grid are towards true east and north already")
        turned = {}
        for name_u, name_v in pairs:
            u, v = dataset[name_u], dataset[name_v]
            if u.dims != v.dims:
                raise MesonetError(f"{name_u} has the dimensions {u.dims}, {name_v} {v.dims}")
            dims = _rows_and_columns(u, grid)
            cos, sin = (xarray.DataArray(of, dims=dims) for of in grid.wind_rotations())
            east, north = xarray.apply_ufunc(
                rotate,
                cos,
                sin,
                u,
                v,
                output_core_dims=((), ()),
                dask="parallelized",
                output_dtypes=(np.float64, np.float64),
            )
            for name, of, made, standard in (
                (name_u, u, east, "eastward_wind"),
                (name_v, v, north, "northward_wind"),
            ):
                attrs = {**of.attrs, "standard_name": standard}
                turned[name] = made.transpose(*of.dims).assign_attrs(attrs)
        return dataset.assign(turned)

    def to_units(self, units: Mapping[str, str] | None = None, **by_name: str) -> xarray.Dataset:
        """Variables in other units, by name. Each variable has its present unit in the attribute
        ``units``.

        Lazy on dask. A variable without a unit, an unknown or ambiguous one, or one of another
        dimension raises :class:`mesonet.MesonetError`.

        >>> import xarray, mesonet.xarray
        >>> run = xarray.Dataset({"gust": ("x", [10.0], {"units": "m/s"})})
        >>> run.mesonet.to_units(gust="kt").gust.round(2).item()
        19.44
        >>> run.mesonet.to_units({"gust": "K"})
        Traceback (most recent call last):
        mesonet.MesonetError: gust: m/s (metre per second) measures speed, K (kelvin) temperature; allowed are two units of one dimension
        """
        made = {}
        for name, unit in {**(units or {}), **by_name}.items():
            if name not in self._dataset:
                raise MesonetError(f"no variable {name!r}; there are {_names(self._dataset)}")
            made[name] = _converted(self._dataset[name], unit, name)
        return self._dataset.assign(made)

    def sel_place(
        self, lat: "ArrayLike", lon: "ArrayLike", *, grid: NativeGrid | None = None
    ) -> xarray.Dataset:
        """The cells whose centres are nearest to places, with their own ``lat`` and ``lon``.

        Numbers select one cell; arrays select one cell per place, along a new dimension ``place``.
        The grid is that of a run of the store, or ``grid``. A dataset with one-dimensional
        coordinates of latitude and longitude needs no grid. A place beyond the grid raises
        :class:`mesonet.MesonetError`.

        >>> import numpy as np, xarray, mesonet.xarray
        >>> field = xarray.DataArray(np.arange(6.0).reshape(2, 3), dims=("lat", "lon"), name="t",
        ...     coords={"lat": [50.0, 49.0], "lon": [0.0, 1.0, 2.0]})
        >>> field.to_dataset().mesonet.sel_place(lat=[49.9, 49.2], lon=[1.6, 0.1]).t.values
        array([2., 3.])
        >>> field.to_dataset().mesonet.sel_place(lat=30, lon=1)
        Traceback (most recent call last):
        mesonet.MesonetError: latitude 30.0 is not on the grid, which has centres from 49.0 to 50.0
        """
        return _cells(self._dataset, lat, lon, grid, lambda: self.grid)


@xarray.register_dataarray_accessor("mesonet")  # type: ignore[no-untyped-call,unused-ignore]
class DataArrayAccessor:
    """``array.mesonet``."""

    def __init__(self, array: xarray.DataArray) -> None:
        self._array = array

    def to_units(self, unit: str) -> xarray.DataArray:
        """The values in another unit; the present one is the attribute ``units``.

        >>> import xarray, mesonet.xarray
        >>> xarray.DataArray([273.15], attrs={"units": "K"}).mesonet.to_units("°C").attrs
        {'units': '°C'}
        """
        return _converted(self._array, unit, str(self._array.name or "the array"))

    def sel_place(
        self, lat: "ArrayLike", lon: "ArrayLike", *, grid: NativeGrid | None = None
    ) -> xarray.DataArray:
        """The cells nearest to places: see :meth:`DatasetAccessor.sel_place`. An array does not say
        what its grid is: pass ``grid``, unless the array has coordinates of latitude and longitude.
        """
        name = self._array.name
        dataset = self._array.to_dataset(name="_field")
        cells = _cells(dataset, lat, lon, grid, lambda: dataset.mesonet.grid)
        return cells["_field"].rename(name)


def _converted(array: xarray.DataArray, unit: str, name: str) -> xarray.DataArray:
    present = array.attrs.get("units")
    if present is None:
        raise MesonetError(f"{name} does not say its unit; set attrs['units']")
    try:
        # On dask nothing is converted yet, but errors are raised now.
        convert(0.0, present, unit)
        made = xarray.apply_ufunc(
            convert,
            array,
            kwargs={"from_unit": present, "to_unit": unit},
            dask="parallelized",
            output_dtypes=[array.dtype if array.dtype.kind == "f" else np.float64],
        )
        # A unit that values can be converted to has a symbol; a mere number has none.
        kept = {name: said for name, said in array.attrs.items() if name not in IN_UNIT or name == "packing_error"}
        attrs = {**kept, "units": (*resolve_unit(unit).units, unit)[0]}
        if "packing_error" in attrs:
            # An error is a difference, so the zeros of temperature scales cancel out.
            error = np.array([attrs["packing_error"], 0.0])
            at, zero = convert(error, present, unit)
            attrs["packing_error"] = float(at - zero)
    except MesonetError as error_:
        raise MesonetError(f"{name}: {error_}") from error_
    converted: xarray.DataArray = made.copy(deep=False)
    converted.attrs = attrs
    return converted


def _names(dataset: xarray.Dataset) -> str:
    return ", ".join(map(str, dataset.data_vars))


def _pairs(dataset: xarray.Dataset) -> list[tuple[str, str]]:
    """Components along the grid's axes, by their standard names and their own."""
    of = {"x_wind": [], "y_wind": []}  # type: dict[str, list[str]]
    for name, array in dataset.data_vars.items():
        if array.attrs.get("standard_name") in of:
            of[array.attrs["standard_name"]].append(str(name))
    pairs = []
    for name in of["x_wind"]:
        # The first u of a name: u_wind_10m, wind_u, ugrd, 10u.
        others = {name[:at] + "v" + name[at + 1 :] for at, letter in enumerate(name) if letter == "u"}
        found = [other for other in of["y_wind"] if other in others]
        if len(found) != 1:
            raise MesonetError(f"{name} has no counterpart among {of['y_wind']}; pass pairs")
        pairs.append((name, found[0]))
    if left := set(of["y_wind"]) - {v for _, v in pairs}:
        raise MesonetError(f"{sorted(left)[0]} has no counterpart among {of['x_wind']}; pass pairs")
    return pairs


def _rows_and_columns(of: "xarray.DataArray | xarray.Dataset", grid: NativeGrid) -> tuple[str, str]:
    """The dimensions of rows and columns: by the standard names of their coordinates, else y and x,
    or latitude and longitude."""
    found = []
    for names, standard, axis in (
        (("y", "lat", "latitude", "rlat"), _ROWS, "Y"),
        (("x", "lon", "longitude", "rlon"), _COLUMNS, "X"),
    ):
        said = [
            dim
            for dim in of.dims
            if dim in of.coords
            and (of[dim].attrs.get("axis") == axis or of[dim].attrs.get("standard_name") in standard)
        ]
        found += (said or [dim for dim in of.dims if dim in names])[:1]
    if len(found) != 2:
        raise MesonetError(f"rows and columns are not among the dimensions {tuple(of.dims)}")
    sizes = (of.sizes[found[0]], of.sizes[found[1]])
    if sizes != (grid.rows, grid.columns):
        raise MesonetError(
            f"the grid has {grid.rows} rows of {grid.columns}; the data has {sizes[0]} of {sizes[1]}"
        )
    return str(found[0]), str(found[1])


def _cells(
    dataset: xarray.Dataset, lat: Any, lon: Any, grid: NativeGrid | None, own: Any
) -> xarray.Dataset:
    lon, lat = np.broadcast_arrays(np.asarray(lon, np.float64), np.asarray(lat, np.float64))
    if lon.ndim > 1:
        raise MesonetError(f"places must have at most one dimension; got {lon.ndim}")
    dims = () if lon.ndim == 0 else ("place",)
    if grid is None and "mesonet" not in dataset.attrs and (axes := _lat_lon_axes(dataset)):
        row = _nearest(dataset[axes[0]].values, lat, "latitude", None)
        column = _nearest(dataset[axes[1]].values, lon, "longitude", 360.0)
        return dataset.isel(
            {axes[0]: xarray.DataArray(row, dims=dims), axes[1]: xarray.DataArray(column, dims=dims)}
        )
    grid = grid or own()
    name_y, name_x = _rows_and_columns(dataset, grid)
    row, column = grid.nearest(lon, lat)
    centre = grid.position(row, column)
    return dataset.isel(
        {name_y: xarray.DataArray(row, dims=dims), name_x: xarray.DataArray(column, dims=dims)}
    ).assign_coords(lon=(dims, centre.lon), lat=(dims, centre.lat))


def _lat_lon_axes(dataset: xarray.Dataset) -> tuple[str, str] | None:
    for names in (("lat", "lon"), ("latitude", "longitude")):
        if all(name in dataset.coords and dataset[name].ndim == 1 for name in names):
            return names
    return None


def _nearest(centres: Any, of: Any, what: str, circle: float | None) -> Any:
    """The index of the nearest centre, at most half a step beyond the outermost ones."""
    distance = np.abs(centres - np.asarray(of)[..., None])
    if circle is not None:
        distance = np.minimum(distance % circle, circle - distance % circle)
    index = distance.argmin(-1)
    step = np.abs(np.diff(centres)).max() if centres.size > 1 else np.inf
    beyond = distance.min(-1) > step / 2
    if beyond.any():
        first = np.asarray(of)[beyond].flat[0] if np.ndim(of) else float(of)
        raise MesonetError(
            f"{what} {float(first)} is not on the grid, which has centres from "
            f"{float(centres.min())} to {float(centres.max())}"
        )
    return index
