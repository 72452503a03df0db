"""Fields of a GRIB file as one dataset."""

import warnings
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._mesonet import MesonetError
from ._optional import need
from .warning import MesonetWarning

if TYPE_CHECKING:
    from .grib import GribField

# Kinds of levels (code table 4.5), by the names of ecCodes, and the units of their values.
_LEVELS = {
    1: ("surface", None),
    100: ("isobaricInhPa", "hPa"),
    101: ("meanSea", None),
    102: ("heightAboveSea", "m"),
    103: ("heightAboveGround", "m"),
    104: ("sigma", "1"),
    105: ("hybrid", "1"),
    106: ("depthBelowLand", "m"),
    107: ("theta", "K"),
    109: ("potentialVorticity", "K m2 kg-1 s-1"),
}


def dataset(fields: "Sequence[GribField]") -> Any:
    """The fields that share a grid as an ``xarray.Dataset``; see :meth:`mesonet.GribFile.to_xarray`."""
    xarray = need("xarray", "GribFile.to_xarray")
    if not fields:
        raise MesonetError("there are no fields to make a dataset of")
    left_out = [f"{field.called}: {field.refusal}" for field in fields if field.refusal is not None]
    fields = [field for field in fields if field.refusal is None]
    [(most, _), *_] = Counter(map(_grid, fields)).most_common(1) or [((), 0)]
    left_out += [f"{field.called} at {field.level}: another grid" for field in fields if _grid(field) != most]
    groups: dict[tuple[Hashable, ...], list[GribField]] = defaultdict(list)
    for field in fields:
        if _grid(field) == most:
            groups[_variable(field)].append(field)
    names = _names(list(groups))
    made = {}
    for key, of in groups.items():
        array, lost = _array(xarray, of, names[key])
        left_out += lost
        if array is not None:
            made[names[key]] = array
    if made and left_out:
        warnings.warn(
            f"{len(left_out)} of the fields are not in the dataset: {'; '.join(left_out[:5])}",
            MesonetWarning,
            stacklevel=3,
        )
    if not made:
        raise MesonetError(f"none of the fields can be read: {left_out[0]}")
    return xarray.Dataset(made)


def _grid(field: "GribField") -> tuple[Hashable, ...]:
    grid = field.grid
    return (grid.rows, grid.columns, grid.proj_string, tuple(grid.first_xy))


def _variable(field: "GribField") -> tuple[Hashable, ...]:
    """What the fields of a variable have in common."""
    level, second = field.level, field.second_level
    layer = None if second is None else (second.kind, level.value, second.value)
    return (field.called, field.parameter, level.kind, layer, field.kind, field.statistic, field.interval)


def _names(keys: list[tuple[Hashable, ...]]) -> dict[tuple[Hashable, ...], str]:
    """A name for each variable: that of the parameter, and if several have it, what tells them apart."""
    named: dict[tuple[Hashable, ...], str] = {}
    counts = Counter(key[0] for key in keys)
    for key in keys:
        called, _, level, layer, kind, statistic, interval = key
        parts = [str(called)]
        if counts[called] > 1:
            parts.append(_level_name(level))
            if isinstance(layer, tuple):
                parts.append("_".join(f"{value:g}" for value in layer[1:] if value is not None))
            parts += [str(of).replace(":", "_") for of in (kind, statistic) if of not in (None, "deterministic")]
            if interval:
                parts.append(f"{interval.total_seconds() / 3600:g}h")  # type: ignore[attr-defined]
        name = "_".join(part for part in parts if part)
        number = sum(other == name or other.startswith(f"{name}__") for other in named.values())
        named[key] = f"{name}__{number + 1}" if number else name
    return named


def _level_name(kind: Any) -> str:
    return _LEVELS.get(kind, (f"level{kind}", None))[0]


def _array(xarray: Any, fields: "list[GribField]", name: str) -> tuple[Any, list[str]]:
    """The fields of a variable as one array over those of time, level and both that vary."""
    kind = fields[0].level.kind
    scale = 100.0 if kind == 100 else 1.0
    level_name, units = _level_name(kind), _LEVELS.get(kind, ("", None))[1]
    by_place: dict[tuple[Any, Any], GribField] = {}
    left_out = []
    for field in fields:
        place = ((field.reference, field.valid), field.level.value)
        said = f"{name} at {field.level}, {field.valid:%Y-%m-%dT%H:%MZ}"
        if place in by_place:
            left_out.append(f"{said}: it is there twice")
            continue
        try:
            _ = field.values
        except MesonetError as error:
            left_out.append(f"{said}: {error}")
        else:
            by_place[place] = field
    if not by_place:
        return None, left_out
    times = sorted({time for time, _ in by_place})
    levels = sorted({level for _, level in by_place}, key=lambda level: (level is None, level))
    first = next(iter(by_place.values())).to_xarray(name=name)
    missing = np.full(first.shape, np.nan, np.float32)
    values = np.stack(
        [
            np.stack([by_place[time, level].values if (time, level) in by_place else missing for level in levels])
            for time in times
        ]
    )
    attributes = {of: text for of, text in first.attrs.items() if of != "GRIB_level"}
    coordinates = {of: first.coords[of] for of in first.coords if of not in ("time", "valid_time", "step")}
    utc = [[np.datetime64(at.replace(tzinfo=None), "ns") for at in both] for both in times]
    dimensions = ["valid_time", level_name, *first.dims]
    coordinates["valid_time"] = ("valid_time", [valid for _, valid in utc], {"standard_name": "time"})
    references = sorted({reference for reference, _ in utc})
    told = {"standard_name": "forecast_reference_time"}
    coordinates["time"] = ((), references[0], told) if len(references) == 1 else ("valid_time", [of for of, _ in utc], told)
    if levels != [None]:
        values_of = [float("nan") if of is None else of / scale for of in levels]
        coordinates[level_name] = (level_name, values_of, {"units": units} if units else {})
    array = xarray.DataArray(values, coordinates, dimensions, name, attributes)
    # A dimension of one is a property of the variable; other variables have other levels.
    if len(levels) == 1:
        array = array.isel({level_name: 0}, drop=True)
        array.attrs["GRIB_level"] = str(fields[0].level)
    if len(times) == 1:
        array = array.isel(valid_time=0)
    return array, left_out
