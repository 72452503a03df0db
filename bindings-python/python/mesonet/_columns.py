"""Converts what users pass to contiguous columns of exactly the types of the core."""

import datetime
import re
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import _mesonet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Instant: TypeAlias = str | int | datetime.datetime | datetime.date | np.datetime64
"""A text such as ``2024-08-03T20:00Z``, ``2024-08-03 20:00`` or ``2024-08-03``, milliseconds since 1970,
a time or a date. What has no time zone is UTC, and a date is its midnight."""

Duration: TypeAlias = datetime.timedelta | np.timedelta64 | str
"""A length of time; as a text, ``90s``, ``10min``, ``1h``, ``7d``."""


_WITHOUT_ZONE = re.compile(r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?")
_SPAN = re.compile(r"(\d+)\s*(s|m|min|h|d)")
_UNIT_MS = {"s": 1_000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_NAT = np.iinfo(np.int64).min
# Times in this machine's byte order: how many units make a millisecond.
_MS_DIVISORS = {np.dtype(f"M8[{unit}]"): n for unit, n in (("ms", 1), ("us", 1_000), ("ns", 1_000_000))}
_LAST_MS = np.iinfo(np.int64).max // 1000


def is_pint(given: object) -> bool:
    """Whether this is a quantity of pint."""
    return hasattr(given, "_REGISTRY") and type(given).__module__.partition(".")[0] == "pint"


def is_lazy(given: object) -> bool:
    """Whether this is an expression or a frame of polars that has no values yet."""
    kind = type(given)
    return kind.__module__.partition(".")[0] == "polars" and kind.__name__ in ("Expr", "LazyFrame")


def plain(given: "ArrayLike", what: str) -> "NDArray[Any]":
    """Returns the values as an array. Refuses a quantity, which would lose its unit, and polars' lazy values."""
    if is_lazy(given):
        raise TypeError(f"{what} must have values; got {type(given).__name__} of polars: collect it first")
    if is_pint(given):
        raise TypeError(f"{what} must be numbers; got a quantity of pint in {getattr(given, 'units')}: pass its magnitude")
    return np.asarray(given)


def floats(given: "ArrayLike", what: str) -> "NDArray[np.float64]":
    """Returns the numbers as float64. Refuses text."""
    array = plain(given, what)
    try:
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be numbers; got {array.dtype}") from None


def column(given: "ArrayLike", what: str) -> "NDArray[Any]":
    array = plain(given, what)
    if array.ndim != 1:
        raise TypeError(f"{what} must have one dimension; got {array.ndim}")
    return array


def _kind(array: "NDArray[Any]") -> str:
    """What an array holds, for messages."""
    if array.dtype.kind != "O" or not array.size:
        return str(array.dtype)
    first = type(array[0]).__name__
    zones = {str(one.tzinfo) for one in array[:1000] if isinstance(one, datetime.datetime)}
    of = f" of the time zones {', '.join(sorted(zones))}" if len(zones) > 1 else ""
    return f"objects{of}, the first of type {first}"


def numbers(given: "ArrayLike") -> "NDArray[np.float64]":
    array = column(given, "values")
    if array.dtype.kind not in "iuf" or not np.can_cast(array.dtype, np.float64):
        raise TypeError(f"values must be numbers; got {_kind(array)}")
    return np.ascontiguousarray(array, np.float64)


def without_zone(given: Any) -> Any:
    """A column of pandas in UTC, without its time zone: with a time zone, NumPy would turn it into
    objects. Columns that Arrow holds have the zone only in their accessor."""
    of = getattr(given, "dt", given)
    zoned = getattr(of, "tz", None) is not None and hasattr(of, "tz_convert")
    return of.tz_convert(None) if zoned else given


def milliseconds(given: "ArrayLike") -> "NDArray[np.int64]":
    array = column(without_zone(given), "times")
    if array.dtype.kind == "M" and np.datetime_data(array.dtype)[0] != "generic":
        if (divisor := _MS_DIVISORS.get(array.dtype)) is not None:
            counts = np.ascontiguousarray(array).view(np.int64)
            # NaT is the smallest integer. This is several times as fast as NumPy's own casts of
            # times.
            if counts.size == 0 or counts.min() != _NAT:
                return counts if divisor == 1 else counts // divisor
        if np.isnat(array).any():
            reading = int(np.isnat(array).argmax())
            raise _mesonet.MesonetError(f"times must be times; reading {reading} is NaT")
        far = _mesonet.MesonetError("times must fit 64-bit milliseconds")
        try:
            times = array.astype("M8[ms]", copy=False)
        except OverflowError:
            # NumPy 2.5 and newer.
            raise far from None
        # Years can lie beyond the milliseconds of 64 bits.
        if np.can_cast(array.dtype, times.dtype, "safe") and (times.astype(array.dtype) != array).any():
            raise far
        return np.ascontiguousarray(times).view(np.int64)
    if array.dtype.kind != "i" and array.size:
        raise TypeError(f"times must be int64 milliseconds or datetime64; got {_kind(array)}")
    return np.ascontiguousarray(array, np.int64)


def instant_ms(given: Instant, what: str) -> int:
    """Milliseconds since 1970; anything finer is truncated."""
    if isinstance(given, str):
        if plain := _WITHOUT_ZONE.fullmatch(given):
            given = f"{plain[1]}T{plain[2] or '00:00'}Z"
        return _mesonet.instant_ms(given)
    if isinstance(given, (int, np.integer)) and not isinstance(given, (bool, np.timedelta64)):
        # The result is datetime64[us].
        if abs(int(given)) > _LAST_MS:
            raise _mesonet.MesonetError(f"{what} must fit 64-bit microseconds; got {given} milliseconds")
        return int(given)
    if isinstance(given, datetime.datetime):
        # Pandas' NaT is a datetime too.
        if given != given:
            raise _mesonet.MesonetError(f"{what} must be a time; got NaT")
        aware = given if given.tzinfo else given.replace(tzinfo=datetime.UTC)
        return (aware - _EPOCH) // datetime.timedelta(milliseconds=1)
    if isinstance(given, datetime.date):
        return instant_ms(datetime.datetime(given.year, given.month, given.day), what)
    if isinstance(given, np.datetime64):
        if np.isnat(given):
            raise _mesonet.MesonetError(f"{what} must be a time; got NaT")
        return instant_ms(int(milliseconds(np.array([given]))[0]), what)
    raise TypeError(
        f"{what} must be a text, milliseconds since 1970, a date, a datetime or a datetime64; "
        f"got {type(given).__name__}"
    )


def duration_ms(given: Duration, what: str) -> int:
    """Milliseconds; anything finer is refused."""
    if isinstance(given, str):
        span = _SPAN.fullmatch(given.strip())
        if span is None or (ms := int(span[1]) * _UNIT_MS[span[2]]) > _LAST_MS:
            raise _mesonet.MesonetError(
                f"{what} must be a length of time such as 90s, 10min, 1h or 7d; got {given!r}"
            )
        return ms
    if isinstance(given, datetime.timedelta):
        if given != given:
            raise _mesonet.MesonetError(f"{what} must be a length of time; got NaT")
        whole, rest = divmod(given, datetime.timedelta(milliseconds=1))
        if rest:
            raise _mesonet.MesonetError(f"{what} must be whole milliseconds; got {given}")
        return whole
    if isinstance(given, np.timedelta64) and np.datetime_data(given.dtype)[0] != "generic":
        if np.isnat(given):
            raise _mesonet.MesonetError(f"{what} must be a length of time; got NaT")
        if np.datetime_data(given.dtype)[0] in "YM":
            raise _mesonet.MesonetError(f"{what} must have one length; got {given}")
        finer = not np.can_cast(given.dtype, "m8[ms]", "safe")
        allowed = "be whole" if finer else "fit 64-bit"
        wrong = _mesonet.MesonetError(f"{what} must {allowed} milliseconds; got {given}")
        try:
            ms = given.astype("m8[ms]")
        except OverflowError:
            # NumPy 2.5 and newer.
            raise wrong from None
        if ms.astype(given.dtype) != given:
            raise wrong
        return int(ms.astype(np.int64))
    raise TypeError(f"{what} must be a text, a timedelta or a timedelta64; got {type(given).__name__}")


def step_minutes(given: int | Duration) -> int:
    if isinstance(given, (datetime.timedelta, np.timedelta64, str)):
        minutes, rest = divmod(duration_ms(given, "step"), 60_000)
        if rest:
            raise _mesonet.MesonetError(f"step must be a whole number of minutes; got {given}")
        return minutes
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        # A step that does not fit 64 bits is refused together with all that are too long.
        return min(max(int(given), 0), int(np.iinfo(np.int64).max))
    raise TypeError(
        f"step must be a number of minutes, a text, a timedelta or a timedelta64; got {type(given).__name__}"
    )
