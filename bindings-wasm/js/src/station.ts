import {
  array,
  flag,
  float64Array,
  int32,
  number,
  object,
  optionalText,
  text,
  uint8Array,
  uint32,
} from "./check.js";
import { MesonetError, refusing } from "./error.js";
import type {
  BaseQualityName,
  IntervalTypeName,
  ReasonQualityName,
  VariableName,
} from "./generated/names.js";

/** The flat module with the checks. */
export type Raw = typeof import("./generated/checks.js");

/** The place of a station. */
export interface StationSite {
  /** Degrees towards the east. */
  readonly lon: number;
  /** Degrees towards the north. */
  readonly lat: number;
  /** Metres above mean sea level, if known. */
  readonly altitudeM?: number | null | undefined;
}

/** The readings of one series at one station: columns of the same length, ascending in time. */
export interface SeriesReadings {
  /** Name of the variable. */
  readonly variable: VariableName;
  /** How a value represents its interval. */
  readonly intervalType: IntervalTypeName;
  /** Length of averaging or accumulation; 0 for instantaneous. */
  readonly intervalMinutes: number;
  /** Whether the values were derived rather than received. */
  readonly calculated?: boolean | undefined;
  /** Unit of the values, if it is not the canonical one of the variable. */
  readonly reportedUnit?: string | null | undefined;
  /** Label of a bucket, for a grouped series. */
  readonly bucket?: string | null | undefined;
  /** Whole milliseconds since 1970. */
  readonly tsMs: Float64Array;
  /** Values, NaN for none. */
  readonly value: Float64Array;
  /** The source's verdict on each reading: base codes, together with `reason`. */
  readonly base?: Uint8Array | undefined;
  /** Its reason codes. */
  readonly reason?: Uint8Array | undefined;
}

/** The verdicts on the readings of one series, in their order. */
export interface Verdicts {
  /** Codes of `BaseQuality`. */
  base: Uint8Array;
  /** Codes of `ReasonQuality`. */
  reason: Uint8Array;
}

/** A verdict by its names. */
export interface Quality {
  baseQuality: BaseQualityName;
  reasonQuality: ReasonQualityName;
}

/** An input of a check. */
export interface CheckInput {
  /** Name of a variable, or of what was computed. */
  name: string;
  /** The value; null if it is not a number. */
  value: number | null;
  unit: string;
  /** The time of the input; absent if it has no time of its own. */
  timestamp?: string;
}

/** A limit that a check compared the inputs with. */
export interface CheckLimit {
  name: string;
  /** The minimum; absent if there is none. */
  min?: number;
  /** The maximum; absent if there is none. */
  max?: number;
  unit: string;
  /** Where the limit was published. */
  source: string;
}

/** The result of one check. */
export interface CheckReport {
  check: string;
  ran: boolean;
  /** Why the check did not run, if it did not. */
  notRunBecause?: string;
  inputs: CheckInput[];
  limits: CheckLimit[];
  /** The verdict of the check: Good if it passed; absent if it did not run. */
  outcome?: Quality;
}

/** The results of the checks for one reading. */
export interface Explanation {
  variable: VariableName;
  unit: string;
  /** Time of the reading. */
  timestamp: string;
  /** The value; null if it is not a number. */
  value: number | null;
  /** The source's verdict. */
  source: Quality;
  /** The checks, in order. Empty if the source said Good. */
  checks: CheckReport[];
  verdict: Quality;
  /** The check that gave the verdict; absent if the source gave it or no check tripped. */
  decidedBy?: string;
}

/** The quality checks over columns. */
export interface CheckFunctions {
  /** The default limits, as TOML. */
  readonly DEFAULT_LIMITS_TOML: string;
  /**
   * Runs all checks, except the comparison with neighbours, over all series of one station. Returns
   * the verdicts of each series, in the order given.
   *
   * @param limitsToml Limits whose entries replace the default ones. @throws {MesonetError} for an
   * invalid position, columns of different lengths, times that do not ascend, unknown names and
   * codes, and invalid limits.
   */
  checkStation(
    site: StationSite,
    series: readonly SeriesReadings[],
    limitsToml?: string | null,
  ): Verdicts[];
  /**
   * Explains one reading: the inputs, the limits with their sources, and the outcome of each check.
   * Gives the same checks in the same order as `checkStation`, as the object that the service
   * sends.
   *
   * @throws {MesonetError} like `checkStation`, and for a missing reading.
   */
  explain(
    site: StationSite,
    series: readonly SeriesReadings[],
    whichSeries: number,
    whichReading: number,
    limitsToml?: string | null,
  ): Explanation;
}

