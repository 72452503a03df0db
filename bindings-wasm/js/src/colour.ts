import { array, className, float64Array, integer, number, object, output, tileBytes } from "./check.js";
import { MesonetError, refusing } from "./error.js";
import type { TileColours as RawColours } from "./generated/mesonet.js";
import type { Raw } from "./raw.js";
import { type Resident, resident } from "./resident.js";
import { type Encoding, type OutOptions, encodingParts, partsOf, wholeValues } from "./tile.js";

/** The colour of one value of a scale. */
export interface ColourStop {
  /** In the unit of the values; finite. */
  readonly value: number;
  /** Red, green, blue and opacity: integers from 0 to 255. */
  readonly rgba: readonly [red: number, green: number, blue: number, opacity: number];
}

/** The colours of the integers of an encoding; 256 KB in the memory of WebAssembly. */
export interface TileColours extends Resident {
  /**
   * The pixels of a tile, row by row: red, green, blue and opacity, for `new ImageData(pixels, 256)`.
   * Transparent where there is no value.
   *
   * @example
   * const image = context.createImageData(256, 256);
   * colours.paint(tile, { out: image.data });
   *
   * @param tile Bytes from the service: 16-bit little-endian integers.
   * @param options `out`: an array with four places for each value; a new one by default.
   * @throws {MesonetError} for an odd number of bytes, or an output of another length.
   */
  paint<A extends Uint8ClampedArray | Uint8Array = Uint8ClampedArray<ArrayBuffer>>(
    tile: Uint8Array | ArrayBuffer,
    options?: OutOptions<A>,
  ): A;
}

/**
 * Room for a tile in the memory of WebAssembly, where it is decoded and painted without copies.
 *
 * Its arrays lie in that memory. The next tile reuses them, and they lose their content (length 0)
 * when the memory grows, which any call of this package may cause. Get the arrays again before each
 * use, and keep what you need with `slice()`.
 */
export interface TileRoom extends Resident {
  /** The bytes of the tile, to be written: 16-bit little-endian integers. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /**
   * The values of the bytes, NaN for nodata.
   *
   * @throws {MesonetError} for an invalid encoding.
   */
  decode(encoding: Encoding): Float64Array<ArrayBuffer>;
  /** The same in single precision: each value is computed as by `decode`, and then rounded. */
  decodeFloat32(encoding: Encoding): Float32Array<ArrayBuffer>;
  /** The pixels of the bytes. */
  paint(colours: TileColours): Uint8ClampedArray<ArrayBuffer>;
}

/** Colours of values and tiles. */
export interface ColourFunctions {
  /**
   * The colours of values: four bytes per value. Between two stops the colour is mixed in
   * proportion. Below the first stop and above the last, it is the colour of that stop. NaN is
   * transparent. Two stops with the same value make a sharp edge.
   *
   * @throws {MesonetError} for an empty list of stops, and for stops that are not finite or that
   * descend.
   */
  colours(
    values: Float64Array,
    stops: readonly ColourStop[],
  ): Uint8ClampedArray<ArrayBuffer>;
  /**
   * A table for painting tiles of one encoding. Making it takes about as long as colouring one tile
   * without it, so keep it for the next tile.
   *
   * @throws {MesonetError} for an invalid encoding, and for stops that `colours` refuses.
   */
  tileColours(encoding: Encoding, stops: readonly ColourStop[]): TileColours;
  /**
   * Room for tiles of a number of values.
   *
   * @throws {MesonetError} for more than there is memory for.
   */
  tileRoom(values: number): TileRoom;
}

/** The tables that may be used in rooms. */
const tables = new WeakMap<object, () => RawColours>();

export function colourFunctions(raw: Raw): ColourFunctions {
  const inParts = partsOf(raw);
  return {
    colours(values, stops) {
      const [given, scale] = [float64Array(values, "values"), scaleOf(stops)];
      return clamped(refusing(() => raw.colours(given, ...scale)));
    },
    tileColours(encoding, stops) {
      const [parts, scale] = [encodingParts(encoding), scaleOf(stops)];
      const made = refusing(() => new raw.TileColours(...parts, ...scale));
      const [table, freeing] = resident(made, "this table of colours");
      const colours = Object.freeze({
        paint<A>(tile: unknown, options: OutOptions<A> = {}) {
          const bytes = tileBytes(tile);
          const { out } = object(options, "options");
          const [of, places] = [table(), 4 * wholeValues(bytes)];
          const each = "four for each value of the tile";
          const pixels = output(out, "out", ["Uint8ClampedArray", "Uint8Array"], places, each);
          inParts(bytes, pixels, 4, (room, count) => of.paint(room, count));
          return pixels as A;
        },
        ...freeing,
      });
      tables.set(colours, table);
      return colours;
    },
    tileRoom(values) {
      const length = integer(values, "values", 0, MAX_VALUES);
      const made = refusing(() => new raw.TileRoom(length));
      const [room, freeing] = resident(made, "this room");
      const memory = raw.linear_memory() as WebAssembly.Memory;
      const buffer = () => memory.buffer as ArrayBuffer;
      return Object.freeze({
        get bytes() {
          return new Uint8Array(buffer(), room().bytes_at(), 2 * length);
        },
        decode(encoding: Encoding) {
          const parts = encodingParts(encoding);
          const address = refusing(() => room().decode(length, ...parts));
          return new Float64Array(buffer(), address, length);
        },
        decodeFloat32(encoding: Encoding) {
          const parts = encodingParts(encoding);
          const address = refusing(() => room().decode_f32(length, ...parts));
          return new Float32Array(buffer(), address, length);
        },
        paint(colours: TileColours) {
          const table = tables.get(object(colours, "colours"));
          if (table === undefined) {
            throw new TypeError(`colours must be made by tileColours; got ${className(colours)}`);
          }
          const address = refusing(() => table().paint(room(), length));
          return new Uint8ClampedArray(buffer(), address, 4 * length);
        },
        ...freeing,
      });
    },
  };
}

/** The limit that lets the values, eight bytes each, fit into the memory. */
const MAX_VALUES = 2 ** 27;

function clamped(bytes: Uint8Array): Uint8ClampedArray<ArrayBuffer> {
  return new Uint8ClampedArray(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length);
}

/** The values and the colours of stops. Everything is checked except the order of the values. */
export function scaleOf(stops: unknown): [values: Float64Array, rgba: Uint8Array] {
  const list = array(stops, "stops");
  const [values, rgba] = [new Float64Array(list.length), new Uint8Array(4 * list.length)];
  list.forEach((stop, at) => {
    const of = object(stop, `stop ${at}`);
    values[at] = number(of["value"], `stop ${at}: value`);
    const parts = array(of["rgba"], `stop ${at}: rgba`);
    if (parts.length !== 4) {
      throw new MesonetError(`stop ${at}: rgba must be four numbers; got ${parts.length}`);
    }
    parts.forEach((part, channel) => {
      rgba[4 * at + channel] = integer(part, `stop ${at}: rgba`, 0, 255);
    });
  });
  return [values, rgba];
}
