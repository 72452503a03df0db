"""The answers of the model service, as numbers and as xarray."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import answers
from .._mesonet import MesonetError
from .._optional import need
from .._shown import ShownFields
from ..tile import decode_bytes
from .table import utc

if TYPE_CHECKING:
    import xarray
    from xarray import DataArray, Dataset
    from numpy.typing import NDArray

__all__ = ["ModelPoint", "ModelSeries", "Tile"]

SOUNDING_FIELDS = (
    "temperature",
    "dew_point",
    "dew_point_depression",
    "relative_humidity",
    "specific_humidity",
    "geopotential_height",
    "u_wind",
    "v_wind",
)
_TILE_PIXELS = 256


@dataclass(frozen=True, eq=False)
class ModelPoint(ShownFields):
    """Values of one cell at one time.

    >>> from mesonet import ModelPoint
    >>> point = ModelPoint({
    ...     "run": "20180917T000000Z", "hour": 0, "valid_time": "2018-09-17T00:00:00Z",
    ...     "row": 37, "col": 68, "lat": 43.547, "lon": -79.721,
    ...     "fields": {"temperature": {"unit": "K", "levels_hpa": [1000, 500], "values": [297.5, None]}},
    ... })
    >>> point["temperature"]
    array([297.5,   nan])
    >>> point.to_xarray().temperature.sel(level_hpa=1000).item()
    297.5
    """

    json: answers.ModelPoint
    """The object as the service sent it."""

    def __getitem__(self, name: str) -> "float | NDArray[np.float64]":
        """A value, or the values on the levels of a field; NaN where there is no value."""
        of = _field(self.json["fields"], name)
        if "values" in of:
            return _numbers(of["values"])
        return float(_numbers([of["value"]])[0])

    @property
    def valid_time(self) -> str:
        """The time of the values."""
        return str(self.json["valid_time"])

    def to_xarray(self) -> "xarray.Dataset":
        """An ``xarray.Dataset``: a variable for each field, over ``level_hpa`` if it has levels; run,
        time and place are coordinates.
        """
        xarray = need("xarray", "ModelPoint.to_xarray")
        made = {}
        for name, of in self.json["fields"].items():
            if "values" in of:
                coords = {"level_hpa": ("level_hpa", of["levels_hpa"], {"units": "hPa"})}
                one = xarray.DataArray(self[name], coords, ("level_hpa",))
            else:
                one = xarray.DataArray(self[name])
            made[name] = one.assign_attrs(units=of["unit"])
        # Products may have different levels.
        fields: Dataset = xarray.merge([one.rename(name) for name, one in made.items()], join="outer")
        if "level_hpa" in fields.coords:
            fields = fields.sortby("level_hpa", ascending=False)
        return fields.assign_coords(
            valid_time=utc([self.json["valid_time"]]).astype("M8[ns]")[0], **_place(self.json)
        )


@dataclass(frozen=True, eq=False)
class ModelSeries(ShownFields):
    """Values of one cell over the hours of a run.

    >>> from mesonet import ModelSeries
    >>> series = ModelSeries({
    ...     "run": "20100308T120000Z", "row": 58, "col": 97, "lat": -30.1, "lon": 25.0,
    ...     "fields": {"precipitable_water": {"unit": "kg/m²", "levels_hpa": None, "series": [
    ...         {"hour": 0, "valid_time": "2010-03-08T12:00:00Z", "value": 17.73}]}},
    ... })
    >>> series["precipitable_water"]
    array([17.73])
    """

    json: answers.ModelSeries
    """The object as the service sent it."""

    def __getitem__(self, name: str) -> "NDArray[np.float64]":
        """The values of a field over time, or over time and levels; NaN where there is no value."""
        of = _field(self.json["fields"], name)
        return _numbers([one["values"] if "values" in one else one["value"] for one in of["series"]])

    def times(self, name: str) -> "NDArray[np.datetime64]":
        """The times of a field."""
        of = _field(self.json["fields"], name)
        return utc([one["valid_time"] for one in of["series"]])

    def to_xarray(self) -> "xarray.Dataset":
        """An ``xarray.Dataset`` over ``valid_time``, and ``level_hpa`` if a field has levels; NaN where
        a field lacks an hour.
        """
        xarray = need("xarray", "ModelSeries.to_xarray")
        made = []
        for name, of in self.json["fields"].items():
            values = self[name]
            coords: dict[str, Any] = {"valid_time": self.times(name).astype("M8[ns]")}
            if values.ndim == 2:
                coords["level_hpa"] = ("level_hpa", of["levels_hpa"], {"units": "hPa"})
            dims = ("valid_time", "level_hpa")[: values.ndim]
            one = xarray.DataArray(values, coords, dims, name, attrs={"units": of["unit"]})
            made.append(one)
        merged: Dataset = xarray.merge(made, join="outer")
        return merged.assign_coords(_place(self.json))


@dataclass(frozen=True, eq=False)
class Tile:
    """The values of a web Mercator tile, decoded by :func:`mesonet.decode_bytes`.

    >>> from mesonet import Tile
    >>> encoding = {"scale": 0.01, "offset": 273.15, "nodata": -32768}
    >>> product = {"unit": "K", "encoding": encoding}
    >>> tile = Tile.decoded(b"\\x18\\xfc" * 65536, "temperature_2m", product, (0, 0, 0), "latest")
    >>> tile
    <mesonet.Tile: temperature_2m 0/0/0 in K>
    >>> float(tile.values[0, 0])
    263.15
    """

    name: str
    """The product."""
    unit: str
    """The unit of the values."""
    address: tuple[int, int, int]
    """z, x, y."""
    run: str
    """The run of the values."""
    values: "NDArray[np.float64]" = field(repr=False)
    """Rows from north to south, columns from west to east; NaN where there is no value."""

    @staticmethod
    def decoded(
        content: bytes, name: str, product: answers.ModelProduct, address: tuple[int, int, int], run: str
    ) -> "Tile":
        """Decodes the bytes of a tile by the packing of its product."""
        if len(content) != 2 * _TILE_PIXELS**2:
            raise MesonetError(f"a tile has {2 * _TILE_PIXELS**2} bytes; got {len(content)}")
        packing = product["encoding"]
        values = decode_bytes(content, packing["scale"], packing["offset"], packing["nodata"])
        shape = (_TILE_PIXELS, _TILE_PIXELS)
        return Tile(name, product["unit"], address, run, values.reshape(shape))

    def __repr__(self) -> str:
        return f"<mesonet.Tile: {self.name} {'/'.join(map(str, self.address))} in {self.unit}>"

    @property
    def lon(self) -> "NDArray[np.float64]":
        """The longitudes of the centres of the columns."""
        return (self._across(self.address[1]) - 0.5) * 360.0

    @property
    def lat(self) -> "NDArray[np.float64]":
        """The latitudes of the centres of the rows, from north to south."""
        y = (0.5 - self._across(self.address[2])) * 2.0 * np.pi
        return np.degrees(np.arctan(np.sinh(y)))

    def to_xarray(self) -> "xarray.DataArray":
        """An ``xarray.DataArray`` over ``lat`` (from north to south) and ``lon``."""
        xarray = need("xarray", "Tile.to_xarray")
        coords = {"lat": self.lat, "lon": self.lon}
        about = {"units": self.unit, "run": self.run}
        made: DataArray = xarray.DataArray(self.values, coords, ("lat", "lon"), self.name, attrs=about)
        return made

    def _across(self, index: int) -> "NDArray[np.float64]":
        return (index + (np.arange(_TILE_PIXELS) + 0.5) / _TILE_PIXELS) / 2.0 ** self.address[0]


def _field(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if name not in fields:
        raise KeyError(f"no field {name!r}; there are {', '.join(fields)}")
    found: Mapping[str, Any] = fields[name]
    return found


def _numbers(of: Any) -> "NDArray[np.float64]":
    # None becomes NaN.
    return np.array(of, np.float64)


def _place(of: Mapping[str, Any]) -> dict[str, Any]:
    return {name: of[name] for name in ("run", "row", "col", "lat", "lon") if name in of}