/** A series with every member checked, as the module reads it. */
export interface SeriesColumns {
  variable: string;
  intervalType: string;
  intervalMinutes: number;
  calculated: boolean;
  reportedUnit: string | undefined;
  bucket: string | undefined;
  tsMs: Float64Array;
  value: Float64Array;
  base: Uint8Array | undefined;
  reason: Uint8Array | undefined;
}

export function checkFunctions(raw: Raw): CheckFunctions {
  return {
    DEFAULT_LIMITS_TOML: raw.default_limits_toml(),
    checkStation(site, series, limitsToml) {
      const [place, columns] = [siteArguments(site), listOfSeries(series)];
      const limits = optionalText(limitsToml, "limitsToml");
      const codes = refusing(() => raw.check_station(...place, columns, limits));
      return columns.map(verdictsIn(codes));
    },
    explain(site, series, whichSeries, whichReading, limitsToml) {
      const [place, columns] = [siteArguments(site), listOfSeries(series)];
      const which = [uint32(whichSeries, "whichSeries"), uint32(whichReading, "whichReading")] as const;
      const limits = optionalText(limitsToml, "limitsToml");
      const json = refusing(() => raw.explain(...place, columns, ...which, limits));
      return JSON.parse(json) as Explanation;
    },
  };
}

/** Takes the verdicts of one series after another from the codes of all series. */
export function verdictsIn(codes: Uint8Array): (columns: SeriesColumns) => Verdicts {
  let at = 0;
  const next = (length: number) => codes.slice(at, (at += length));
  return ({ tsMs: { length } }) => ({ base: next(length), reason: next(length) });
}

/** Longitude, latitude and altitude of a site, or a TypeError. */
export function siteArguments(
  site: unknown,
  what = "site",
): [lon: number, lat: number, altitudeM: number | undefined] {
  const { lon, lat, altitudeM } = object(site, what);
  const altitude = altitudeM ?? undefined;
  return [
    number(lon, "lon"),
    number(lat, "lat"),
    altitude === undefined ? undefined : number(altitude, "altitudeM"),
  ];
}

/** The series of a station with every member checked. */
export function listOfSeries(series: unknown, of = ""): SeriesColumns[] {
  return array(series, `${of}series`).map((given, at) => seriesColumns(given, `${of}series ${at}`));
}

function seriesColumns(given: unknown, which: string): SeriesColumns {
  const of = object(given, which);
  const what = (key: string) => `${which}: ${key}`;
  const [base, reason] = [of["base"] ?? undefined, of["reason"] ?? undefined];
  if ((base === undefined) !== (reason === undefined)) {
    throw new TypeError(`${which}: base and reason go together; got only one`);
  }
  return {
    variable: text(of["variable"], what("variable")),
    intervalType: text(of["intervalType"], what("intervalType")),
    intervalMinutes: int32(of["intervalMinutes"], what("intervalMinutes")),
    calculated: flag(of["calculated"] ?? false, what("calculated")),
    reportedUnit: optionalText(of["reportedUnit"], what("reportedUnit")),
    bucket: optionalText(of["bucket"], what("bucket")),
    tsMs: milliseconds(of["tsMs"], what("tsMs")),
    value: float64Array(of["value"], what("value")),
    base: base === undefined ? undefined : uint8Array(base, what("base")),
    reason: reason === undefined ? undefined : uint8Array(reason, what("reason")),
  };
}

function milliseconds(given: unknown, what: string): Float64Array {
  const times = float64Array(given, what);
  const reading = times.findIndex((time) => !Number.isSafeInteger(time));
  if (reading >= 0) {
    throw new MesonetError(
      `${what} must be whole milliseconds; reading ${reading} is ${times[reading]}`,
    );
  }
  return times;
}
