"""The service's quality checks over columns, and explanations of their verdicts.

>>> import numpy as np
>>> from mesonet import SeriesReadings, check_station
>>> hours = np.arange("2021-01-15T00", "2021-01-15T03", dtype="M8[h]")
>>> air = SeriesReadings("airTemperature", "Instantaneous", 0, hours, [-12.0, -11.5, 140.0])
>>> [verdicts] = check_station(-135.07, 60.71, 706.0, [air])
>>> verdicts.base
array([6, 6, 2], dtype=uint8)
>>> verdicts.reason
array([0, 0, 3], dtype=uint8)
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import _mesonet
from ._columns import column, milliseconds, numbers
from ._mesonet import DEFAULT_LIMITS_TOML
from .explanation import Explanation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DEFAULT_LIMITS_TOML",
    "NetworkStation",
    "SeriesReadings",
    "Verdicts",
    "check_network",
    "check_station",
    "explain",
]


@dataclass(frozen=True, eq=False)
class SeriesReadings:
    """The readings of one series at one station: columns of the same length, ascending in time.

    >>> from mesonet import SeriesReadings, check_station
    >>> wind = SeriesReadings("windSpeed", "Average", 2, [0, 60_000], [18.0, 500.0])
    >>> check_station(-79.63, 43.68, None, [wind])[0].base.tolist()
    [6, 2]
    """

    variable: str
    """Name of the variable: ``airTemperature``."""
    interval_type: str
    """How a value represents its interval: ``Instantaneous``, ``Average``, ``Cumulative`` …"""
    interval_minutes: int
    """Length of averaging or accumulation; 0 for instantaneous."""
    times: "ArrayLike"
    """int64 milliseconds since 1970, or datetime64 of any unit, truncated to milliseconds. NaT is
    refused."""
    values: "ArrayLike"
    """Numbers; NaN for no value."""
    calculated: bool = False
    """Whether the values were derived rather than received."""
    reported_unit: str | None = None
    """Unit of the values, if it is not the canonical one of the variable."""
    bucket: str = ""
    """Label of a bucket, for a grouped series."""
    source_base: "ArrayLike | None" = None
    """The source's verdict on each reading: uint8 base codes, with ``source_reason``."""
    source_reason: "ArrayLike | None" = None
    """Its uint8 reason codes."""


class Verdicts(NamedTuple):
    """The verdicts on the readings of one series, in their order."""

    base: "NDArray[np.uint8]"
    """Codes of :class:`mesonet.BaseQuality`."""
    reason: "NDArray[np.uint8]"
    """Codes of :class:`mesonet.ReasonQuality`."""


def check_station(
    lon: float,
    lat: float,
    altitude_m: float | None,
    series: Iterable[SeriesReadings],
    *,
    limits: str | None = None,
) -> list[Verdicts]:
    """Runs all checks, except the comparison with neighbours, over all series of one station.

    Returns the verdicts of each series, in the order given. ``limits`` is a TOML text whose entries
    replace the default ones (:data:`mesonet.DEFAULT_LIMITS_TOML`). Invalid positions, columns of
    different lengths, times that do not ascend, unknown names, and invalid limits raise
    :class:`mesonet.MesonetError`.

    >>> from mesonet import SeriesReadings, check_station
    >>> air = SeriesReadings("airTemperature", "Instantaneous", 0, [0], [-20.0])
    >>> check_station(0.0, 91.0, None, [air])
    Traceback (most recent call last):
    mesonet.MesonetError: latitude must be from -90 to 90; got 91
    >>> check_station(0.0, 50.0, None, [air], limits="[record.mslp]\\nbounds = [1084, 870]")
    Traceback (most recent call last):
    mesonet.MesonetError: line 2 of the limits: the lower bound must be below the upper; got [1084, 870]
    """
    columns = [_columns(of) for of in series]
    lon, lat, altitude_m = _place(lon, lat, altitude_m)
    return [Verdicts(*of) for of in _mesonet.check_station(lon, lat, altitude_m, columns, limits)]


@dataclass(frozen=True, eq=False)
class NetworkStation:
    """A station of a network, for :func:`check_network`.

    >>> from mesonet import NetworkStation
    >>> NetworkStation(-79.63, 43.68, 173.0, []).altitude_m
    173.0
    """

    lon: float
    """Degrees east."""
    lat: float
    """Degrees north."""
    altitude_m: float | None
    """Altitude above mean sea level, if known. Some values are compared only where it is known."""
    series: Iterable[SeriesReadings]
    """Its series; no two of the same variable, interval, unit and bucket."""


