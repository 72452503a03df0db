import { float64Array, number, object, uint32, uint32Array } from "./check.js";
import { refusing } from "./error.js";
import type { NativeGrid as RawGrid } from "./generated/grids.js";
import type { Rotation } from "./wind.js";

/** The flat module with the grids. */
export type Raw = typeof import("./generated/grids.js");

/** The projection of a grid's axes: a map in metres, or a globe in degrees. */
export type GridProjection =
  | {
      readonly projection: "lambert_conformal";
      readonly radius_m: number;
      /** For a map of an ellipsoid, whose semi-major axis is `radius_m`. */
      readonly flattening?: number;
      readonly origin_lat: number;
      readonly central_lon: number;
      readonly parallels: readonly [number, number];
    }
  | {
      readonly projection: "polar_stereographic";
      readonly radius_m: number;
      /** For a map of an ellipsoid, whose semi-major axis is `radius_m`. */
      readonly flattening?: number;
      readonly south: boolean;
      readonly central_lon: number;
      readonly true_lat: number;
    }
  | {
      readonly projection: "mercator";
      readonly radius_m: number;
      /** For a map of an ellipsoid, whose semi-major axis is `radius_m`. */
      readonly flattening?: number;
      readonly central_lon: number;
      readonly true_lat: number;
    }
  | { readonly projection: "lat_lon" }
  | {
      readonly projection: "gaussian";
      /** The number of parallels from a pole to the equator; `row_step` is 1 or -1. */
      readonly parallels: number;
    }
  | {
      readonly projection: "rotated_lat_lon";
      readonly south_pole_lat: number;
      readonly south_pole_lon: number;
    };

/** The definition of a grid, as sent by the service. */
export type GridDefinition = GridProjection & {
  /** Number of rows, ny. */
  readonly rows: number;
  /** Number of columns, nx. */
  readonly columns: number;
  /** Longitude of the cell at row 0, column 0; on a rotated globe, the rotated longitude. */
  readonly first_lon: number;
  /** Latitude of that cell, likewise. */
  readonly first_lat: number;
  /** From column to column: metres on a map, degrees on a globe. */
  readonly column_step: number;
  /** From row to row, likewise. */
  readonly row_step: number;
  /** Whether its wind components are along its axes. */
  readonly grid_relative_winds: boolean;
};

/** Rows and columns, from 0. */
export interface Cell<T = number> {
  row: T;
  column: T;
}

/** Longitudes and latitudes in degrees. */
export interface Position<T = number> {
  lon: T;
  lat: T;
}

/**
 * The native grid of a model. Methods take a pair of numbers, or two arrays of the same length, and
 * return the same.
 */
export interface NativeGrid {
  /** Number of rows, ny. */
  readonly rows: number;
  /** Number of columns, nx. */
  readonly columns: number;
  /** The projection as a PROJ string, for proj4js and others. */
  readonly projString: string;
  /**
   * x and y of the cell at row 0, column 0 in the coordinates of `projString`. One step leads from
   * one cell to the next.
   */
  readonly firstXy: readonly [x: number, y: number];
  /**
   * Fractional rows and columns. NaN for NaN and for a position beyond the grid, that is, more than
   * half a cell beyond the outermost centres.
   *
   * @throws {MesonetError} for a longitude beyond ±180 or a latitude beyond ±90.
   */
  locate(at: Position): Cell;
  locate(at: Position<Float64Array>): Cell<Float64Array>;
  /**
   * The cells whose centres are nearest along the axes.
   *
   * @throws {MesonetError} for a position beyond the grid, saying where it would be.
   */
  nearest(at: Position): Cell;
  nearest(at: Position<Float64Array>): Cell<Uint32Array>;
  /**
   * The centres of cells; longitudes from −180 to just below 180.
   *
   * @throws {MesonetError} for a cell that is not on the grid.
   */
  position(cell: Cell): Position;
  position(cell: Cell<Uint32Array>): Position<Float64Array>;
  /**
   * The rotation of the winds of cells to true north, for `rotateWind`; 1 and 0 if the winds are
   * already earth-relative.
   *
   * @throws {MesonetError} for a cell that is not on the grid.
   */
  windRotation(cell: Cell): Rotation;
  windRotation(cell: Cell<Uint32Array>): Rotation<Float64Array>;
  /** The centres of all cells, row by row. */
  positions(): Position<Float64Array>;
  /** The rotation of the winds of all cells, row by row. */
  windRotations(): Rotation<Float64Array>;
}

/** Native grids of models. */
export interface GridFunctions {
  /**
   * Creates the grid of a definition as sent by the service; unknown members are ignored.
   *
   * @throws {MesonetError} for a member that is missing or of a wrong type, and for invalid
   * numbers.
   */
  nativeGrid(definition: GridDefinition): NativeGrid;
}

export function gridFunctions(raw: Raw): GridFunctions {
  return {
    nativeGrid(definition) {
      object(definition, "definition");
      return gridOf(refusing(() => new raw.NativeGrid(definition)));
    },
  };
}

function gridOf(grid: RawGrid): NativeGrid {
  const ofPosition = (run: (lon: Float64Array, lat: Float64Array) => Halves, at: unknown) => {
    const { lon, lat } = object(at, "position");
    return typeof lon === "number"
      ? single(run, Float64Array.of(lon), Float64Array.of(number(lat, "lat")))
      : many(run, float64Array(lon, "lon"), float64Array(lat, "lat"));
  };
  const ofCell = (run: (row: Uint32Array, column: Uint32Array) => Halves, cell: unknown) => {
    const { row, column } = object(cell, "cell");
    return typeof row === "number"
      ? single(run, Uint32Array.of(uint32(row, "row")), Uint32Array.of(uint32(column, "column")))
      : many(run, uint32Array(row, "row"), uint32Array(column, "column"));
  };
  const cell = ([row, column]: Pair) => ({ row, column });
  const position = ([lon, lat]: Pair) => ({ lon, lat });
  const rotation = ([cos, sin]: Pair) => ({ cos, sin });
  const [x, y] = grid.first_xy() as unknown as [number, number];
  const methods = {
    rows: grid.rows(),
    columns: grid.columns(),
    projString: grid.proj_string(),
    firstXy: Object.freeze([x, y] as const),
    locate: (at: unknown) => cell(ofPosition((lon, lat) => grid.locate(lon, lat), at)),
    nearest: (at: unknown) => cell(ofPosition((lon, lat) => grid.nearest(lon, lat), at)),
    position: (at: unknown) => position(ofCell((row, column) => grid.position(row, column), at)),
    windRotation: (at: unknown) =>
      rotation(ofCell((row, column) => grid.wind_rotation(row, column), at)),
    positions: () => position(halves(grid.positions())),
    windRotations: () => rotation(halves(grid.wind_rotations())),
  };
  return Object.freeze(methods) as unknown as NativeGrid;
}

/** The module's result: all of the first, then all of the second. */
type Halves = Float64Array | Uint32Array;
/** Two numbers, or two arrays. */
type Pair = [Halves | number, Halves | number];

function halves(both: Halves): [Halves, Halves] {
  const middle = both.length / 2;
  return [both.slice(0, middle), both.slice(middle)];
}

function single<A extends Halves>(run: (first: A, second: A) => Halves, first: A, second: A): Pair {
  const [one, other] = refusing(() => run(first, second));
  return [one!, other!];
}

function many<A extends Halves>(run: (first: A, second: A) => Halves, first: A, second: A): Pair {
  return halves(refusing(() => run(first, second)));
}
