"""Surface weather observations: quality codes, packed tiles, winds.

The work is done by the Rust library of the same name; the functions over arrays are NumPy ufuncs
or release the GIL. A value that the library refuses raises :class:`MesonetError`, a ``ValueError``
whose message says what was given and what is allowed; an array of a wrong type raises
``TypeError`` and is never converted silently.

==========================  ====================================================
:class:`BaseQuality`        how far a value can be trusted, worst first
:class:`ReasonQuality`      why a value has its base quality
:func:`worst`               the worst of many codes
:func:`worse`               the worse of two, element by element (ufunc)
:func:`distinct_worst_first`  the distinct codes among many
:func:`decode`              packed int16 to values (ufunc)
:func:`encode`              values to packed int16 (ufunc)
:func:`decode_bytes`        a tile as it comes over the wire to values
:func:`rotate`              grid-relative to earth-relative winds (ufunc)
==========================  ====================================================
"""

from ._mesonet import MesonetError, __version__
from .quality import BaseQuality, ReasonQuality, distinct_worst_first, worse, worst
from .tile import decode, decode_bytes, encode
from .wind import rotate

__all__ = [
    "BaseQuality",
    "MesonetError",
    "ReasonQuality",
    "__version__",
    "decode",
    "decode_bytes",
    "distinct_worst_first",
    "encode",
    "rotate",
    "worse",
    "worst",
]
