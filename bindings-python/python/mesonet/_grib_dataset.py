"""Fields of a GRIB file as one dataset."""

import datetime
import warnings
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._grib_field import GribField
from ._mesonet import MesonetError
from ._optional import need
from .warning import MesonetWarning

if TYPE_CHECKING:
    import xarray
    from xarray import Dataset

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


def dataset(fields: Sequence[GribField]) -> "xarray.Dataset":
    """The fields that share a grid as an ``xarray.Dataset``; see :meth:`mesonet.GribFile.to_xarray`."""
    xarray = need("xarray", "GribFile.to_xarray")
    if not fields:
        raise MesonetError("there are no fields to make a dataset of")
    left_out = [f"{field.called}: {field.refusal}" for field in fields if field.refusal is not None]
    fields = [field for field in fields if field.refusal is None]
    [(most, _), *_] = Counter(map(_grid, fields)).most_common(1) or [((), 0)]
    left_out += [f"{field.called} at {field.level}: another grid" for field in fields if _grid(field) != most]
    readable = []
    for field in fields:
        if _grid(field) != most:
            continue
        try:
            _ = field.values
        except MesonetError as error:
            left_out.append(f"{_place_of(field)}: {error}")
        else:
            readable.append(field)
    runs = _runs(readable)
    groups: dict[tuple[Hashable, ...], list[GribField]] = defaultdict(list)
    for field in readable:
        if runs[field.valid] == field.reference:
            groups[_variable(field)].append(field)
        else:
            left_out.append(f"{_place_of(field)}: it is of another run, {field.reference:%Y-%m-%dT%H:%MZ}")
    names = _names(list(groups))
    made = {}
    for key, of in groups.items():
        made[names[key]], lost = _array(xarray, of, names[key], runs)
        left_out += lost
    if made and left_out:
        warnings.warn(
            f"{len(left_out)} of the fields are not in the dataset: {'; '.join(left_out[:5])}",
            MesonetWarning,
            stacklevel=3,
        )
    if not made:
        raise MesonetError(f"none of the fields can be read: {left_out[0]}")
    fields_together: Dataset = xarray.Dataset(made)
    return fields_together


def _place_of(field: GribField) -> str:
    return f"{field.called} at {field.level}, {field.valid:%Y-%m-%dT%H:%MZ}"


def _runs(fields: Sequence[GribField]) -> "dict[datetime.datetime, datetime.datetime]":
    """The reference time of the run that each valid time is taken from, by valid time.

    A valid time has one place in a dataset. Where runs overlap, the one with the most fields has it, and of
    those with as many the latest.
    """
    counts = Counter(field.reference for field in fields)
    claims: dict[datetime.datetime, set[datetime.datetime]] = defaultdict(set)
    for field in fields:
        claims[field.valid].add(field.reference)
    return {valid: max(of, key=lambda run: (counts[run], run)) for valid, of in sorted(claims.items())}


def _grid(field: GribField) -> tuple[Hashable, ...]:
    grid = field.grid
    return (grid.rows, grid.columns, grid.proj_string, tuple(grid.first_xy))


def _variable(field: GribField) -> tuple[Hashable, ...]:
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


def _array(
    xarray: Any, fields: list[GribField], name: str, runs: "dict[datetime.datetime, datetime.datetime]"
) -> tuple[Any, list[str]]:
    """The fields of a variable as one array over the times of the dataset, the levels, or both if they
    vary."""
    kind = fields[0].level.kind
    scale = 100.0 if kind == 100 else 1.0
    level_name, units = _level_name(kind), _LEVELS.get(kind, ("", None))[1]
    by_place: dict[tuple[Any, Any], GribField] = {}
    left_out = []
    for field in fields:
        place = (field.valid, field.level.value)
        if place in by_place:
            left_out.append(f"{_place_of(field)}: it is there twice")
        else:
            by_place[place] = field
    levels = sorted({level for _, level in by_place}, key=lambda level: (level is None, level))
    first = next(iter(by_place.values())).to_xarray(name=name)
    missing = np.full(first.shape, np.nan, np.float32)
    values = np.stack(
        [
            np.stack([by_place[time, level].values if (time, level) in by_place else missing for level in levels])
            for time in runs
        ]
    )
    attributes = {of: text for of, text in first.attrs.items() if of != "GRIB_level"}
    coordinates = {of: first.coords[of] for of in first.coords if of not in ("time", "valid_time", "step")}
    valid, references = ([np.datetime64(at.replace(tzinfo=None), "ns") for at in of] for of in (runs, runs.values()))
    dimensions = ["valid_time", level_name, *first.dims]
    coordinates["valid_time"] = ("valid_time", valid, {"standard_name": "time"})
    told = {"standard_name": "forecast_reference_time"}
    coordinates["time"] = ((), references[0], told) if len(set(references)) == 1 else ("valid_time", references, told)
    if levels != [None]:
        values_of = [float("nan") if of is None else of / scale for of in levels]
        coordinates[level_name] = (level_name, values_of, {"units": units} if units else {})
    array = xarray.DataArray(values, coordinates, dimensions, name, attributes)
    # A dimension of one is a property of the variable; other variables have other levels.
    if len(levels) == 1:
        array = array.isel({level_name: 0}, drop=True)
        array.attrs["GRIB_level"] = str(fields[0].level)
    if len(runs) == 1:
        array = array.isel(valid_time=0)
    return array, left_out
