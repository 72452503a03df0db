"""Winds between a grid's axes and true north.

With u and v the components along the grid's axes, and cos and sin the cell's rotation, the
earth-relative components are ``cos * u + sin * v`` and ``-sin * u + cos * v``. The rotation depends
only on the cell, so it broadcasts over levels and times.

>>> import numpy as np
>>> from mesonet import rotate
>>> u, v = rotate(0.0, 1.0, np.array([0.0, 5.0]), np.array([10.0, 0.0]))
>>> u.tolist(), v.tolist()
([10.0, 0.0], [0.0, -5.0])
"""

from . import _mesonet
from ._labelled import PairFunction

rotate = PairFunction(_mesonet.rotate, (None, None, "1", "1"), None, "eastward_wind", "northward_wind")

__all__ = ["rotate"]
