"""Which stations, readings and alerts are meant, as the service takes it."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from .._mesonet import MesonetError

BBox: TypeAlias = tuple[float, float, float, float]
"""West, south, east, north; west is greater than east across the antimeridian."""


class StationFilter(TypedDict, total=False):
    """Which stations are meant: those that match everything that is given."""

    near: tuple[float, float]
    """Longitude and latitude of a place, with ``radius_km``, ``nearest`` or both."""
    radius_km: float
    """Only stations at most this far from the place."""
    nearest: int
    """Only this many of the stations that match, those nearest to the place."""
    regions: Sequence[str]
    """States and provinces by postal code, for example ``["NY", "ON"]``."""
    country: str
    """``CA`` or ``US``."""
    networks: Sequence[str]
    """Networks by name."""
    station_types: Sequence[str]
    """Exposure classes: ``OpenCountry``, ``Suburban``, ``OpenWater``."""
    variables: Sequence[str]
    """Only stations with series of all these variables."""
    min_altitude_m: float
    """Only stations at least this high above mean sea level."""
    max_altitude_m: float
    """Only stations at most this high."""


class LiveFilter(StationFilter, total=False):
    """What :meth:`mesonet.Client.live` narrows the events by. Of ``near``, readings and verdicts need
    ``radius_km``; without it, the place is that of alerts.
    """

    names: Sequence[str]
    """Variables of readings and verdicts."""
    bbox: BBox
    """A box of stations and alerts."""
    station_ids: Sequence[str]
    """Stations of readings and verdicts by any of their ids, in place of what else chooses them."""
    lon: float
    """With ``lat``: a place of alerts."""
    lat: float
    """With ``lon``."""
    codes: Sequence[str]
    """Zones of alerts."""
    severity: Sequence[str]
    """Severities of alerts: ``Extreme``, ``Severe``, ``Moderate``, ``Minor``, ``Unknown``."""
    lang: Literal["en", "fr"]
    """Language of alerts."""


Query: TypeAlias = tuple[tuple[str, str], ...]


def parameters(**given: str | None) -> Query:
    """Those parameters that are given."""
    return tuple((name, value) for name, value in given.items() if value is not None)


def sides(bbox: BBox) -> BBox:
    if len(bbox) != 4:
        raise MesonetError(f"a box is west, south, east, north; got {len(bbox)} numbers")
    west, south, east, north = (float(side) for side in bbox)
    if not (abs(west) <= 180 and abs(east) <= 180 and -90 <= south <= north <= 90):
        raise MesonetError(
            "a box must have longitudes from -180 to 180, and latitudes from -90 to 90 with the "
            f"south first; got {(west, south, east, north)}"
        )
    return west, south, east, north


_FILTER = {
    "radius_km": "radiusKm",
    "nearest": "nearest",
    "regions": "state",
    "country": "country",
    "networks": "network",
    "station_types": "stationType",
    "variables": "variable",
    "min_altitude_m": "minAltitude",
    "max_altitude_m": "maxAltitude",
}
"""The parameter of the service for each name of a filter."""

_LIVE = {
    "names": "names",
    "bbox": "bbox",
    "station_ids": "stationIds",
    "lon": "lon",
    "lat": "lat",
    "codes": "codes",
    "severity": "severity",
    "lang": "lang",
}
"""The same for what only :class:`LiveFilter` has."""

_LISTS = {"regions", "networks", "station_types", "variables", "names", "station_ids", "codes", "severity"}


def filter_query(filter: StationFilter) -> Query:
    """A filter of stations as parameters."""
    return _query(filter, _FILTER)


def live_query(filter: LiveFilter) -> Query:
    """What narrows the events of a stream, as parameters."""
    if "near" in filter and ("lon" in filter or "lat" in filter):
        raise MesonetError("a place is given twice; give either near or lon and lat")
    return _query(filter, {name: of for name, of in _FILTER.items() if name != "nearest"} | _LIVE)


def _query(filter: Mapping[str, Any], known: Mapping[str, str]) -> Query:
    query = []
    for name, value in filter.items():
        if value is None:
            continue
        if name == "near":
            lon, lat = (float(degrees) for degrees in value)
            query += [("lon", repr(lon)), ("lat", repr(lat))]
        elif name not in known:
            allowed = ", ".join(["near", *known])
            raise TypeError(f"unknown argument {name}; allowed are {allowed}")
        elif name in _LISTS:
            if isinstance(value, str):
                raise TypeError(f"{name} must be a list of texts; got one text")
            query.append((known[name], ",".join(value)))
        elif name == "bbox":
            query.append(("bbox", ",".join(map(repr, sides(value)))))
        else:
            query.append((known[name], str(value)))
    return tuple(query)


def box(bbox: BBox | None) -> Query:
    if bbox is None:
        return ()
    names = ("minLon", "minLat", "maxLon", "maxLat")
    return tuple((name, repr(side)) for name, side in zip(names, sides(bbox), strict=True))
