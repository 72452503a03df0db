"""METAR and SPECI reports, decoded: every group and remark, with its unit in its name.

>>> import mesonet
>>> report = mesonet.parse_metar(
...     "METAR KBUF 312354Z 21014G22KT 10SM -SN BKN050 OVC110 02/M07 A2973 RMK AO2 SLP077 T00221067"
... )
>>> print(report)
METAR KBUF day 31 23:54Z: wind from 210° at 14 kt, gusts 22 kt; visibility 10 mi; light snow; broken 5000 ft, overcast 11000 ft; 2.2 °C, dew point -6.7 °C; altimeter 29.73 inHg
>>> report.wind.speed, report.wind.unit, report.wind.speed_kmh
(14, 'kt', 25.928)
>>> report.remarks.sea_level_pressure_hpa, report.not_understood
(1007.7, ())

:func:`mesonet.read_metar` gives the readings of whole files, in the units of the service.
"""

import dataclasses
import datetime
import json
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _mesonet
from ._columns import Instant, instant_ms
from ._shown import ShownFields
from ._metar_remarks import (
    Ceiling,
    ClockTime,
    CloudAmount,
    CloudLayer,
    CloudTypes,
    Lightning,
    Obscuration,
    PeakWind,
    Phenomenon,
    PressureTendency,
    Range,
    Remarks,
    SectorVisibility,
    VariableSky,
    WeatherTime,
    WindShift,
)

__all__ = [
    "Altimeter",
    "Ceiling",
    "ClockTime",
    "Cloud",
    "CloudAmount",
    "CloudLayer",
    "CloudTypes",
    "DirectionalVisibility",
    "Lightning",
    "Metar",
    "Obscuration",
    "PeakWind",
    "Phenomenon",
    "PressureTendency",
    "Range",
    "Remarks",
    "RunwayVisualRange",
    "SectorVisibility",
    "VariableSky",
    "Visibility",
    "Weather",
    "WeatherTime",
    "Wind",
    "WindShift",
    "parse_metar",
]


@dataclass(frozen=True, slots=True)
class Wind:
    """Wind of the body."""

    from_deg: int | None
    """The direction from which it blows, from true north: 360 is north, 0 means calm."""
    variable: bool
    """``VRB``: it has no single direction."""
    speed: int | None
    """Mean speed, in ``unit``."""
    gust: int | None
    """Highest gust of the last ten minutes, in ``unit``."""
    unit: str
    """The unit of the report: ``kt``, ``m/s`` or ``km/h``."""
    speed_kmh: float | None
    """Mean speed."""
    gust_kmh: float | None
    """Highest gust."""
    turns_from_deg: int | None
    """The direction from which the wind varies, clockwise."""
    turns_to_deg: int | None
    """The direction to which it varies."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """Prevailing visibility."""

    distance: float
    """The distance, in ``unit``."""
    unit: str
    """The unit of the report: ``mi`` or ``m``."""
    bound: str
    """How the true visibility relates to the distance: ``exact``, ``less`` (than the distance) or
    ``more`` (the distance or more)."""
    distance_km: float
    """The distance."""


@dataclass(frozen=True, slots=True)
class DirectionalVisibility:
    """Visibility in a direction."""

    distance_m: int
    """The distance."""
    direction: str
    """The direction, one of eight: ``SW``."""


@dataclass(frozen=True, slots=True)
class Weather:
    """One group of weather."""

    text: str
    """The group."""
    description: str
    """In English."""
    intensity: str | None
    """``light``, ``heavy``, or ``None`` for a group without a sign."""
    in_vicinity: bool
    """``VC``: not at the station, but within 8 to 16 km."""
    recent: bool
    """``RE``: since the last report, but no longer."""
    codes: tuple[str, ...]
    """The two-letter codes: ``SH``, ``RA``."""


@dataclass(frozen=True, slots=True)
class Cloud:
    """One layer of cloud, or what replaces the layers."""

    cover: str
    """The word of the report: ``FEW``, ``SCT``, ``BKN``, ``OVC``, ``VV``, ``CLR``, ``SKC``,
    ``NSC``, ``NCD``, ``///``."""
    oktas: int | None
    """The cover in eighths: FEW 2, SCT 4, BKN 7, OVC 8."""
    base_ft: int | None
    """Height of the base above the ground; of ``VV``, the vertical visibility."""
    convection: str | None
    """``CB`` or ``TCU``."""
    genus: str | None
    """The genus, if the report names exactly one: ``SC``, ``AC``, ``CB``; ``CU`` for TCU."""


