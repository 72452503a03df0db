import { attached, className, isClass, milliseconds, object } from "./check.js";
import { encoded, unicode } from "./encoding.js";
import { refusing } from "./error.js";
import type { IntervalTypeName, VariableName } from "./generated/names.js";
import type { MetarOptions, Raw } from "./metar_report.js";

/**
 * The readings of a file of reports: an array for each column, all of the same length, in the order
 * of the reports. Values are in the canonical units of their variables, and are not checked. Names
 * that repeat are given as positions in a list.
 *
 * The peak wind of the remarks is a reading at the moment when it blew, before the time of the
 * report.
 */
export interface MetarReadings {
  /** Number of readings. */
  readonly length: number;
  /** Ids of the stations, which are their location indicators. */
  readonly stations: readonly string[];
  /** Names of all variables. */
  readonly variables: readonly VariableName[];
  /** Symbols of the units. */
  readonly units: readonly string[];
  /** Names of all types of intervals. */
  readonly intervalTypes: readonly IntervalTypeName[];
  /** Qualifiers that a report may add to a number. */
  readonly qualifiers: readonly string[];
  /** Labels of grouped series, such as `layer 1`; the empty label means no group. */
  readonly buckets: readonly string[];

  /** Station of each reading: its place in `stations`. */
  readonly station: Uint32Array;
  /** Time, milliseconds since 1970. */
  readonly tsMs: Float64Array;
  /** Variable: its place in `variables`. */
  readonly variable: Uint8Array;
  /** The value. */
  readonly value: Float64Array;
  /** Its unit: the place in `units`. */
  readonly unit: Uint32Array;
  /** How the value represents its interval: the place in `intervalTypes`. */
  readonly intervalType: Uint8Array;
  /** Length of averaging or accumulation in minutes; 0 for instantaneous. */
  readonly intervalMinutes: Int32Array;
  /** 0, or 1 and the place in `qualifiers`. */
  readonly qualifier: Uint8Array;
  /** Label of a grouped series: its place in `buckets`. */
  readonly bucket: Uint32Array;
  /** 1 where the value was derived: wind at 10 m, pressure at the station. */
  readonly calculated: Uint8Array;
  /** 0 for a first report, higher for each correction of it. */
  readonly revision: Uint8Array;
  /** Latitude of the station; NaN if the file has no place. */
  readonly lat: Float64Array;
  /** Longitude of the station; NaN if the file has no place. */
  readonly lon: Float64Array;
  /** Altitude of the station; NaN if the file does not give it. */
  readonly altitudeM: Float64Array;

  /** The kind of the file. */
  readonly kind: "awc-csv" | "awc-xml" | "metar-bulletin";
  /** Number of reports that were read. */
  readonly read: number;
  /** Number of reports that were left out because they cannot be read. */
  readonly refused: number;
  /** Where the first hundred of the reports left out are, and why they were left out. */
  readonly refusals: readonly string[];
  /** Number of groups that could not be read, in reports that were read. */
  readonly unreadGroups: number;
}

/** Files of reports as columns of readings. */
export interface MetarReadingsFunctions {
  /**
   * Reads METAR and SPECI reports: bulletins, files of one report a line, and the tables and XML of the
   * Aviation Weather Center. A report that cannot be read is left out and counted.
   *
   * `receivedMs` is needed for reports that give only the day of the month, and is the present by
   * default.
   *
   * @throws {MesonetError} for a file of another kind, or a file that breaks off.
   */
  readMetars(content: string | Uint8Array | ArrayBuffer, options?: MetarOptions): MetarReadings;
}

function bytesOf(content: unknown): Uint8Array {
  if (typeof content === "string") {
    return encoded(content, "content");
  }
  if (isClass(content, "Uint8Array")) {
    return attached(content, "content");
  }
  if (isClass(content, "ArrayBuffer")) {
    return new Uint8Array(attached(content, "content"));
  }
  throw new TypeError(
    `content must be a string, a Uint8Array or an ArrayBuffer; got ${className(content)}`,
  );
}

export function metarReadingsFunctions(raw: Raw): MetarReadingsFunctions {
  const variables = Object.freeze(raw.MetarColumns.variables()) as readonly VariableName[];
  const intervalTypes = Object.freeze(
    raw.MetarColumns.interval_types(),
  ) as readonly IntervalTypeName[];
  const qualifiers = Object.freeze(raw.MetarColumns.qualifiers());
  return {
    readMetars(content, options = {}) {
      const bytes = unicode(bytesOf(content), "content");
      const { receivedMs } = object(options, "options");
      const received = milliseconds(receivedMs === undefined ? Date.now() : receivedMs, "receivedMs");
      const columns = refusing(() => new raw.MetarColumns(bytes, received));
      try {
        const value = columns.value();
        return {
          length: value.length,
          stations: columns.stations(),
          variables,
          units: columns.units(),
          intervalTypes,
          qualifiers,
          buckets: columns.buckets(),
          station: columns.station(),
          tsMs: columns.ts_ms(),
          variable: columns.variable(),
          value,
          unit: columns.unit(),
          intervalType: columns.interval_type(),
          intervalMinutes: columns.interval_minutes(),
          qualifier: columns.qualifier(),
          bucket: columns.bucket(),
          calculated: columns.calculated(),
          revision: columns.revision(),
          lat: columns.lat(),
          lon: columns.lon(),
          altitudeM: columns.altitude_m(),
          kind: columns.kind() as MetarReadings["kind"],
          read: columns.read(),
          refused: columns.refused(),
          refusals: columns.refusals(),
          unreadGroups: columns.unread_groups(),
        };
      } finally {
        columns.free();
      }
    },
  };
}
