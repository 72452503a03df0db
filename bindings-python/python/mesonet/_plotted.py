"""What is drawn, whichever library draws it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._columns import floats
from ._mesonet import BASE_QUALITY_NAMES, MesonetError
from .unit import convert

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .client.summaries import Summaries


# The panels of a meteogram: the unit of each, and its lines. A line has a label for each variable that may
# be drawn as it; the first that there is is drawn.
_PANELS: dict[str, tuple[str, list[dict[str, str]]]] = {
    "temperature": (
        "°C",
        [{"airTemperature": "air"}, {"dewPointTemperature": "dew point"}, {"seaSurfaceTemperature": "sea surface"}],
    ),
    "humidity": ("%", [{"relativeHumidity": "relative humidity"}]),
    "wind": (
        "km/h",
        [{"windSpeed10m": "wind at 10 m", "windSpeed": "wind"}, {"windGust10m": "gust", "windGust": "gust"}],
    ),
    "pressure": ("hPa", [{"mslp": "sea-level pressure", "altimeterSetting": "altimeter setting"}]),
    "precipitation": ("mm", [{"precipitation": "precipitation", "rainfall": "rainfall"}]),
}
_UNITS = {name: unit for unit, lines in _PANELS.values() for line in lines for name in line} | {"windDirection": "°"}


class SeriesOfStation(dict[str, "tuple[NDArray[np.datetime64], NDArray[np.float64]]"]):
    """Times and values by variable; ``minutes`` has the interval of each, None if it is not known."""

    def __init__(self) -> None:
        super().__init__()
        self.minutes: dict[str, int | None] = {}


def series_of_station(readings: Any, at_least: str) -> SeriesOfStation:
    """One series for each variable that is drawn, of the readings of one station."""
    if at_least not in BASE_QUALITY_NAMES:
        raise MesonetError(f"at_least must be one of {', '.join(BASE_QUALITY_NAMES)}; got {at_least!r}")
    names = _column(readings, "observation_name")
    times, values = _column(readings, "timestamp"), _column(readings, "value")
    if names is None or times is None or values is None:
        raise MesonetError("the readings must have the columns observation_name, timestamp and value")
    times = np.asarray(times).astype("M8[ms]")
    values = np.asarray(values, np.float64)
    for of_station in ("station_id", "station"):
        stations = _column(readings, of_station)
        if stations is not None and len(set(stations.tolist())) > 1:
            some = ", ".join(sorted(map(str, set(stations.tolist())))[:3])
            raise MesonetError(f"the readings must be of one station; got {some} …")
    good = np.isfinite(values)
    quality = _column(readings, "quality_base")
    if quality is not None:
        codes = {name: code for code, name in enumerate(BASE_QUALITY_NAMES)}
        numbers = np.array([codes.get(of, of) for of in quality.tolist()], np.uint8)
        good &= numbers >= codes[at_least]
    keys, lengths = _keys(readings, len(values)), _minutes(readings, len(values))
    units = _column(readings, "unit")
    found = SeriesOfStation()
    for name in _UNITS:
        of = good & (names == name)
        if not of.any():
            continue
        # NaN, an interval that is not known, comes last.
        shortest = np.sort(lengths[of])[0]
        of &= (lengths == shortest) | (np.isnan(lengths) & np.isnan(shortest))
        # A grid repeats a reading.
        counts = {key: len(np.unique(times[of & (keys == key)])) for key in dict.fromkeys(keys[of].tolist())}
        of &= keys == max(counts, key=lambda key: counts[key])
        at, first = np.unique(times[of], return_index=True)
        drawn = values[of] if units is None else _converted(values[of], units[of], name)
        found[name] = (at, drawn[first])
        found.minutes[name] = None if np.isnan(shortest) else int(shortest)
    return found


@dataclass(frozen=True)
class Panel:
    """What a panel of a meteogram shows."""

    name: str
    """``temperature``, ``humidity``, ``wind``, ``pressure`` or ``precipitation``."""
    unit: str
    """The unit of its axis; of amounts, with their interval if it is known."""
    lines: dict[str, str]
    """The labels of the variables that are drawn."""


def panels_of(of: SeriesOfStation) -> list[Panel]:
    """The panels for which there is something to draw."""
    panels = []
    for name, (unit, choices) in _PANELS.items():
        found = [next((variable for variable in line if variable in of), None) for line in choices]
        lines = {variable: line[variable] for variable, line in zip(found, choices, strict=True) if variable is not None}
        if not lines:
            continue
        minutes = of.minutes[next(iter(lines))]
        panels.append(Panel(name, f"mm in {minutes} min" if unit == "mm" and minutes else unit, lines))
    if not panels:
        raise MesonetError("the readings have no temperature, humidity, wind, pressure or precipitation to draw")
    return panels


def _keys(readings: Any, count: int) -> "NDArray[Any]":
    """What tells apart the series of a variable, as far as the columns have it."""
    keys = np.full(count, "", object)
    for name in ("type_id", "series_id", "interval_type", "group_bucket_name", "calculated"):
        column = _column(readings, name)
        if column is not None:
            keys += [f"{of};" for of in column.tolist()]
    return keys


def _minutes(readings: Any, count: int) -> "NDArray[np.float64]":
    """The interval of each reading: 0 for an instant, NaN if it is not known."""
    minutes, kinds = _column(readings, "interval_minutes"), _column(readings, "interval_type")
    if minutes is None:
        return np.full(count, np.nan)
    lengths = np.asarray(minutes, np.float64)
    if kinds is not None:
        lengths = np.where((lengths == 0) & (kinds != "Instantaneous"), np.nan, lengths)
    return lengths


def _converted(values: "NDArray[np.float64]", units: "NDArray[Any]", name: str) -> "NDArray[np.float64]":
    """Values of a variable in the unit that it is drawn in."""
    wanted, made = _UNITS[name], np.empty_like(values)
    given = np.array([unit if isinstance(unit, str) else "" for unit in units.tolist()], object)
    for unit in dict.fromkeys(given.tolist()):
        try:
            made[given == unit] = convert(values[given == unit], unit, wanted, liquid_water=True)
        except MesonetError as error:
            said = error if unit else "there are readings without a unit"
            raise MesonetError(f"{name} is drawn in {wanted}: {said}") from error
    return made


def _column(table: Any, name: str) -> "NDArray[Any] | None":
    """A column of a table of any kind; None if it has none of that name."""
    if not hasattr(table, "__getitem__"):
        # An export holds a table of Arrow.
        table = getattr(table, "table", {})
    known: Any = getattr(table, "column_names", None)
    if known is None:
        known = getattr(table, "columns", ())
    if name not in known:
        return None
    column = table[name]
    if getattr(getattr(column, "dt", None), "tz", None) is not None and hasattr(column.dt, "tz_convert"):
        column = column.dt.tz_convert(None)
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


@dataclass(frozen=True)
class Rose:
    """Shares of winds in percent."""

    directions: "NDArray[np.float64]"
    """The middle of each sector, degrees."""
    labels: list[str]
    """The classes of speed in km/h."""
    shares: "NDArray[np.float64]"
    """By class and sector."""
    calm: float
    count: int


def rose_of(
    speed_kmh: "ArrayLike", direction_deg: "ArrayLike", sectors: int, classes_kmh: Sequence[float]
) -> Rose:
    """Counts winds by class and sector."""
    speed, degrees = floats(speed_kmh, "speed_kmh"), floats(direction_deg, "direction_deg")
    if speed.ndim != 1 or speed.shape != degrees.shape:
        raise MesonetError(f"speeds and directions must be columns of one length; got {speed.shape} and {degrees.shape}")
    if not 4 <= sectors <= 72:
        raise MesonetError(f"sectors must be from 4 to 72; got {sectors}")
    bounds = [0.0, *map(float, classes_kmh), np.inf]
    if any(high <= low for low, high in zip(bounds, bounds[1:], strict=False)):
        raise MesonetError(f"classes_kmh must be above 0 and ascend; got {tuple(classes_kmh)}")
    is_calm = speed == 0
    moves = (speed > 0) & np.isfinite(speed) & np.isfinite(degrees)
    count = int(is_calm.sum() + moves.sum())
    if not count:
        raise MesonetError("there are no winds: each must have a speed, and unless it is calm a direction")
    sector = np.round(degrees[moves] % 360 / (360 / sectors)).astype(int) % sectors
    of_class = np.searchsorted(bounds, speed[moves], side="right") - 1
    shares = np.zeros((len(bounds) - 1, sectors))
    np.add.at(shares, (of_class, sector), 100.0 / count)
    labels = [f"{low:g}–{high:g}" for low, high in zip(bounds[:-1], bounds[1:-1], strict=False)]
    labels.append(f"from {bounds[-2]:g}")
    directions = np.arange(sectors) * 360.0 / sectors
    return Rose(directions, labels, shares, 100.0 * int(is_calm.sum()) / count, count)


def degrees_of(summaries: "Summaries") -> tuple[dict[str, Any], dict[str, Any]]:
    """The temperatures and the precipitation of the periods of one station."""
    if len({station for station, _ in summaries.periods}) > 1:
        raise MesonetError("the summaries must be of one station")
    values = summaries.values()
    columns = ("start", "end", "max", "min", "mean", "total", "coverage_percent")

    def of(variable: str, needed: str) -> dict[str, Any]:
        rows = (values["variable"] == variable) & ~np.isnan(values[needed])
        return {name: values[name][rows] for name in columns}

    return of("airTemperature", "max"), of("precipitation", "total")
