// Tiles as the service sends them, painted by a table that has the colour of each of the 65,536 integers.
import { MesonetError } from "./error.js";
import { type Scale, colourOf } from "./scales.js";
import type { Encoding } from "./tile.js";

/** Pixels of a side of a tile. */
export const SIDE = 256;
const PIXELS = SIDE * SIDE;

/** A tile of a field. */
export interface FieldTile {
  /**
   * Red, green, blue and opacity, row by row, for `new ImageData(pixels, 256)`: opaque where there is a value,
   * so that a colour is that of the legend, and transparent where there is none.
   */
  readonly pixels: Uint8ClampedArray<ArrayBuffer>;
  /** The value of a pixel in the unit of the field's scale; NaN if there is none. */
  valueAt(column: number, row: number): number;
}

/** How a field is painted: the encoding of its tiles, and the conversion into the unit of the scale. */
export interface Painting {
  readonly encoding: Encoding;
  readonly conversion: readonly [factor: number, shift: number];
  readonly scale: Scale;
}

/** Paints the answer of the service. @throws {MesonetError} if it is not a tile. */
export function painted(body: ArrayBuffer, painting: Painting, table: Uint32Array): FieldTile {
  if (body.byteLength !== 2 * PIXELS) {
    throw new MesonetError(`a tile has ${2 * PIXELS} bytes; got ${body.byteLength}`);
  }
  // Little-endian, as every engine is.
  const raw = new Uint16Array(body);
  const pixels = new Uint8ClampedArray(4 * PIXELS);
  const words = new Uint32Array(pixels.buffer);
  for (let at = 0; at < PIXELS; at += 1) {
    words[at] = table[raw[at]!]!;
  }
  return {
    pixels,
    valueAt(column, row) {
      const isInside = column >= 0 && column < SIDE && row >= 0 && row < SIDE;
      return isInside ? valueOf(raw[Math.floor(row) * SIDE + Math.floor(column)]!, painting) : NaN;
    },
  };
}

/** The value of an integer of 16 bits, given without its sign, in the unit of the scale. */
function valueOf(raw: number, { encoding: { scale, offset, nodata }, conversion: [factor, shift] }: Painting): number {
  const signed = (raw << 16) >> 16;
  return signed === nodata ? NaN : (signed * scale + offset) * factor + shift;
}

/** The pixel of each integer, given without its sign. */
export function colourTable(painting: Painting): Uint32Array {
  const bytes = new Uint8Array(4 * 2 ** 16);
  for (let raw = 0; raw < 2 ** 16; raw += 1) {
    const colour = colourOf(painting.scale, valueOf(raw, painting));
    if (colour !== undefined) {
      bytes.set(colour, 4 * raw);
      bytes[4 * raw + 3] = 255;
    }
  }
  return new Uint32Array(bytes.buffer);
}

/** The bytes that a kept tile takes: its integers and its pixels. */
const TILE_BYTES = 6 * PIXELS;
/** How many tables are kept, 256 KiB each. */
const MAX_TABLES = 8;

/** The tiles and tables that were used last. */
export class TileCache {
  readonly #tiles = new Map<string, FieldTile>();
  readonly #tables = new Map<string, Uint32Array>();
  readonly #maxTiles: number;

  constructor(maxBytes: number) {
    this.#maxTiles = Math.floor(maxBytes / TILE_BYTES);
  }

  tile(key: string): FieldTile | undefined {
    return touched(this.#tiles, key);
  }

  keep(key: string, tile: FieldTile): void {
    this.#tiles.set(key, tile);
    trim(this.#tiles, this.#maxTiles);
  }

  table(painting: Painting): Uint32Array {
    const key = JSON.stringify(painting);
    const table = touched(this.#tables, key) ?? colourTable(painting);
    this.#tables.set(key, table);
    trim(this.#tables, MAX_TABLES);
    return table;
  }
}

/** What is kept under a key, which is then the newest. */
function touched<T>(all: Map<string, T>, key: string): T | undefined {
  const found = all.get(key);
  if (found !== undefined) {
    all.delete(key);
    all.set(key, found);
  }
  return found;
}

function trim(all: Map<string, unknown>, most: number): void {
  for (const oldest of all.keys()) {
    if (all.size <= most) {
      return;
    }
    all.delete(oldest);
  }
}
