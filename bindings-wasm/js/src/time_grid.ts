import {
  array,
  attached,
  className,
  float64Array,
  integer,
  isClass,
  milliseconds,
  object,
  output,
  uint32,
  uint32Array,
} from "./check.js";
import { MesonetError, refusing } from "./error.js";
import type { Raw } from "./raw.js";
import { type Resident, resident } from "./resident.js";

/** Limits on the size of an answer. */
export interface Caps {
  /** Stations × names × positions; by default 500,000 as in the service. */
  readonly cells?: number;
  /** Positions in time; by default 2,000. */
  readonly positions?: number;
}

/** A grid in time: start, start + step, … up to the end, and the end itself. */
export interface Grid {
  /** Start in whole milliseconds since 1970. */
  readonly startMs: number;
  /** End likewise; after the start. */
  readonly endMs: number;
  /** Whole minutes, at least 1. */
  readonly stepMinutes: number;
}

/** Why a grid has a coarser step than requested. */
export interface Coarsening {
  /** The requested step in minutes. */
  requestedStep: number;
  /** How many times the requested step is used. */
  factor: number;
  /** The cap that required it. */
  limitedBy: "cells" | "positions";
  /** Stations × names × positions. */
  cells: number;
  /** The number of positions. */
  positions: number;
}

/** A grid that fits its caps. */
export interface TimeGrid {
  /** The step that is used: the requested one or a whole multiple of it. */
  stepMinutes: number;
  /** The positions in milliseconds since 1970. */
  tsMs: Float64Array;
  /** Present if the step differs from the requested one. */
  coarsening?: Coarsening;
}

/** Arrays with all positions of the first series, then of the second, and so on. */
export interface GridCells<V extends Float64Array | Float32Array = Float64Array> {
  /** Values; NaN where there is no reading. */
  value: V;
  /** Age of each reading at its position in milliseconds; NaN where there is no reading. */
  ageMs: Float64Array;
  /** Index of each reading in the columns given; -1 where there is no reading. */
  reading: Int32Array;
}

/** Readings on a grid. */
export interface Resampled<V extends Float64Array | Float32Array = Float64Array> extends TimeGrid, GridCells<V> {}

/** How to resample. */
export interface ResampleOptions<V extends Float64Array | Float32Array = Float64Array> extends Grid {
  /**
   * The greatest age of a reading that fills a position, in whole milliseconds. By default any age.
   */
  readonly maxAgeMs?: number | undefined;
  /** If given, the step is made coarser to fit these. */
  readonly caps?: Caps | undefined;
  /**
   * Arrays with a place for each series and position, whose content is replaced and which are then part
   * of the result; those that are left out are made. In a `Float32Array` values are rounded. Nothing is
   * written if anything is refused.
   */
  readonly out?: Partial<GridCells<V>> | undefined;
}

/** The series that fill the positions of a grid. */
export interface Picks {
  /** Index of the series among the candidates; -1 where none has a reading. */
  series: Int32Array;
  /** Index of the reading in its series; -1 where there is none. */
  reading: Int32Array;
}

/**
 * Readings of many series, kept in the memory of WebAssembly, for several grids of the same
 * readings.
 */
export interface SeriesTable extends Resident {
  /** The number of series. */
  readonly series: number;
  /** See {@link TimeGridFunctions.resample}. */
  resample<V extends Float64Array | Float32Array = Float64Array>(options: ResampleOptions<V>): Resampled<V>;
}