@dataclass(frozen=True, slots=True)
class Altimeter:
    """Altimeter setting (QNH)."""

    value: float
    """The setting, in ``unit``."""
    unit: str
    """The unit of the report: ``inHg`` or ``hPa``."""
    hpa: float
    """The setting."""


@dataclass(frozen=True, slots=True)
class RunwayVisualRange:
    """Runway visual range. ``least`` and ``greatest`` differ where it varied in the last ten
    minutes.
    """

    runway: str
    """The runway: ``05L``."""
    least: int | None
    """The range, or the lowest range, in ``unit``; ``None`` if it is missing (``////``)."""
    greatest: int | None
    """The range, or the highest range, in ``unit``."""
    is_below_least: bool
    """``M``: the range is below ``least``, the lowest that can be measured."""
    is_above_greatest: bool
    """``P``: the range is above ``greatest``, the highest that can be measured."""
    unit: str
    """``ft`` or ``m``."""
    tendency: str | None
    """How it changes: ``up``, ``down`` or ``none``."""


# As the dataclass itself does it: assignment is refused.
_set = object.__setattr__


class _Lazy:
    """A dataclass with slots whose members are made when they are first asked for."""

    __slots__ = ("_told",)

    if TYPE_CHECKING:
        _told: _mesonet.MetarReport
    else:

        def __getattr__(self, name: str) -> Any:
            """Comes to a member that was not made: its slot is empty."""
            recipe = _RECIPE.get(name)
            if recipe is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            json_name, nested = recipe
            value = self._told.member(json_name)
            if nested is not None:
                value = _made(nested, value)
            _set(self, name, value)
            return value


@dataclass(frozen=True, slots=True)
class Metar(_Lazy, ShownFields):
    """Everything that a report says, with the unit in each name. Numbers are those of the report.
    Wind, visibility and altimeter setting come in several units; they are given in the unit of the
    report and in the unit of the service. What the report does not say is None.
    """

    text: str
    """The groups of the report with one blank between them."""
    kind: str | None
    """``METAR`` or ``SPECI``, if the report says which."""
    station: str
    """Station."""
    day: int
    """Day of the month (UTC), 1 to 31."""
    hour: int
    """Hour (UTC), 0 to 23."""
    minute: int
    """Minute, 0 to 59."""
    revision: int
    """0 for a first report; 1 for ``COR`` and ``CCA``, 2 for ``CCB`` and so on."""
    auto: bool
    """``AUTO``: made without an observer."""
    nil: bool
    """``NIL``: the report is missing; it has no values."""
    wind: Wind | None
    """Wind."""
    visibility: Visibility | None
    """Prevailing visibility."""
    directional_visibilities: tuple[DirectionalVisibility, ...]
    """Visibilities in a direction, where they differ from the prevailing one."""
    cavok: bool
    """``CAVOK``: visibility 10 km or more, no cloud below 5,000 ft, no weather."""
    runway_visual_ranges: tuple[RunwayVisualRange, ...]
    """Runway visual ranges."""
    weather: tuple[Weather, ...]
    """Present and recent weather."""
    weather_missing: bool
    """``//`` in place of the weather: an instrument could not tell."""
    clouds: tuple[Cloud, ...]
    """Cloud layers, usually lowest first, or what replaces them."""
    ceiling_ft: int | None
    """Height of the ceiling above the ground: the lowest layer that covers more than half of the
    sky, or the vertical visibility (as Canada and the United States define it)."""
    vertical_visibility_ft: int | None
    """``VV``: vertical visibility, which is not the height of a cloud."""
    temperature_c: float | None
    """Air temperature: in tenths if the remarks have them."""
    dew_point_c: float | None
    """Dew point, in the same way."""
    altimeter: Altimeter | None
    """Altimeter setting."""
    sea_surface_temperature_c: int | None
    """``W..``: sea surface temperature."""
    sea_state: int | None
    """``S.``: state of the sea, WMO code table 3700."""
    wind_shear: tuple[str, ...]
    """``WS``: the runways with wind shear in the lowest 1,600 ft, or ``ALL RWY``."""
    runway_states: tuple[str, ...]
    """Groups on the state of runways, as reported."""
    trend: str | None
    """The trend forecast, as reported: what is expected, not what was observed."""
    remarks: Remarks
    """The remarks."""
    not_understood: tuple[str, ...]
    """Groups of the body and of the remarks that were not understood, in their order."""
    time: datetime.datetime | None
    """The time of the report (UTC), if the time of receipt was given."""
    summary: str
    """One line of English."""

    def __str__(self) -> str:
        return self.summary

    def to_dict(self) -> dict[str, Any]:
        """The report as dictionaries, lists, texts and numbers, ready for JSON.

        >>> import mesonet
        >>> mesonet.parse_metar("KBUF 312354Z 00000KT").to_dict()["wind"]["speed"]
        0
        """
        told: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self), default=str))
        return told


