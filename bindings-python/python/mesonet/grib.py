"""The fields of GRIB2 files: what they describe, their values, their grids, and xarray.

>>> import mesonet
>>> file = mesonet.read_grib(b"")
>>> len(file), file.refused
(0, ())
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

import numpy as np

from . import _mesonet
from ._grib_dataset import dataset
from ._grib_field import GribField, GribLevel, as_array
from ._shown import ShownFields, ShownRows
from .feed import Source, files_of
from .wind import rotate

if TYPE_CHECKING:
    import xarray

__all__ = ["GribField", "GribFile", "GribLevel", "GribRefusal", "read_grib", "true_winds"]


@dataclass(frozen=True, slots=True)
class GribRefusal(ShownFields):
    """A message of a file that cannot be read."""

    number: int
    """Its place in the file among fields and broken messages, from 0."""
    reason: str
    """Why."""


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
        made.append(as_array(field, values, None, attributes))
    return made[0], made[1]
