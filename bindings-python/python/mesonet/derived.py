"""Derived values: humidity, heat and cold indices, pressure, wind at 10 m.

All are NumPy ufuncs over float64. If an input is NaN or outside the domain of the formula, the
result is NaN, without a warning.

>>> import numpy as np
>>> from mesonet import wind_chill_c
>>> wind_chill_c(np.array([-25.0, np.nan, 5.0]), 20.0).round()
array([-37.,  nan,  nan])
"""

from . import _mesonet
from ._mesonet import (
    dew_point_c,
    heat_index_c,
    heat_index_f,
    humidex,
    mean_sea_level_pressure_hpa,
    relative_humidity_pct,
    station_pressure_hpa,
    stull_wet_bulb_c,
    wet_bulb_c,
    wind_at_10m,
    wind_chill_c,
    wind_chill_f,
)

__all__ = [
    "dew_point_c",
    "heat_index_c",
    "heat_index_f",
    "humidex",
    "mean_sea_level_pressure_hpa",
    "relative_humidity_pct",
    "roughness_m",
    "station_pressure_hpa",
    "stull_wet_bulb_c",
    "wet_bulb_c",
    "wind_at_10m",
    "wind_chill_c",
    "wind_chill_f",
]


def roughness_m(exposure: str) -> float:
    """Returns the roughness length (metres) of a station's exposure class, for :func:`wind_at_10m`.

    >>> from mesonet import roughness_m
    >>> roughness_m("OpenCountry")
    0.03
    >>> roughness_m("Forest")
    Traceback (most recent call last):
    mesonet.MesonetError: unknown variant `Forest`, expected one of `OpenCountry`, `Suburban`, `OpenWater`
    """
    return _mesonet.roughness_m(exposure)
