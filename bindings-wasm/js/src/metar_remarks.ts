/** The limits between which something varies. */
export interface MetarRange {
  /** The lower limit. */
  readonly least: number;
  /** The upper limit. */
  readonly greatest: number;
}

/** Highest gust since the last hourly report. */
export interface PeakWind {
  /** The direction from which it blew, degrees from true north; null for 000, which is no direction. */
  readonly fromDeg: number | null;
  /** Its speed. */
  readonly speedKt: number;
  /** Hour (UTC), if it differs from the hour of the report. */
  readonly hour: number | null;
  /** Minute. */
  readonly minute: number;
}

/** Change of station pressure in three hours. */
export interface PressureTendency {
  /** How it changed: WMO code table 0200, 0 to 8. */
  readonly character: number;
  /** The change; negative for a fall. */
  readonly changeHpa: number;
}

/** The wind turned. */
export interface WindShift {
  /** Hour (UTC), if it differs from the hour of the report. */
  readonly hour: number | null;
  /** Minute. */
  readonly minute: number;
  /** `FROPA`: a front passed. */
  readonly frontalPassage: boolean;
}

/** Visibility in a direction or at another place. */
export interface SectorVisibility {
  /** The distance, in statute miles. */
  readonly distanceMi: number;
  /** Where. */
  readonly place: string;
}

/** The ceiling at another place. */
export interface MetarCeiling {
  /** Its height. */
  readonly heightFt: number;
  /** Where. */
  readonly place: string;
}

/** A layer whose amount varies. */
export interface VariableSky {
  /** The amount of the body. */
  readonly cover: string;
  /** The other amount. */
  readonly otherCover: string;
  /** Height of the base, if it is given. */
  readonly baseFt: number | null;
}

/** What hides a part of the sky. */
export interface Obscuration {
  /** Its codes. */
  readonly weather: string;
  /** How much it hides. */
  readonly cover: string;
  /** Height of its base; 0 at the ground. */
  readonly baseFt: number | null;
}

/** When weather began or ended. */
export interface WeatherTime {
  /** Its codes, as they stand: `RA`, `FZRA`, `-SN`. */
  readonly weather: string;
  /** Whether it began or ended. */
  readonly event: "begin" | "end";
  /** Hour (UTC), if it differs from the hour of the report. */
  readonly hour: number | null;
  /** Minute. */
  readonly minute: number;
}

/** Lightning. */
export interface Lightning {
  /** Less than one a minute, one to six, more, or not given. */
  readonly frequency: "OCNL" | "FRQ" | "CONS" | null;
  /** `IC` in cloud, `CC` cloud to cloud, `CG` cloud to ground, `CA` cloud to air. */
  readonly kinds: readonly ("IC" | "CC" | "CG" | "CA")[];
  /** Where, in the words of the report; empty if it does not say. */
  readonly place: string;
}

/** A time of day in the remarks. */
export interface ClockTime {
  /** Hour (UTC), if it differs from the hour of the report. */
  readonly hour: number | null;
  /** Minute. */
  readonly minute: number;
}

/** A thunderstorm, cloud or virga in sight; a tornado, funnel cloud or waterspout. */
export interface Phenomenon {
  /**
   * The word of the report: `TS`, `CB`, `TCU`, `ACSL`, `VIRGA` …; `TORNADO`, `FUNNEL CLOUD`,
   * `WATERSPOUT`.
   */
  readonly what: string;
  /** When it began, for a tornado and the like. */
  readonly began: ClockTime | null;
  /** When it ended. */
  readonly ended: ClockTime | null;
  /** How far away it is, in statute miles, for a tornado and the like. */
  readonly distanceMi: number | null;
  /** Where, in the words of the report; empty if it does not say. */
  readonly place: string;
  /** Where it moves: a direction, `LTL` (little), `STNRY` or `UNKN` (unknown). */
  readonly moving: string | null;
}

/** Types of cloud: figures of WMO code tables 0513, 0515 and 0509; null where they cannot be seen. */
export interface CloudTypes {
  /** Low clouds. */
  readonly low: number | null;
  /** Middle clouds. */
  readonly middle: number | null;
  /** High clouds. */
  readonly high: number | null;
}

/** How much of the sky a kind of cloud, or of weather at the ground, covers (Canada). */
export interface CloudAmount {
  /** The cloud, or the weather: `SC`, `ACC`, `FG`. */
  readonly what: string;
  /** Eighths of the sky. */
  readonly oktas: number;
}

/** A layer with its type of cloud (Japan and others). */
export interface CloudLayer {
  /** Eighths of the sky. */
  readonly oktas: number;
  /** The cloud. */
  readonly what: string;
  /** Height of the base. */
  readonly baseFt: number;
}

/**
 * What the remarks of a report say, in the units of the code: inches, feet and statute miles, the
 * millimetres of Canadian amounts, °C and hPa. An amount of 0 includes a trace. What is not
 * reported is null.
 */
