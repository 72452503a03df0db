"""The parameters of a request: units, times and spans as the service takes them."""

import datetime
import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np

from .._columns import Duration, Instant, duration_ms, instant_ms, step_minutes
from .._mesonet import MesonetError
from ._filter import parameters

Span: TypeAlias = Duration
"""A length of time: a text (``7d``, ``12h``, ``30m``) or a timedelta."""

Units: TypeAlias = Literal["metric", "us", "si"]
"""A system of units: that of the record; °F, mph, inHg, in, mi and ft; K, m/s, Pa and m."""


def form(
    units: Units | None, unit_of: Mapping[str, str] | None, tz: str | None
) -> tuple[tuple[str, str], ...]:
    """The parameters of the units and the local times of an answer."""
    of = tuple((f"unit.{name}", unit) for name, unit in (unit_of or {}).items())
    return parameters(units=units, tz=tz) + of


def instant_text(given: Instant, what: str) -> str:
    ms = instant_ms(given, what)
    text = str(np.datetime64(ms, "ms"))
    if not re.fullmatch(r"\d{4}-.*", text):
        raise MesonetError(f"{what} must be in the years 0 to 9999; got {text}")
    return f"{text}Z"


def span_text(given: Span, what: str) -> str:
    if isinstance(given, str):
        return given
    ms = duration_ms(given, what)
    for unit, length_ms in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)):
        if ms % length_ms == 0:
            return f"{ms // length_ms}{unit}"
    raise MesonetError(f"{what} must be whole minutes; got {datetime.timedelta(milliseconds=ms)}")


def step_count(given: int | Duration) -> int:
    # The service refuses a negative number; here it must not become 0.
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    return step_minutes(given)