/** The time grid of the service. */
export interface TimeGridFunctions {
  /**
   * Fits a grid to the caps. The step used is the smallest whole multiple of the given step at
   * which stations × names × positions, and the positions, stay within the caps. A grid of start
   * and end alone is never refused.
   *
   * @throws {MesonetError} for a start that is not before the end, and numbers out of range.
   */
  planGrid(
    grid: Grid & { readonly stations?: number; readonly names?: number; readonly caps?: Caps },
  ): TimeGrid;
  /**
   * The latest reading at or before each position of a grid. A reading whose value is NaN fills its
   * position like any other.
   *
   * @param ts Times, ascending within a series: whole milliseconds since 1970 in a `Float64Array`, or
   * whole minutes since 1970 in an `Int32Array`.
   * @param value Their values.
   * @param options The grid. With `offsets`, series i has the readings from `offsets[i]` up to
   * `offsets[i + 1]`, as in Arrow's lists. Without `offsets`, all readings are one series.
   * @throws {MesonetError} for columns of different lengths, times that descend or are not whole
   * milliseconds, offsets that do not ascend from 0 to the number of readings, an invalid grid, and
   * outputs of another length.
   */
  resample<V extends Float64Array | Float32Array = Float64Array>(
    ts: Float64Array | Int32Array,
    value: Float64Array,
    options: ResampleOptions<V> & { readonly offsets?: Uint32Array | undefined },
  ): Resampled<V>;
  /**
   * Keeps the readings of many series in the memory of WebAssembly.
   *
   * @throws {MesonetError} like `resample`, for the columns.
   */
  seriesTable(ts: Float64Array | Int32Array, value: Float64Array, offsets: Uint32Array): SeriesTable;
  /**
   * Chooses which of several series of one variable fills each position of a grid, as the service
   * does. The first series whose newest reading is at most 90 minutes old wins. If there is none,
   * the series with the newest reading wins; on a tie, the first.
   *
   * @param candidates The times of the series, each ascending, the preferred series first.
   * @throws {MesonetError} for times that descend or are not whole milliseconds, and an invalid grid.
   */
  pickSeries(
    candidates: readonly Float64Array[],
    options: Grid & { readonly maxAgeMs?: number | undefined },
  ): Picks;
}

export function timeGridFunctions(raw: Raw): TimeGridFunctions {
  const [cells, positions] = raw.default_caps() as unknown as [number, number];

  const planned = (
    given: Record<string, unknown>,
    stations: number,
    names: number,
  ): { grid: GridParts; coarsening?: Coarsening } => {
    const [startMs, endMs, step] = gridParts(given);
    const caps = object(given["caps"] ?? {}, "caps");
    const limits = [
      uint32(caps["cells"] ?? cells, "caps.cells"),
      uint32(caps["positions"] ?? positions, "caps.positions"),
    ] as const;
    const [stepMinutes, requestedStep, factor, limitedBy, ofCells, ofPositions] = refusing(() =>
      raw.plan_grid(startMs, endMs, step, stations, names, ...limits),
    ) as unknown as [number, ...number[]];
    const grid: GridParts = [startMs, endMs, stepMinutes];
    if (requestedStep === undefined) {
      return { grid };
    }
    const coarsening: Coarsening = {
      requestedStep,
      factor: factor!,
      limitedBy: limitedBy === 0 ? "cells" : "positions",
      cells: ofCells!,
      positions: ofPositions!,
    };
    return { grid, coarsening };
  };

  const memory = raw.linear_memory() as WebAssembly.Memory;

  const kept = (ts: unknown, value: unknown, offsets: Uint32Array) => {
    const [times, values] = [timesOf(ts), float64Array(value, "value")];
    const made = refusing(() =>
      isClass(times, "Int32Array")
        ? raw.SeriesTable.of_minutes(times, values, offsets)
        : new raw.SeriesTable(times, values, offsets),
    );
    const [table, freeing] = resident(made, "this table of series");
    const series = offsets.length - 1;
    const resample = (options: unknown): Resampled => {
      const [of, given] = [table(), object(options, "options")];
      const maxAgeMs = maxAge(given["maxAgeMs"]);
      const { grid, coarsening }: ReturnType<typeof planned> =
        (given["caps"] ?? undefined) === undefined
          ? { grid: gridParts(given) }
          : planned(given, series, 1);
      const tsMs = refusing(() => raw.grid_positions(...grid));
      const cells = cellsOf(given["out"], series * tsMs.length);
      const part = Math.max(1, Math.floor(PART / tsMs.length));
      for (let first = 0; first < series; first += part) {
        const end = Math.min(first + part, series);
        refusing(() => of.resample(first, end, ...grid, maxAgeMs));
        const [at, length] = [first * tsMs.length, (end - first) * tsMs.length];
        cells.value.set(new Float64Array(memory.buffer, of.value_at(), length), at);
        cells.ageMs.set(new Float64Array(memory.buffer, of.age_ms_at(), length), at);
        cells.reading.set(new Int32Array(memory.buffer, of.reading_at(), length), at);
      }
      return { stepMinutes: grid[2], tsMs, ...cells, ...(coarsening && { coarsening }) };
    };
    // The class of the values is that of the output.
    return { series, resample: resample as SeriesTable["resample"], ...freeing };
  };

  return {
    planGrid(options) {
      const given = object(options, "options");
      const stations = uint32(given["stations"] ?? 1, "stations");
      const { grid, coarsening } = planned(given, stations, uint32(given["names"] ?? 1, "names"));
      const tsMs = refusing(() => raw.grid_positions(...grid));
      return { stepMinutes: grid[2], tsMs, ...(coarsening && { coarsening }) };
    },
    resample(ts, value, options) {
      const { offsets } = object(options, "options");
      const bounds =
        offsets === undefined || offsets === null
          ? Uint32Array.of(0, timesOf(ts).length)
          : uint32Array(offsets, "offsets");
      const table = kept(ts, value, bounds);
      try {
        return table.resample(options);
      } finally {
        table.free();
      }
    },
    seriesTable(ts, value, offsets) {
      return Object.freeze(kept(ts, value, uint32Array(offsets, "offsets")));
    },
    pickSeries(candidates, options) {
      const given = object(options, "options");
      const list = array(candidates, "candidates").map((times, at) =>
        float64Array(times, `candidate ${at}`),
      );
      const offsets = new Uint32Array(list.length + 1);
      list.forEach(({ length }, at) => (offsets[at + 1] = offsets[at]! + length));
      const all = new Float64Array(offsets[list.length]!);
      list.forEach((times, at) => all.set(times, offsets[at]));
      const [grid, maxAgeMs] = [gridParts(given), maxAge(given["maxAgeMs"])];
      const both = refusing(() => raw.pick(all, offsets, ...grid, maxAgeMs));
      const middle = both.length / 2;
      return { series: both.slice(0, middle), reading: both.slice(middle) };
    },
  };
}

