"""Functions over values that carry their unit: arrays of xarray, Series and frames of pandas,
quantities of pint.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

import numpy as np

from ._columns import is_pint
from ._mesonet import MesonetError, conversion, convert_numbered

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]
    import pint
    import polars
    import xarray
    from numpy.typing import ArrayLike, DTypeLike, NDArray

Numbers = TypeVar(
    "Numbers",
    bound="xarray.DataArray | xarray.Dataset | pandas.Series | pandas.DataFrame | polars.Series | polars.Expr | pint.Quantity[Any]",
)
"""Numbers of another library, which are given back as they came."""


class UfuncOptions(TypedDict, total=False):
    """What every function of NumPy over elements takes besides its operands."""

    out: "NDArray[np.floating] | tuple[NDArray[np.floating] | None, ...] | None"
    where: "ArrayLike"
    casting: str
    order: str
    dtype: "DTypeLike"
    subok: bool
    signature: str | tuple[str | None, ...]


_PINT = {"°C": "degC", "°F": "degF", "%": "percent", "hPa": "hPa", "m": "m", "km/h": "km/h", "mph": "mph"}


class UnitFunction:
    """A NumPy ufunc that knows the units of its inputs and outputs.

    Numbers and NumPy arrays go to the ufunc unchanged, and its other attributes (``nin``, ``outer``
    …) are here too. An input that carries its unit, in the attribute ``units`` of xarray and pandas
    or as a quantity of pint, is converted to the unit in the name of the function. An input without
    ``units`` is taken to be in that unit. A unit that is unknown or of another quantity raises
    :class:`mesonet.MesonetError`. The result has its own ``units`` and, where the CF conventions
    define one, its ``standard_name``. It takes over no other attribute of its inputs, nor their
    name.

    >>> import pandas, mesonet
    >>> air = pandas.Series([68.0], name="air")
    >>> air.attrs = {"units": "degF", "standard_name": "air_temperature"}
    >>> dew = mesonet.dew_point_c(air, 50.0)
    >>> dew.round(1).tolist(), dew.name, dew.attrs
    ([9.3], None, {'units': '°C', 'standard_name': 'dew_point_temperature'})
    """

    def __init__(self, ufunc: np.ufunc, takes: tuple[str | None, ...], gives: str | None, *standard_names: str) -> None:
        self._ufunc, self._takes, self._gives = ufunc, takes, gives
        self._standard_names = standard_names
        self.__name__ = self.__qualname__ = ufunc.__name__
        self.__module__, self.__doc__ = "mesonet", ufunc.__doc__

    if TYPE_CHECKING:
        nin: int
        nout: int
        nargs: int
        types: list[str]
        outer: Callable[..., NDArray[np.float64]]
    else:

        def __getattr__(self, name: str) -> object:
            if name.startswith("__"):
                raise AttributeError(name)
            return getattr(self._ufunc, name)

    @overload
    def __call__(self, *args: float, **ufunc: Unpack[UfuncOptions]) -> np.float64: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(
        self, *args: "NDArray[np.generic] | Sequence[float] | float", **ufunc: Unpack[UfuncOptions]
    ) -> "NDArray[np.float64]": ...
    @overload
    def __call__(self, *args: "Numbers | ArrayLike", **ufunc: Unpack[UfuncOptions]) -> Numbers: ...
    def __call__(
        self, *args: "Numbers | ArrayLike", **ufunc: Unpack[UfuncOptions]
    ) -> "Numbers | NDArray[np.float64] | np.float64":
        made: Numbers | NDArray[np.float64] | np.float64 = self._called(args, dict(ufunc))
        return made

    def _called(self, args: tuple[Any, ...], ufunc: dict[str, Any]) -> Any:
        if not any(map(is_labelled, args)):
            return numbers_only(self.__name__, args, lambda: self._ufunc(*args, **ufunc))
        # Inputs may be in any unit; the result is in the unit of the first.
        own = next((unit_of(of) for of, unit in zip(args, self._takes, strict=False) if unit is None), None)
        gives = self._gives if self._gives is not None else own
        registry = next((of._REGISTRY for of in args if is_pint(of)), None)
        takes = (own if unit is None else unit for unit in self._takes)
        plain = [in_unit(of, unit, self.__name__) for of, unit in zip(args, takes, strict=False)]
        given = self._ufunc(*plain, **ufunc)
        if isinstance(given, tuple):
            names = self._standard_names or (None,) * len(given)
            return tuple(labelled(of, gives, name, registry) for of, name in zip(given, names, strict=True))
        return labelled(given, gives, (*self._standard_names, None)[0], registry)

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__


class PairFunction(UnitFunction):
    """The same with two results."""

    @overload  # type: ignore[override]
    def __call__(  # type: ignore[overload-overlap]
        self, *args: float, **ufunc: Unpack[UfuncOptions]
    ) -> tuple[np.float64, np.float64]: ...
    @overload
    def __call__(
        self, *args: "NDArray[np.generic] | Sequence[float] | float", **ufunc: Unpack[UfuncOptions]
    ) -> "tuple[NDArray[np.float64], NDArray[np.float64]]": ...
    @overload
    def __call__(self, *args: "Numbers | ArrayLike", **ufunc: Unpack[UfuncOptions]) -> tuple[Numbers, Numbers]: ...
    def __call__(
        self, *args: "Numbers | ArrayLike", **ufunc: Unpack[UfuncOptions]
    ) -> "tuple[Numbers, Numbers] | tuple[NDArray[np.float64], NDArray[np.float64]] | tuple[np.float64, np.float64]":
        if any(type(of).__module__.partition(".")[0] == "polars" for of in args):
            raise TypeError(f"{self.__name__} has two results, which polars cannot take; pass arrays: .to_numpy()")
        made: tuple[Numbers, Numbers] = self._called(args, dict(ufunc))
        return made


def numbers_only(name: str, args: tuple[object, ...], call: "Callable[[], Any]") -> Any:
    """What a ufunc gives; operands that it does not know are named."""
    try:
        return call()
    except TypeError as error:
        if "not supported for the input types" not in str(error):
            raise
        got = ", ".join(type(of).__name__ for of in args)
        raise TypeError(f"{name} takes numbers and arrays of numbers; got {got}") from None


def is_labelled(of: object) -> bool:
    """Whether a value may carry its unit."""
    module = type(of).__module__.partition(".")[0]
    return is_pint(of) or (module in ("xarray", "pandas") and hasattr(of, "attrs"))


def unit_of(of: Any) -> Any:
    """The unit that a value carries; None if it carries none."""
    if is_pint(of):
        return of.units
    return getattr(of, "attrs", {}).get("units") if is_labelled(of) else None


def in_unit(of: Any, unit: Any, what: str) -> Any:
    """The values in a unit, without attributes."""
    if not is_labelled(of) or unit is None:
        return of
    if is_pint(of):
        return of.to(_PINT.get(unit, unit) if isinstance(unit, str) else unit).magnitude
    if hasattr(of, "data_vars"):
        return of.assign({name: in_unit(of[name], unit, what) for name in of.data_vars})
    given = of.attrs.get("units")
    if given is None or given == unit:
        return of
    try:
        numbers = conversion(str(given), str(unit), False)
    except MesonetError as error:
        raise MesonetError(f"{what}: {error}") from None
    return of if numbers[0] == numbers[1] else convert_numbered(of, *map(np.uint8, numbers))


def labelled(of: Any, unit: Any, standard_name: str | None, registry: Any = None) -> Any:
    """A result with these attributes, and none of its inputs' attributes."""
    if registry is not None:
        return registry.Quantity(of, _PINT.get(unit, unit) if isinstance(unit, str) else unit)
    if not is_labelled(of):
        return of
    said = {"units": unit, "standard_name": standard_name}
    attrs = {name: text for name, text in said.items() if text is not None}
    made = of.copy(deep=False)
    made.attrs = attrs
    if hasattr(made, "data_vars"):
        for name in made.data_vars:
            made[name].attrs = dict(attrs)
        made.attrs = {}
    elif hasattr(made, "name"):
        made.name = None
    if hasattr(made, "encoding"):
        made.encoding = {}
    return made