export interface MetarRemarks {
  /** `AO1`: cannot tell rain from snow; `AO2`: can. */
  readonly automatedStation: "AO1" | "AO2" | null;
  /** `Tsnnnsnnn`: air temperature. */
  readonly temperatureC: number | null;
  /** Dew point of the same group. */
  readonly dewPointC: number | null;
  /** `SLPnnn`: sea-level pressure, with the leading 9 or 10 that brings it nearer to the altimeter. */
  readonly seaLevelPressureHpa: number | null;
  /** `5appp`: change of station pressure in three hours. */
  readonly pressureTendency: PressureTendency | null;
  /** `PRESRR`, `PRESFR`. */
  readonly pressureChange: "rising rapidly" | "falling rapidly" | null;
  /** `Pnnnn`: precipitation since the last hourly report. */
  readonly precipitationHourlyIn: number | null;
  /** `PCPN n.nMM PAST HR`: precipitation of the past hour. */
  readonly precipitationPastHourMm: number | null;
  /** `6RRRR`: precipitation in `sixGroupMinutes`. */
  readonly sixGroupIn: number | null;
  /**
   * 180 or 360, depending on the hour of the report; null at an hour when the group has no meaning.
   */
  readonly sixGroupMinutes: number | null;
  /** `7RRRR`: precipitation in 24 hours. */
  readonly precipitation24hIn: number | null;
  /** `4/sss`: depth of snow on the ground. */
  readonly snowDepthIn: number | null;
  /** `931RRR`: snow that fell in six hours. */
  readonly snowfall6hIn: number | null;
  /** `933RRR`: water equivalent of the snow on the ground. */
  readonly snowWaterEquivalentIn: number | null;
  /** `SNINCR a/b`: growth of the snow in the last hour. */
  readonly snowIncrease1hIn: number | null;
  /** The depth to which it grew. */
  readonly snowIncreaseDepthIn: number | null;
  /** `1snTTT`: highest temperature in six hours. */
  readonly max6hC: number | null;
  /** `2snTTT`: lowest temperature in six hours. */
  readonly min6hC: number | null;
  /** `4snTTTsnTTT`: highest temperature in 24 hours. */
  readonly max24hC: number | null;
  /** Lowest temperature in 24 hours. */
  readonly min24hC: number | null;
  /** `I1nnn`: ice that grew in the past hour. */
  readonly ice1hIn: number | null;
  /** `I3nnn`: in the past 3 hours. */
  readonly ice3hIn: number | null;
  /** `I6nnn`: in the past 6 hours. */
  readonly ice6hIn: number | null;
  /** `98mmm`: minutes of sunshine on the previous day. */
  readonly sunshineMinutes: number | null;
  /** `PK WND`: highest gust since the last hourly report. */
  readonly peakWind: PeakWind | null;
  /** `WSHFT`: the wind turned. */
  readonly windShift: WindShift | null;
  /** `TWR VIS`: visibility at the tower, in statute miles. */
  readonly towerVisibilityMi: number | null;
  /** `SFC VIS`: visibility at the surface, in statute miles. */
  readonly surfaceVisibilityMi: number | null;
  /** `VIS nVn`: the visibility varies between two distances, in statute miles. */
  readonly variableVisibilityMi: MetarRange | null;
  /** `VIS NE 2 1/2`, `VIS 2 RWY11`: visibilities in a direction or at another place. */
  readonly sectorVisibilities: readonly SectorVisibility[];
  /** `CIG nnnVnnn`: the ceiling varies between two heights, in feet. */
  readonly variableCeilingFt: MetarRange | null;
  /** `CIG nnn RWYdd`: ceilings at other places. */
  readonly ceilings: readonly MetarCeiling[];
  /** `SCT025 V BKN`: layers whose amount varies. */
  readonly variableSky: readonly VariableSky[];
  /** `FU BKN020`: what hides a part of the sky. */
  readonly obscurations: readonly Obscuration[];
  /** `RAB05E30`: when weather began and ended. */
  readonly weatherTimes: readonly WeatherTime[];
  /** `OCNL LTGICCG OHD`: lightning. */
  readonly lightning: readonly Lightning[];
  /** `TS SE MOV NE`, `CB DSNT W`, `VIRGA`: thunderstorms and clouds in sight. */
  readonly phenomena: readonly Phenomenon[];
  /** `GR 1 3/4`: diameter of the largest hailstone. */
  readonly hailstoneIn: number | null;
  /** Whether the hailstone has that size, or is smaller (`GR LESS THAN 1/4`). */
  readonly hailstoneBound: "exact" | "less" | null;
  /** `8/CLCMCH`: types of cloud. */
  readonly cloudTypes: CloudTypes | null;
  /** `SC5AC2`: the clouds and how much of the sky each covers (Canada). */
  readonly cloudAmounts: readonly CloudAmount[];
  /** `1CU030`: layers with their type of cloud (Japan and others). */
  readonly cloudLayers: readonly CloudLayer[];
  /** `DENSITY ALT 1800FT`: density altitude (Canada). */
  readonly densityAltitudeFt: number | null;
  /** `A2992`: altimeter setting, for stations that report another unit in the body. */
  readonly altimeterInHg: number | null;
  /** `QFE753`: pressure at the aerodrome, in millimetres of mercury. */
  readonly qfeMmHg: number | null;
  /** `QFE…/1004`: the same in hectopascals. */
  readonly qfeHpa: number | null;
  /** `FIRST`, `LAST`, `NOSPECI`, `ACFT MSHP`: words about the reports of the station. */
  readonly notes: readonly string[];
  /**
   * Sensors that the report declares out of order: `maintenance` (`$`), `rain gauge` (`PNO`),
   * `freezing rain` (`FZRANO`), `lightning` (`TSNO`), `present weather` (`PWINO`), `runway visual
   * range` (`RVRNO`), `sea-level pressure` (`SLPNO`), `visibility` (`VISNO`) and `ceiling` (`CHINO`)
   * at other places.
   */
  readonly outages: readonly string[];
}
