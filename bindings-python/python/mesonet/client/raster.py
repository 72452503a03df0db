"""Raster products."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._optional import need
from ._files import written_whole

if TYPE_CHECKING:
    import rasterio.io  # type: ignore[import-untyped,unused-ignore]
    import xarray
    from xarray import DataArray

__all__ = ["Raster"]


@dataclass(frozen=True, eq=False)
class Raster:
    """A Cloud Optimized GeoTIFF.

    >>> from mesonet import Raster
    >>> Raster(b"II*\\0", "/api/v1/products/reflectivity")
    <mesonet.Raster: 4 bytes of /api/v1/products/reflectivity>
    """

    content: bytes = field(repr=False)
    """The bytes of the file."""
    location: str
    """An address that always names this file."""

    def __repr__(self) -> str:
        return f"<mesonet.Raster: {len(self.content)} bytes of {self.location}>"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file, which appears under its name only once it is whole."""
        with written_whole(path) as part:
            part.write_bytes(self.content)
        return Path(path)

    def open(self) -> "rasterio.io.DatasetReader":
        """Opens it with rasterio, as a context manager: ``with raster.open() as dataset``."""
        # It keeps the bytes for as long as the dataset is open.
        memory = need("rasterio", "Raster.open").MemoryFile(self.content)
        return memory.open()

    def to_xarray(self, *, overview: int | None = None) -> "xarray.DataArray":
        """The values as an ``xarray.DataArray`` over ``y`` and ``x`` (centres of the pixels in the
        file's own coordinates), NaN where there is no value. ``overview`` reads a coarser level; 0
        is the finest of them. Needs rasterio.
        """
        xarray, numpy = need("xarray", "Raster.to_xarray"), need("numpy", "Raster.to_xarray")
        rasterio = need("rasterio", "Raster.to_xarray")
        levels = {} if overview is None else {"overview_level": overview}
        with rasterio.MemoryFile(self.content) as memory, memory.open(**levels) as file:
            raw, valid = file.read(1), file.read_masks(1) > 0
            values = numpy.where(valid, raw * file.scales[0] + file.offsets[0], numpy.nan)
            step_x, _, west, _, step_y, north = tuple(file.transform)[:6]
            rows, columns = values.shape
            coords = {
                "y": north + (numpy.arange(rows) + 0.5) * step_y,
                "x": west + (numpy.arange(columns) + 0.5) * step_x,
            }
            about = {"crs": file.crs.to_wkt(), **file.tags(), **file.tags(1)}
            if file.units and file.units[0]:
                about["units"] = file.units[0]
            made: DataArray = xarray.DataArray(values, coords, ("y", "x"), attrs=about)
            return made
