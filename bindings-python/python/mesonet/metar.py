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

The readings of whole files, in the units of the service, are those of :func:`mesonet.read_metar`.
"""

import dataclasses
import datetime
import json
import typing
from dataclasses import dataclass
from typing import Any, TypeVar

from . import _mesonet
from ._columns import Instant, instant_ms

__all__ = [
    "Altimeter",
    "Ceiling",
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
    """How the true visibility relates to it: ``exact``, ``less`` (than the distance) or ``more``
    (the distance or more)."""
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
    """``light``, ``heavy``, or ``None`` for what has no sign."""
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
    """The range, or the least one, in ``unit``; ``None`` if it is missing (``////``)."""
    greatest: int | None
    """The range, or the greatest one, in ``unit``."""
    is_below_least: bool
    """``M``: ``least`` is the lowest that can be measured, and it is less."""
    is_above_greatest: bool
    """``P``: ``greatest`` is the highest that can be measured, and it is more."""
    unit: str
    """``ft`` or ``m``."""
    tendency: str | None
    """How it changes: ``up``, ``down`` or ``none``."""


@dataclass(frozen=True, slots=True)
class Range:
    """The ends between which something varies."""

    least: float
    """The least."""
    greatest: float
    """The greatest."""


@dataclass(frozen=True, slots=True)
class WindShift:
    """The wind turned."""

    hour: int | None
    """Hour (UTC), if it is not that of the report."""
    minute: int
    """Minute."""
    frontal_passage: bool
    """``FROPA``: a front passed."""


@dataclass(frozen=True, slots=True)
class SectorVisibility:
    """Visibility in a direction or at another place."""

    distance_mi: float
    """The distance."""
    place: str
    """Where."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The ceiling at another place."""

    height_ft: int
    """Its height."""
    place: str
    """Where."""


@dataclass(frozen=True, slots=True)
class VariableSky:
    """A layer whose amount varies."""

    cover: str
    """The amount of the body."""
    other_cover: str
    """The other amount."""
    base_ft: int | None
    """Height of the base, if it is given."""


@dataclass(frozen=True, slots=True)
class Obscuration:
    """What hides a part of the sky."""

    weather: str
    """Its codes."""
    cover: str
    """How much it hides."""
    base_ft: int | None
    """Height of its base; 0 at the ground."""


@dataclass(frozen=True, slots=True)
class WeatherTime:
    """When weather began or ended."""

    weather: str
    """Its codes, as they stand: ``RA``, ``FZRA``, ``-SN``."""
    event: str
    """``begin`` or ``end``."""
    hour: int | None
    """Hour (UTC), if it is not that of the report."""
    minute: int
    """Minute."""


@dataclass(frozen=True, slots=True)
class Lightning:
    """Lightning."""

    frequency: str | None
    """``OCNL`` (less than one a minute), ``FRQ`` (one to six), ``CONS`` (more), or none."""
    kinds: tuple[str, ...]
    """``IC`` in cloud, ``CC`` cloud to cloud, ``CG`` cloud to ground, ``CA`` cloud to air."""
    place: str
    """Where, in the words of the report; empty if it does not say."""


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """A thunderstorm, cloud or virga in sight."""

    what: str
    """The word of the report: ``TS``, ``CB``, ``TCU``, ``ACSL``, ``VIRGA`` …"""
    place: str
    """Where, in the words of the report; empty if it does not say."""
    moving: str | None
    """Where it moves: a direction, ``LTL`` (little) or ``STNRY``."""


@dataclass(frozen=True, slots=True)
class CloudTypes:
    """Types of cloud: figures of WMO code tables 0513, 0515 and 0509; ``None`` where they cannot
    be seen.
    """

    low: int | None
    """Low clouds."""
    middle: int | None
    """Middle clouds."""
    high: int | None
    """High clouds."""


@dataclass(frozen=True, slots=True)
class CloudAmount:
    """How much of the sky a kind of cloud, or of weather at the ground, covers (Canada)."""

    what: str
    """The cloud, or the weather: ``SC``, ``ACC``, ``FG``."""
    oktas: int
    """Eighths of the sky."""


@dataclass(frozen=True, slots=True)
class CloudLayer:
    """A layer with its type of cloud (Japan and others)."""

    oktas: int
    """Eighths of the sky."""
    what: str
    """The cloud."""
    base_ft: int
    """Height of the base."""


@dataclass(frozen=True, slots=True)
class PeakWind:
    """Highest gust since the last hourly report."""

    from_deg: int
    """The direction from which it blew, from true north."""
    speed_kt: int
    """Its speed."""
    hour: int | None
    """Hour (UTC), if it is not that of the report."""
    minute: int
    """Minute."""


@dataclass(frozen=True, slots=True)
class PressureTendency:
    """Change of station pressure in three hours."""

    character: int
    """How it changed: WMO code table 0200, 0 to 8."""
    change_hpa: float
    """The change; negative for a fall."""


@dataclass(frozen=True, slots=True)
class Remarks:
    """What the remarks of a report say, in the units of the code: inches, feet and statute miles,
    the millimetres of Canadian amounts, °C and hPa. An amount of 0 includes a trace.
    """

    automated_station: str | None
    """``AO1``: cannot tell rain from snow; ``AO2``: can."""
    temperature_c: float | None
    """``Tsnnnsnnn``: air temperature."""
    dew_point_c: float | None
    """Dew point of the same group."""
    sea_level_pressure_hpa: float | None
    """``SLPnnn``: sea-level pressure, with the 9 or 10 that brings it nearer to the altimeter
    setting."""
    pressure_tendency: PressureTendency | None
    """``5appp``: change of station pressure in three hours."""
    pressure_change: str | None
    """``PRESRR``, ``PRESFR``: ``rising rapidly`` or ``falling rapidly``."""
    precipitation_hourly_in: float | None
    """``Pnnnn``: precipitation since the last hourly report."""
    precipitation_past_hour_mm: float | None
    """``PCPN n.nMM PAST HR``: precipitation of the past hour."""
    six_group_in: float | None
    """``6RRRR``: precipitation of ``six_group_minutes``."""
    six_group_minutes: int | None
    """180 or 360, by the hour of the report; ``None`` at an hour at which the group has no
    meaning."""
    precipitation_24h_in: float | None
    """``7RRRR``: precipitation of 24 hours."""
    snow_depth_in: int | None
    """``4/sss``: depth of snow on the ground."""
    snowfall_6h_in: float | None
    """``931RRR``: snow that fell in six hours."""
    snow_water_equivalent_in: float | None
    """``933RRR``: water equivalent of the snow on the ground."""
    snow_increase_1h_in: int | None
    """``SNINCR a/b``: growth of the snow in the last hour."""
    snow_increase_depth_in: int | None
    """The depth to which it grew."""
    max_6h_c: float | None
    """``1snTTT``: highest temperature of six hours."""
    min_6h_c: float | None
    """``2snTTT``: lowest temperature of six hours."""
    max_24h_c: float | None
    """``4snTTTsnTTT``: highest temperature of 24 hours."""
    min_24h_c: float | None
    """Lowest temperature of 24 hours."""
    ice_1h_in: float | None
    """``I1nnn``: ice that grew in the past hour."""
    ice_3h_in: float | None
    """``I3nnn``: in the past 3 hours."""
    ice_6h_in: float | None
    """``I6nnn``: in the past 6 hours."""
    sunshine_minutes: int | None
    """``98mmm``: minutes of sunshine of the day before."""
    peak_wind: PeakWind | None
    """``PK WND``: highest gust since the last hourly report."""
    wind_shift: WindShift | None
    """``WSHFT``: the wind turned."""
    tower_visibility_mi: float | None
    """``TWR VIS``: visibility at the tower."""
    surface_visibility_mi: float | None
    """``SFC VIS``: visibility at the surface."""
    variable_visibility_mi: Range | None
    """``VIS nVn``: the visibility varies between two distances, in statute miles."""
    sector_visibilities: tuple[SectorVisibility, ...]
    """``VIS NE 2 1/2``, ``VIS 2 RWY11``: visibilities in a direction or at another place."""
    variable_ceiling_ft: Range | None
    """``CIG nnnVnnn``: the ceiling varies between two heights, in feet."""
    ceilings: tuple[Ceiling, ...]
    """``CIG nnn RWYdd``: ceilings at other places."""
    variable_sky: tuple[VariableSky, ...]
    """``SCT025 V BKN``: layers whose amount varies."""
    obscurations: tuple[Obscuration, ...]
    """``FU BKN020``: what hides a part of the sky."""
    weather_times: tuple[WeatherTime, ...]
    """``RAB05E30``: when weather began and ended."""
    lightning: tuple[Lightning, ...]
    """``OCNL LTGICCG OHD``: lightning."""
    phenomena: tuple[Phenomenon, ...]
    """``TS SE MOV NE``, ``CB DSNT W``, ``VIRGA``: thunderstorms and clouds in sight."""
    hailstone_in: float | None
    """``GR 1 3/4``: diameter of the largest hailstone."""
    cloud_types: CloudTypes | None
    """``8/CLCMCH``: types of cloud, WMO code tables 0513, 0515 and 0509."""
    cloud_amounts: tuple[CloudAmount, ...]
    """``SC5AC2``: what covers how much of the sky (Canada)."""
    cloud_layers: tuple[CloudLayer, ...]
    """``1CU030``: layers with their type of cloud (Japan and others)."""
    density_altitude_ft: int | None
    """``DENSITY ALT 1800FT``: density altitude (Canada)."""
    altimeter_in_hg: float | None
    """``A2992``: altimeter setting, for stations that report another unit in the body."""
    qfe_mm_hg: float | None
    """``QFE753``: pressure at the aerodrome, in millimetres of mercury."""
    qfe_hpa: int | None
    """``QFE…/1004``: the same in hectopascals."""
    notes: tuple[str, ...]
    """``FIRST``, ``LAST``, ``NOSPECI``, ``ACFT MSHP``: words about the reports of the station."""
    outages: tuple[str, ...]
    """Sensors that the report declares out of order: ``maintenance`` (``$``), ``rain gauge``
    (``PNO``), ``freezing rain`` (``FZRANO``), ``lightning`` (``TSNO``), ``present weather``
    (``PWINO``), ``runway visual range`` (``RVRNO``), ``sea-level pressure`` (``SLPNO``),
    ``visibility`` (``VISNO``) and ``ceiling`` (``CHINO``) at other places."""


@dataclass(frozen=True, slots=True)
class Metar:
    """Everything that a report says, with the unit in each name. Numbers are those of the report:
    wind, visibility and altimeter setting, which come in several units, are given in that of
    the report and in the service's. What the report does not say is None.
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
    sky, or the vertical visibility."""
    temperature_c: float | None
    """Air temperature: in tenths if the remarks have them."""
    dew_point_c: float | None
    """Dew point, in the same way."""
    altimeter: Altimeter | None
    """Altimeter setting."""
    sea_surface_temperature_c: int | None
    """``W..``: temperature of the surface of the sea."""
    sea_state: int | None
    """``S.``: state of the sea, WMO code table 3700."""
    wind_shear: tuple[str, ...]
    """``WS``: the runways with wind shear in the lowest 1,600 ft, or ``ALL RWY``."""
    runway_states: tuple[str, ...]
    """Groups on the state of runways, as they stand."""
    trend: str | None
    """The trend forecast, as it stands: what is expected, not what was observed."""
    remarks: Remarks
    """The remarks."""
    not_understood: tuple[str, ...]
    """Groups of the body and of the remarks that were not understood, in their order."""
    time: datetime.datetime | None
    """When it was made (UTC), if the time of its receipt was given."""
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


_T = TypeVar("_T")


def parse_metar(text: str, *, received: Instant | None = None) -> Metar:
    """Decodes one METAR or SPECI report, with or without its ``METAR`` and its closing ``=``.

    A report gives only the day of the month; with ``received``, any time within two weeks of its
    receipt, ``time`` is the whole time. Groups and words that are not understood are listed in
    ``not_understood``: nothing is left out without a word. Values that are not reported are None.

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
    told, summary, ts_ms = _mesonet.parse_metar(text, received_ms)
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    time = None if ts_ms is None else epoch + datetime.timedelta(milliseconds=ts_ms)
    return _made(Metar, {**json.loads(told), "time": time, "summary": summary})


def _recipe(cls: type) -> list[tuple[str, Any]]:
    """The names of the members in JSON, and the class of those that are one or several of it."""
    recipe = []
    for name, hint in typing.get_type_hints(cls).items():
        first, *rest = name.split("_")
        nested = [of for of in (hint, *typing.get_args(hint)) if dataclasses.is_dataclass(of)]
        recipe.append((first + "".join(word.capitalize() for word in rest), next(iter(nested), None)))
    return recipe


def _made(cls: type[_T], told: dict[str, Any]) -> _T:
    members = []
    for name, nested in _RECIPES[cls]:
        value = told[name]
        if isinstance(value, list):
            value = tuple(_made(nested, one) if nested else one for one in value)
        elif nested and value is not None:
            value = _made(nested, value)
        members.append(value)
    return cls(*members)


_RECIPES: dict[type, list[tuple[str, Any]]] = {
    of: _recipe(of) for of in list(vars().values()) if isinstance(of, type) and dataclasses.is_dataclass(of)
}