def parse_metar(text: str, *, received: Instant | None = None) -> Metar:
    """Decodes one METAR or SPECI report, with or without its ``METAR`` and its closing ``=``.

    A report gives only the day of the month; with ``received``, any time within two weeks of its
    receipt, ``time`` is the whole time. ``not_understood`` lists groups and words that are not
    understood: nothing is left out silently. Values that are not reported are None.

    Raises :class:`mesonet.MesonetError` if there is no station, or no time after it, if the text is
    longer than 4,096 bytes, or if it goes on after the ``=``.

    >>> import mesonet
    >>> mesonet.parse_metar("CYYZ 010000Z CCA AUTO", received="2024-08-01T00:05Z").time.isoformat()
    '2024-08-01T00:00:00+00:00'
    >>> mesonet.parse_metar("KBUF 21014KT 10SM")
    Traceback (most recent call last):
    mesonet.MesonetError: "21014KT" is not the time of a report; after the station come day, hour and minute, for example 231118Z
    """
    if not isinstance(text, str):
        raise TypeError(f"a report is a text; got {type(text).__name__}")
    received_ms = None if received is None else instant_ms(received, "received")
    told = _mesonet.parse_metar(text)
    report = object.__new__(Metar)
    _set(report, "_told", told)
    time = None
    if received_ms is not None:
        time = _EPOCH + datetime.timedelta(milliseconds=told.time_ms(received_ms))
    _set(report, "time", time)
    return report


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _nested(hint: Any) -> tuple[Any, bool] | None:
    """The class of a member that has members, and whether it is a tuple of those."""
    for of in (hint, *typing.get_args(hint)):
        if dataclasses.is_dataclass(of):
            return of, typing.get_origin(hint) is tuple
    return None


def _nested_of(cls: type) -> tuple[tuple[int, tuple[Any, bool]], ...]:
    """The members of a class that have members, by their places."""
    hints = enumerate(typing.get_type_hints(cls).values())
    return tuple((at, nested) for at, hint in hints if (nested := _nested(hint)))


def _made(nested: tuple[Any, bool], told: Any) -> Any:
    """A member that has members, or is a tuple of those, from what the report says."""
    if not told:
        return told
    cls, is_tuple = nested
    return tuple(_object(cls, one) for one in told) if is_tuple else _object(cls, told)


def _object(cls: Any, told: tuple[Any, ...]) -> Any:
    if cls is Phenomenon:
        # In Rust the times and the distance of a tornado stand before the place.
        what, began, ended, distance_mi, place, moving = told
        told = (what, place, moving, began, ended, distance_mi)
    members = list(told)
    for at, nested in _NESTED[cls]:
        members[at] = _made(nested, members[at])
    return cls(*members)


_RECIPE = {name: (_json_name(name), _nested(hint)) for name, hint in typing.get_type_hints(Metar).items()}
_NESTED: dict[type, tuple[tuple[int, tuple[Any, bool]], ...]] = {
    of: _nested_of(of) for of in list(vars().values()) if isinstance(of, type) and dataclasses.is_dataclass(of)
}
