import {
  apart,
  attached,
  className,
  float64Array,
  int16,
  isClass,
  number,
  object,
  output,
  outputClass,
} from "./check.js";
import { MesonetError, refusing } from "./error.js";
import type { TileRoom as RawRoom } from "./generated/mesonet.js";
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

/** Where results go. */
export interface OutOptions<A> {
  /**
   * An array of the right length, whose content is replaced, and which is then the result. It may not
   * share memory with the tile. Nothing is written if anything is refused.
   */
  readonly out?: A | undefined;
}

/** Packed 16-bit tiles. */
export interface TileFunctions {
  /**
   * The values of a tile, NaN for nodata. With a `Float32Array` as `out`, each value is computed as
   * always, and then rounded.
   *
   * @example
   * const kept = new Float32Array(256 * 256);
   * for (const tile of tiles) draw(decodeTile(tile, encoding, { out: kept }));
   *
   * @param tile Bytes from the service (16-bit little-endian integers), or integers.
   * @param options `out`: an array with a place for each value; a new `Float64Array` by default.
   * @throws {MesonetError} for an odd number of bytes, an invalid encoding, or an output of another
   * length.
   */
  decodeTile<A extends Float64Array | Float32Array = Float64Array>(
    tile: Uint8Array | ArrayBuffer | Int16Array,
    encoding: Encoding,
    options?: OutOptions<A>,
  ): A;
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
  const inParts = partsOf(raw);
  return {
    decodeTile<A>(tile: unknown, encoding: Encoding, options: OutOptions<A> = {}) {
      const parts = encodingParts(encoding);
      const bytes = integersOrBytes(tile);
      const { out } = object(options, "options");
      const values = wholeValues(bytes);
      const checked = output(out, "out", ["Float64Array", "Float32Array"], values, "one for each value of the tile");
      const isSingle = isClass(checked, "Float32Array");
      inParts(bytes, checked, 1, (room, count) =>
        isSingle ? room.decode_f32(count, ...parts) : room.decode(count, ...parts),
      );
      return checked as A;
    },
    encodeTile(values, encoding) {
      const parts = encodingParts(encoding);
      const checked = float64Array(values, "values");
      return refusing(() => raw.encode(checked, ...parts));
    },
  };
}

function integersOrBytes(tile: unknown): Uint8Array {
  if (isClass(tile, "Uint8Array")) {
    return attached(tile, "tile");
  }
  if (isClass(tile, "Int16Array")) {
    const { buffer, byteOffset, byteLength } = attached(tile, "tile");
    return new Uint8Array(buffer, byteOffset, byteLength);
  }
  if (isClass(tile, "ArrayBuffer")) {
    return new Uint8Array(attached(tile, "tile"));
  }
  throw new TypeError(`tile must be a Uint8Array, an ArrayBuffer or an Int16Array; got ${className(tile)}`);
}

/** The number of values of a tile's bytes. */
export function wholeValues({ length }: Uint8Array): number {
  if (length % 2 !== 0) {
    throw new MesonetError(`a tile is pairs of bytes; got ${length} bytes`);
  }
  return length / 2;
}

/** How many values pass through a room at once: with what is made of them they stay in the caches. */
const PART = 2 ** 14;

type Output = Float64Array | Float32Array | Uint8Array | Uint8ClampedArray;
type InParts = (
  bytes: Uint8Array,
  out: Output,
  placesPerValue: number,
  make: (room: RawRoom, values: number) => number,
) => void;

const ofModules = new WeakMap<Raw, InParts>();

/**
 * Takes the bytes of a tile through a room of a module, part by part, into an output of the right
 * length. `make` returns the address of what it makes of the first values of the room.
 */
export function partsOf(raw: Raw): InParts {
  const known = ofModules.get(raw);
  if (known !== undefined) {
    return known;
  }
  const memory = raw.linear_memory() as WebAssembly.Memory;
  let room: RawRoom | undefined;
  const inParts: InParts = (bytes, out, placesPerValue, make) => {
    apart(out, bytes, "tile");
    room ??= new raw.TileRoom(PART);
    const [Class, of] = [outputClass(out), room];
    let at = 0;
    // An empty tile is a part too, whose encoding may be refused.
    do {
      const values = Math.min(PART, bytes.length / 2 - at);
      new Uint8Array(memory.buffer).set(bytes.subarray(2 * at, 2 * (at + values)), of.bytes_at());
      const address = refusing(() => make(of, values));
      out.set(new Class(memory.buffer, address, placesPerValue * values), placesPerValue * at);
      at += values;
    } while (at < bytes.length / 2);
  };
  ofModules.set(raw, inParts);
  return inParts;
}

/** The parts of an encoding. Everything is checked except their ranges. */
export function encodingParts(encoding: unknown): [scale: number, offset: number, nodata: number] {
  const { scale, offset, nodata } = object(encoding, "encoding");
  return [number(scale, "scale"), number(offset, "offset"), int16(nodata, "nodata")];
}
