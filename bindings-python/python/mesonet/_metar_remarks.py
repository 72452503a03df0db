"""The remarks of a METAR, for :mod:`mesonet.metar`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """The limits between which something varies."""

    least: float
    """The lower limit."""
    greatest: float
    """The upper limit."""


@dataclass(frozen=True, slots=True)
class WindShift:
    """The wind turned."""

    hour: int | None
    """Hour (UTC), if it differs from the hour of the report."""
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
    """Hour (UTC), if it differs from the hour of the report."""
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
class ClockTime:
    """A time of day in the remarks."""

    hour: int | None
    """Hour (UTC), if it differs from the hour of the report."""
    minute: int
    """Minute."""


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """A thunderstorm, cloud or virga in sight; a tornado, funnel cloud or waterspout."""

    what: str
    """The word of the report: ``TS``, ``CB``, ``TCU``, ``ACSL``, ``VIRGA`` …; ``TORNADO``,
    ``FUNNEL CLOUD``, ``WATERSPOUT``."""
    place: str
    """Where, in the words of the report; empty if it does not say."""
    moving: str | None
    """Where it moves: a direction, ``LTL`` (little), ``STNRY`` or ``UNKN`` (unknown)."""
    began: ClockTime | None = None
    """When it began, for a tornado and the like."""
    ended: ClockTime | None = None
    """When it ended."""
    distance_mi: float | None = None
    """How far away it is, in statute miles, for a tornado and the like."""


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

    from_deg: int | None
    """The direction from which it blew, from true north; ``None`` for 000, which is no direction."""
    speed_kt: int
    """Its speed."""
    hour: int | None
    """Hour (UTC), if it differs from the hour of the report."""
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
    """``6RRRR``: precipitation in ``six_group_minutes``."""
    six_group_minutes: int | None
    """180 or 360, depending on the hour of the report; ``None`` at an hour when the group has no
    meaning."""
    precipitation_24h_in: float | None
    """``7RRRR``: precipitation in 24 hours."""
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
    """``1snTTT``: highest temperature in six hours."""
    min_6h_c: float | None
    """``2snTTT``: lowest temperature in six hours."""
    max_24h_c: float | None
    """``4snTTTsnTTT``: highest temperature in 24 hours."""
    min_24h_c: float | None
    """Lowest temperature in 24 hours."""
    ice_1h_in: float | None
    """``I1nnn``: ice that grew in the past hour."""
    ice_3h_in: float | None
    """``I3nnn``: in the past 3 hours."""
    ice_6h_in: float | None
    """``I6nnn``: in the past 6 hours."""
    sunshine_minutes: int | None
    """``98mmm``: minutes of sunshine on the previous day."""
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
    """``TS SE MOV NE``, ``CB DSNT W``, ``VIRGA``: thunderstorms and clouds in sight; ``TORNADO B13 6 NE``."""
    hailstone_in: float | None
    """``GR 1 3/4``: diameter of the largest hailstone."""
    hailstone_bound: str | None
    """``exact`` if the hailstone has that size, ``less`` if it is smaller (``GR LESS THAN 1/4``)."""
    cloud_types: CloudTypes | None
    """``8/CLCMCH``: types of cloud, WMO code tables 0513, 0515 and 0509."""
    cloud_amounts: tuple[CloudAmount, ...]
    """``SC5AC2``: the clouds and how much of the sky each covers (Canada)."""
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