def check_network(
    stations: Iterable[NetworkStation], *, limits: str | None = None
) -> list[list[Verdicts]]:
    """Runs all checks, including the comparison with neighbours, over the series of a network.

    Returns for each station, in the order given, the verdicts of each of its series. A service that
    takes in these readings and no others gives the same verdicts: each reading, and each large
    change, is compared with the readings of the stations around it at that time. ``limits`` and the
    errors are those of :func:`check_station`; a station that has a series twice is refused too.

    >>> from mesonet import NetworkStation, SeriesReadings, check_network
    >>> stations = [
    ...     NetworkStation(-100.0, 45.0 + 0.09 * place, 200.0,
    ...                    [SeriesReadings("airTemperature", "Instantaneous", 0, [0], [value])])
    ...     for place, value in enumerate([20.0, 20.5, 19.5, 38.0, 20.0, 20.5, 19.0])]
    >>> [int(of[0].base[0]) for of in check_network(stations)]
    [6, 6, 6, 3, 6, 6, 6]
    """
    given = [_site(of) for of in stations]
    return [[Verdicts(*one) for one in of] for of in _mesonet.check_network(given, limits)]


def explain(
    lon: float,
    lat: float,
    altitude_m: float | None,
    series: Iterable[SeriesReadings],
    which_series: int,
    which_reading: int,
    *,
    neighbours: Iterable[NetworkStation] | None = None,
    limits: str | None = None,
) -> Explanation:
    """Explains one reading: inputs, limits with their sources, and outcome of each check.

    Gives the same checks in the same order as :func:`check_station`, as the object that the service
    sends: a mapping that prints as a table. With ``neighbours``, the stations around, it gives the
    checks of :func:`check_network`; each neighbour is named by its position in the list, from 1. A
    missing reading raises :class:`mesonet.MesonetError`.

    >>> from mesonet import SeriesReadings, explain
    >>> air = SeriesReadings("airTemperature", "Instantaneous", 0, [0], [140.0])
    >>> explanation = explain(-135.07, 60.71, 706.0, [air], 0, 0)
    >>> explanation["verdict"], explanation["decidedBy"]
    ({'baseQuality': 'Error', 'reasonQuality': 'Range'}, 'range')
    >>> [check["check"] for check in explanation["checks"] if check["ran"]]
    ['value', 'range', 'record']
    """
    columns = [_columns(of) for of in series]
    lon, lat, altitude_m = _place(lon, lat, altitude_m)
    if neighbours is None:
        text = _mesonet.explain(lon, lat, altitude_m, columns, which_series, which_reading, limits)
    else:
        sites = [(lon, lat, altitude_m, columns), *map(_site, neighbours)]
        text = _mesonet.explain_network(sites, which_series, which_reading, limits)
    return Explanation(json.loads(text))


def _site(of: NetworkStation) -> tuple[float, float, float | None, list[SimpleNamespace]]:
    return *_place(of.lon, of.lat, of.altitude_m), [_columns(one) for one in of.series]


def _place(lon: float, lat: float, altitude_m: float | None) -> tuple[float, float, float | None]:
    for what, given in (("lon", lon), ("lat", lat), ("altitude_m", altitude_m)):
        if not isinstance(given, (int, float, np.integer, np.floating)) and (what != "altitude_m" or given is not None):
            raise TypeError(f"{what} must be a number; got {type(given).__name__}")
    return lon, lat, altitude_m


def _columns(of: SeriesReadings) -> SimpleNamespace:
    # The extension takes contiguous columns of exactly the types of the core.
    if (of.source_base is None) != (of.source_reason is None):
        raise TypeError("source_base and source_reason go together; got only one")
    source = None
    if of.source_base is not None and of.source_reason is not None:
        source = (_codes(of.source_base, "source_base"), _codes(of.source_reason, "source_reason"))
    return SimpleNamespace(
        variable=of.variable,
        interval_type=of.interval_type,
        interval_minutes=of.interval_minutes,
        calculated=of.calculated,
        reported_unit=of.reported_unit,
        bucket=of.bucket,
        ts_ms=milliseconds(of.times),
        value=numbers(of.values),
        source=source,
    )


def _codes(given: "ArrayLike", what: str) -> "NDArray[np.uint8]":
    array = column(given, what)
    if array.dtype != np.uint8:
        raise TypeError(f"{what} must be uint8; got {array.dtype}")
    return np.ascontiguousarray(array)
