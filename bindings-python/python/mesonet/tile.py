"""Packed 16-bit tiles: ``value = raw * scale + offset``, unless raw is the nodata value.

:func:`decode` and :func:`encode` are NumPy ufuncs: scalars, broadcasting (one scale per level,
say), ``out=``, ``where=`` and pandas work as with NumPy's own.

>>> import numpy as np
>>> from mesonet import decode
>>> tile = np.array([[-1000, 0], [-32768, 50]], np.int16)
>>> decode(tile, 0.01, 273.15, -32768)
array([[263.15, 273.15],
       [   nan, 273.65]])
>>> float(decode(1752, 0.01, 273.15, -32768))
290.66999999999996
>>> decode(70000, 0.01, 273.15, -32768)
Traceback (most recent call last):
mesonet.MesonetError: raw must be an integer from -32768 to 32767; got 70000
"""

from typing import TYPE_CHECKING

from . import _mesonet
from ._mesonet import decode, encode

if TYPE_CHECKING:
    import numpy as np
    from _typeshed import ReadableBuffer
    from numpy.typing import NDArray

__all__ = ["decode", "decode_bytes", "encode"]


def decode_bytes(
    data: "ReadableBuffer", scale: float, offset: float, nodata: int
) -> "NDArray[np.float64]":
    """Returns the values of a tile from the service: 16-bit little-endian integers.

    ``data`` is ``bytes`` or another buffer of bytes; the result is one-dimensional, NaN where
    the integer is ``nodata``. Raises :class:`mesonet.MesonetError` for an odd number of bytes, a
    scale of 0, and a scale or offset that is not finite.

    >>> from mesonet import decode_bytes
    >>> decode_bytes(bytes([5, 0, 0, 1, 0, 128]), 0.5, 10.0, -32768).tolist()
    [12.5, 138.0, nan]
    >>> decode_bytes(b"abc", 0.5, 10.0, -32768)
    Traceback (most recent call last):
    mesonet.MesonetError: a tile is pairs of bytes; got 3 bytes
    """
    return _mesonet.decode_bytes(data, scale, offset, nodata)