/** How many cells are filled at once: they stay in the caches of the processor until they are copied. */
const PART = 2 ** 14;

/** Milliseconds, or minutes. */
export function timesOf(ts: unknown): Float64Array | Int32Array {
  if (isClass(ts, "Int32Array") || isClass(ts, "Float64Array")) {
    return attached(ts, "ts");
  }
  throw new TypeError(
    `ts must be a Float64Array of milliseconds or an Int32Array of minutes; got ${className(ts)}`,
  );
}

/** The arrays for the cells of a grid: the caller's, or new ones. */
function cellsOf(out: unknown, cells: number): GridCells {
  const { value, ageMs, reading } = object(out ?? {}, "out");
  const each = "one for each series and position";
  return {
    value: output(value, "out.value", ["Float64Array", "Float32Array"], cells, each) as Float64Array,
    ageMs: output(ageMs, "out.ageMs", ["Float64Array"], cells, each),
    reading: output(reading, "out.reading", ["Int32Array"], cells, each),
  };
}

type GridParts = [startMs: number, endMs: number, stepMinutes: number];

function gridParts(given: Record<string, unknown>): GridParts {
  return [
    milliseconds(given["startMs"], "startMs"),
    milliseconds(given["endMs"], "endMs"),
    integer(given["stepMinutes"], "stepMinutes", 1, 2 ** 31 - 1),
  ];
}

function maxAge(given: unknown): number | undefined {
  if (given === undefined || given === null) {
    return undefined;
  }
  const maxAgeMs = milliseconds(given, "maxAgeMs");
  if (maxAgeMs < 0) {
    throw new MesonetError(`maxAgeMs must not be negative; got ${maxAgeMs}`);
  }
  return maxAgeMs;
}
