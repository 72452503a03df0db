"""Units: resolving texts, and conversion.

A unit is given as a text, by its symbol or an alias ("kt", "wmoUnit:km_h-1", "degrees_true"). An
ambiguous text is refused, never guessed. Conversions are rounded once, so whole numbers convert as
expected: 7 kt is 12.964 km/h.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, overload

import numpy as np

from . import _mesonet
from ._columns import is_pint
from ._labelled import Numbers, UfuncOptions, is_labelled, numbers_only

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["UnitResolution", "convert", "resolve_unit", "to_canonical"]


class UnitResolution(NamedTuple):
    """What the text of a unit stands for, and the symbols of the possible units.

    >>> from mesonet import resolve_unit
    >>> resolve_unit("wmoUnit:km_h-1")
    UnitResolution(state='exact', units=('km/h',))
    """

    state: Literal["exact", "ambiguous", "unknown"]
    """One unit, several possible ones, or none."""
    units: tuple[str, ...]
    """Their symbols; empty for a number without a unit."""


def resolve_unit(text: str, vocabulary: str | None = None) -> UnitResolution:
    """Resolves a text in a vocabulary (swob, wmo, ucum, cf, metar, plain), or in all of them.

    An unknown vocabulary raises :class:`mesonet.MesonetError`; an unknown unit does not.

    >>> from mesonet import resolve_unit
    >>> resolve_unit("F")
    UnitResolution(state='ambiguous', units=('°F', 'F'))
    >>> resolve_unit("F", "cf")
    UnitResolution(state='exact', units=('F',))
    >>> resolve_unit("furlong")
    UnitResolution(state='unknown', units=())
    """
    state, units = _mesonet.resolve_unit(text, vocabulary)
    return UnitResolution(state, tuple(units))


@overload
def convert(
    values: float, from_unit: str, to_unit: str, *, liquid_water: bool = False, **ufunc: Unpack[UfuncOptions]
) -> np.float64: ...
@overload
def convert(
    values: "NDArray[np.float32]", from_unit: str, to_unit: str, *, liquid_water: bool = False,
    **ufunc: Unpack[UfuncOptions],
) -> "NDArray[np.float32]": ...  # fmt: skip
@overload
def convert(
    values: "NDArray[np.generic] | Sequence[float]", from_unit: str, to_unit: str, *, liquid_water: bool = False,
    **ufunc: Unpack[UfuncOptions],
) -> "NDArray[np.float64]": ...  # fmt: skip
@overload
def convert(
    values: Numbers, from_unit: str, to_unit: str, *, liquid_water: bool = False, **ufunc: Unpack[UfuncOptions]
) -> Numbers: ...
def convert(
    values: "Numbers | ArrayLike", from_unit: str, to_unit: str, *, liquid_water: bool = False,
    **ufunc: Unpack[UfuncOptions],
) -> "Numbers | NDArray[np.floating] | np.float64":  # fmt: skip
    """Converts values to another unit: a scalar gives a scalar, an array or Series gives the same.

    float64 and float32 keep their type, integers become float64, NaN stays NaN. ``out=``,
    ``where=`` and the other arguments of a ufunc work as with NumPy's own; ``out`` may be
    ``values``. With ``liquid_water``, 1 kg/m² counts as 1 mm. Units of different dimensions, and
    texts that are ambiguous or unknown, raise :class:`mesonet.MesonetError`. Values of another type
    raise ``TypeError``, and so do quantities of pint, which know their unit, and expressions and frames of
    polars. Values of xarray and
    pandas whose attribute ``units`` is not ``from_unit`` are refused. The result has its own unit
    and all other attributes, except those that are values in the old unit (``valid_min`` and the
    like).

    >>> import numpy as np
    >>> from mesonet import convert
    >>> float(convert(7, "kt", "km/h"))
    12.964
    >>> convert(np.array([32, np.nan], np.float32), "°F", "°C")
    array([ 0., nan], dtype=float32)
    >>> float(convert(3.2, "kg/m²", "mm", liquid_water=True))
    3.2
    >>> convert(7, "kt", "hPa")
    Traceback (most recent call last):
    mesonet.MesonetError: kt (knot) measures speed, hPa (hectopascal) pressure; allowed are two units of one dimension
    """
    numbers = _mesonet.conversion(from_unit, to_unit, liquid_water)
    options = dict(ufunc)
    made: Numbers | NDArray[np.floating] | np.float64
    if not is_labelled(values) or not hasattr(values, "attrs"):
        made = _converted(values, numbers, options)
    else:
        made = _converted_with_units(values, from_unit, to_unit, numbers, options)
    return made


# Attributes that are values in the unit, or that describe packed values.
IN_UNIT = {
    "actual_range", "add_offset", "flag_masks", "flag_values", "missing_value", "packing_error", "scale_factor",
    "valid_max", "valid_min", "valid_range", "_FillValue",
}  # fmt: skip


def _converted_with_units(
    values: Any, from_unit: str, to_unit: str, numbers: tuple[int, int, int], ufunc: dict[str, Any]
) -> Any:
    if hasattr(values, "data_vars"):
        made = {
            name: _converted_with_units(values[name], from_unit, to_unit, numbers, ufunc) for name in values.data_vars
        }
        return values.assign(made)
    present = values.attrs.get("units")
    if present is not None and resolve_unit(str(present)).units[:1] != resolve_unit(from_unit).units[:1]:
        raise _mesonet.MesonetError(f'the values say that their unit is "{present}"; got {from_unit}')
    made = _converted(values, numbers, ufunc).copy(deep=False)
    kept = {name: said for name, said in values.attrs.items() if name not in IN_UNIT}
    made.attrs = {**kept, "units": (*resolve_unit(to_unit).units, to_unit)[0]}
    if hasattr(made, "encoding"):
        made.encoding = {}
    return made


@overload
def to_canonical(
    variable: str, values: float, reported_unit: str, vocabulary: str | None = None
) -> tuple[float | np.float64, str]: ...
@overload
def to_canonical(
    variable: str, values: "NDArray[np.generic] | Sequence[float]", reported_unit: str, vocabulary: str | None = None
) -> "tuple[NDArray[np.generic], str]": ...
@overload
def to_canonical(
    variable: str, values: Numbers, reported_unit: str, vocabulary: str | None = None
) -> tuple[Numbers, str]: ...
def to_canonical(
    variable: str, values: "Numbers | ArrayLike", reported_unit: str, vocabulary: str | None = None
) -> "tuple[Numbers | ArrayLike, str]":
    """Returns values of a variable as the service stores them, and their unit.

    The result is in the canonical unit of the variable if the reported unit is certain. If the text
    is ambiguous, unknown, or a unit of another quantity, the values stay as reported. Takes the
    same values as :func:`convert`.

    >>> import numpy as np
    >>> from mesonet import to_canonical
    >>> to_canonical("windSpeed", np.array([7.0]), "kt")
    (array([12.964]), 'km/h')
    >>> to_canonical("airTemperature", np.array([50.0]), "F")
    (array([50.]), 'F')
    """
    unit, numbers = _mesonet.canonical(variable, reported_unit, vocabulary)
    return (values if numbers is None else _converted(values, numbers, {})), unit


def _converted(values: Any, numbers: tuple[int, int, int], ufunc: dict[str, Any]) -> Any:
    # A Python number has no width of its own: it is a double, whatever the other operands are.
    if isinstance(values, float):
        values = np.float64(values)
    if is_pint(values):
        raise TypeError("a quantity of pint knows its unit; pass its magnitude, or convert it with .to()")
    if type(values).__module__.partition(".")[0] == "polars":
        if not hasattr(values, "to_numpy") or not hasattr(values, "null_count") or hasattr(values, "columns"):
            raise TypeError(f"of polars only a Series has values to convert; got {type(values).__name__}")
        return _of_series(values, numbers, ufunc)
    given = map(np.uint8, numbers)
    return numbers_only("convert", (values,), lambda: _mesonet.convert_numbered(values, *given, **ufunc))


def _of_series(series: Any, numbers: tuple[int, int, int], ufunc: dict[str, Any]) -> Any:
    # Polars hands ufuncs only series and Python numbers as operands.
    import polars

    converted = polars.Series(series.name, _converted(series.to_numpy(), numbers, ufunc))
    return converted.set(series.is_null(), None) if series.null_count() else converted
