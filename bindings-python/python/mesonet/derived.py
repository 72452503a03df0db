"""Derived values: humidity, heat and cold indices, pressure, wind at 10 m.

All are NumPy ufuncs over float64 that know their units (:class:`mesonet.UnitFunction`). If an input is NaN or
outside the domain of the formula, the result is NaN, without a warning.

>>> import numpy as np
>>> from mesonet import wind_chill_c
>>> wind_chill_c(np.array([-25.0, np.nan, 5.0]), 20.0).round()
array([-37.,  nan,  nan])
"""

from . import _mesonet
from ._labelled import UnitFunction

dew_point_c = UnitFunction(_mesonet.dew_point_c, ("°C", "%"), "°C", "dew_point_temperature")
heat_index_c = UnitFunction(_mesonet.heat_index_c, ("°C", "%"), "°C")
heat_index_f = UnitFunction(_mesonet.heat_index_f, ("°F", "%"), "°F")
humidex = UnitFunction(_mesonet.humidex, ("°C", "°C"), "1")
mean_sea_level_pressure_hpa = UnitFunction(
    _mesonet.mean_sea_level_pressure_hpa, ("hPa", "m", "°C"), "hPa", "air_pressure_at_mean_sea_level"
)
relative_humidity_pct = UnitFunction(_mesonet.relative_humidity_pct, ("°C", "°C"), "%", "relative_humidity")
station_pressure_hpa = UnitFunction(_mesonet.station_pressure_hpa, ("hPa", "m"), "hPa", "surface_air_pressure")
stull_wet_bulb_c = UnitFunction(_mesonet.stull_wet_bulb_c, ("°C", "%"), "°C", "wet_bulb_temperature")
wet_bulb_c = UnitFunction(_mesonet.wet_bulb_c, ("hPa", "°C", "°C"), "°C", "wet_bulb_temperature")
wind_at_10m = UnitFunction(_mesonet.wind_at_10m, (None, "m", "m"), None, "wind_speed")
wind_chill_c = UnitFunction(_mesonet.wind_chill_c, ("°C", "km/h"), "°C")
wind_chill_f = UnitFunction(_mesonet.wind_chill_f, ("°F", "mph"), "°F")

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
