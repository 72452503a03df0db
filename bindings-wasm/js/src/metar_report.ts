import type { MetarRemarks } from "./metar_remarks.js";

/** The flat module with the reports. */
export type Raw = typeof import("./generated/metar.js");

/** Wind of the body. */
export interface MetarWind {
  /** The direction from which it blows, degrees from true north: 360 is north, 0 means calm. */
  readonly fromDeg: number | null;
  /** `VRB`: it has no single direction. */
  readonly variable: boolean;
  /** Mean speed, in `unit`. */
  readonly speed: number | null;
  /** Highest gust of the last ten minutes, in `unit`. */
  readonly gust: number | null;
  /** The unit of the report. */
  readonly unit: "kt" | "m/s" | "km/h";
  /** Mean speed. */
  readonly speedKmh: number | null;
  /** Highest gust. */
  readonly gustKmh: number | null;
  /** The direction from which the wind varies, clockwise. */
  readonly turnsFromDeg: number | null;
  /** The direction to which it varies. */
  readonly turnsToDeg: number | null;
}

/** Prevailing visibility. */
export interface MetarVisibility {
  /** The distance, in `unit`. */
  readonly distance: number;
  /** The unit of the report: statute miles or metres. */
  readonly unit: "mi" | "m";
  /** How the true visibility relates to the distance; `more` is the distance or more. */
  readonly bound: "exact" | "less" | "more";
  /** The distance. */
  readonly distanceKm: number;
}

/** Visibility in a direction. */
export interface DirectionalVisibility {
  /** The distance. */
  readonly distanceM: number;
  /** The direction, one of eight: `SW`. */
  readonly direction: string;
}

/** Runway visual range. `least` and `greatest` differ where it varied in the last ten minutes. */
export interface RunwayVisualRange {
  /** The runway: `05L`. */
  readonly runway: string;
  /** The range, or the lowest range, in `unit`; null if it is missing. */
  readonly least: number | null;
  /** The range, or the highest range, in `unit`. */
  readonly greatest: number | null;
  /** `M`: the range is below `least`, the lowest that can be measured. */
  readonly isBelowLeast: boolean;
  /** `P`: the range is above `greatest`, the highest that can be measured. */
  readonly isAboveGreatest: boolean;
  /** The unit of the report. */
  readonly unit: "ft" | "m";
  /** How it changes: `U`, `D` or `N`. */
  readonly tendency: "up" | "down" | "none" | null;
}

/** One group of weather. */
export interface MetarWeather {
  /** The group. */
  readonly text: string;
  /** In English. */
  readonly description: string;
  /** Null for a group without a sign. */
  readonly intensity: "light" | "heavy" | null;
  /** `VC`: not at the station, but within 8 to 16 km. */
  readonly inVicinity: boolean;
  /** `RE`: since the last report, but no longer. */
  readonly recent: boolean;
  /** The two-letter codes: `SH`, `RA`. */
  readonly codes: readonly string[];
}

/** One layer of cloud, or what replaces the layers. */
export interface MetarCloud {
  /** The word of the report. */
  readonly cover: "FEW" | "SCT" | "BKN" | "OVC" | "VV" | "CLR" | "SKC" | "NSC" | "NCD" | "///";
  /** The cover in eighths: FEW 2, SCT 4, BKN 7, OVC 8. */
  readonly oktas: number | null;
  /** Height of the base above the ground; of `VV`, the vertical visibility. */
  readonly baseFt: number | null;
  /** Cumulonimbus or towering cumulus. */
  readonly convection: "CB" | "TCU" | null;
  /** The genus, if the report names exactly one: `SC`, `AC`, `CB`; `CU` for TCU. */
  readonly genus: string | null;
}

/** Altimeter setting (QNH). */
export interface MetarAltimeter {
  /** The setting, in `unit`. */
  readonly value: number;
  /** The unit of the report. */
  readonly unit: "inHg" | "hPa";
  /** The setting. */
  readonly hpa: number;
}

