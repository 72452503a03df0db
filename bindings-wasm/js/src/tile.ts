import { attached, className, float64Array, int16, isClass, number, object } from "./check.js";
import { refusing } from "./error.js";
import type { Raw } from "./raw.js";

/** How the integers of a tile represent values: `raw * scale + offset`, unless raw is nodata. */
export interface Encoding {
  /** Value of one unit of the raw integer; finite and not 0. */
  readonly scale: number;
  /** Value of raw 0; finite. */
  readonly offset: number;
  /** The 16-bit integer that stands for "no value". */
  readonly nodata: number;
}

/** Packed 16-bit tiles. */
export interface TileFunctions {
  /**
   * The values of a tile, NaN for nodata.
   *
   * @param tile Bytes from the service (16-bit little-endian integers), or integers. @throws
   * {MesonetError} for an odd number of bytes, or an invalid encoding.
   */
  decodeTile(tile: Uint8Array | ArrayBuffer | Int16Array, encoding: Encoding): Float64Array;
  /**
   * The integers nearest to values, halves away from zero; nodata for NaN. Values beyond the
   * integers are clamped to ±32767, and a value that would land on nodata moves to the neighbour
   * nearer to zero.
   *
   * @throws {MesonetError} for an invalid encoding.
   */
  encodeTile(values: Float64Array, encoding: Encoding): Int16Array;
}

export function tileFunctions(raw: Raw): TileFunctions {
  return {
    decodeTile(tile, encoding) {
      const parts = encodingParts(encoding);
      if (isClass(tile, "Int16Array")) {
        const integers = attached(tile, "tile");
        return refusing(() => raw.decode(integers, ...parts));
      }
      if (isClass(tile, "Uint8Array") || isClass(tile, "ArrayBuffer")) {
        const given = attached(tile, "tile");
        const bytes = isClass(given, "Uint8Array") ? given : new Uint8Array(given);
        return refusing(() => raw.decode_bytes(bytes, ...parts));
      }
      throw new TypeError(
        `tile must be a Uint8Array, an ArrayBuffer or an Int16Array; got ${className(tile)}`,
      );
    },
    encodeTile(values, encoding) {
      const parts = encodingParts(encoding);
      const checked = float64Array(values, "values");
      return refusing(() => raw.encode(checked, ...parts));
    },
  };
}

/** The parts of an encoding. Everything is checked except their ranges. */
export function encodingParts(encoding: unknown): [scale: number, offset: number, nodata: number] {
  const { scale, offset, nodata } = object(encoding, "encoding");
  return [number(scale, "scale"), number(offset, "offset"), int16(nodata, "nodata")];
}