/**
 * Everything that the groups of a report say, with the unit in each name. Numbers are those of the
 * report. Wind, visibility and altimeter setting come in several units; they are given in the unit
 * of the report and in the unit of the service. What the report does not say is null.
 */
export interface MetarGroups {
  /** The groups of the report with one blank between them. */
  readonly text: string;
  /** The kind of the report, if the report says it. */
  readonly kind: "METAR" | "SPECI" | null;
  /** Station. */
  readonly station: string;
  /** Day of the month (UTC), 1 to 31. */
  readonly day: number;
  /** Hour (UTC), 0 to 23. */
  readonly hour: number;
  /** Minute, 0 to 59. */
  readonly minute: number;
  /** 0 for a first report; 1 for `COR` and `CCA`, 2 for `CCB` and so on. */
  readonly revision: number;
  /** `AUTO`: made without an observer. */
  readonly auto: boolean;
  /** `NIL`: the report is missing; it has no values. */
  readonly nil: boolean;
  /** Wind. */
  readonly wind: MetarWind | null;
  /** Prevailing visibility. */
  readonly visibility: MetarVisibility | null;
  /** Visibilities in a direction, where they differ from the prevailing one. */
  readonly directionalVisibilities: readonly DirectionalVisibility[];
  /** `CAVOK`: visibility 10 km or more, no cloud below 5,000 ft, no weather. */
  readonly cavok: boolean;
  /** Runway visual ranges. */
  readonly runwayVisualRanges: readonly RunwayVisualRange[];
  /** Present and recent weather. */
  readonly weather: readonly MetarWeather[];
  /** `//` in place of the weather: an instrument could not tell. */
  readonly weatherMissing: boolean;
  /** Cloud layers, usually lowest first, or what replaces them. */
  readonly clouds: readonly MetarCloud[];
  /**
   * Height of the ceiling above the ground: the lowest layer that covers more than half of the sky, or
   * the vertical visibility (as Canada and the United States define it).
   */
  readonly ceilingFt: number | null;
  /** `VV`: vertical visibility, which is not the height of a cloud. */
  readonly verticalVisibilityFt: number | null;
  /** Air temperature: in tenths if the remarks have them. */
  readonly temperatureC: number | null;
  /** Dew point, in the same way. */
  readonly dewPointC: number | null;
  /** Altimeter setting. */
  readonly altimeter: MetarAltimeter | null;
  /** `W..`: sea surface temperature. */
  readonly seaSurfaceTemperatureC: number | null;
  /** `S.`: state of the sea, WMO code table 3700. */
  readonly seaState: number | null;
  /** `WS`: the runways with wind shear in the lowest 1,600 ft, or `ALL RWY`. */
  readonly windShear: readonly string[];
  /** Groups on the state of runways, as reported. */
  readonly runwayStates: readonly string[];
  /** The trend forecast, as reported: what is expected, not what was observed. */
  readonly trend: string | null;
  /** The remarks. */
  readonly remarks: MetarRemarks;
  /** Groups of the body and of the remarks that were not understood, in their order. */
  readonly notUnderstood: readonly string[];
}

/** A report with its date and in words. */
export interface MetarReport extends MetarGroups {
  /** The time of the report, milliseconds since 1970, if the time of receipt was given. */
  readonly tsMs: number | null;
  /** One line of English. */
  readonly summary: string;
}

/** What is known of a report in addition to its text. */
export interface MetarOptions {
  /**
   * Any time within two weeks of its receipt, milliseconds since 1970: a report gives only the day of
   * the month.
   */
  readonly receivedMs?: number;
}

/** One report with all its groups. */
export interface MetarReportFunctions {
  /**
   * Decodes one METAR or SPECI report, with or without its `METAR` and its closing `=`.
   * `notUnderstood` lists groups and words that are not understood.
   *
   * @throws {MesonetError} if there is no station, or no time after it, if the text is longer than
   * 4,096 bytes, or if it goes on after the `=`.
   */
  parseMetar(text: string, options?: MetarOptions): MetarReport;
}
