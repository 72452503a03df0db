// Off the thread of the page: answers taken apart into columns, tiles decoded and coloured.
import { load } from "mesonet/slim";

import type { Scale } from "./domain/colour";
import { colourOf } from "./domain/colour";
import { gridColumns, verdictCounts, type Columns, type Verdicts } from "./station/columns";

export interface GridTask {
  readonly kind: "grid";
  readonly body: ArrayBuffer;
  readonly names: readonly string[];
  readonly start_ms: number;
  readonly end_ms: number;
}
export interface VerdictTask {
  readonly kind: "verdicts";
  readonly body: ArrayBuffer;
}
export interface TileTask {
  readonly kind: "tile";
  readonly body: ArrayBuffer;
  readonly encoding: { readonly scale: number; readonly offset: number; readonly nodata: number };
  readonly colours: Scale;
  /** What the scale's values times this plus that are: the unit of the tile is another. */
  readonly factor: number;
  readonly shift: number;
}
/** A tile of a raster product: packed integers, deflated, each but the first of a row the difference from the last. */
export interface RasterTask {
  readonly kind: "raster";
  readonly body: ArrayBuffer;
  readonly side: number;
}
export type Task = GridTask | VerdictTask | TileTask | RasterTask;

export interface PaintedTile {
  readonly pixels: Uint8ClampedArray<ArrayBuffer>;
  readonly values: Float32Array<ArrayBuffer>;
}
export type Done = Columns | Verdicts | PaintedTile | Int16Array<ArrayBuffer>;

const LUT_STEPS = 1024;
/** A colour is that of the legend: land that shows through would change it, and otherwise in the dark. */
const OPAQUE = 255;

async function done(task: Task): Promise<[Done, Transferable[]]> {
  if (task.kind === "grid") {
    const columns = gridColumns(task);
    return [columns, [columns.values.buffer, columns.ages.buffer, columns.qualities.buffer]];
  }
  if (task.kind === "verdicts") return [verdictCounts(task.body), []];
  if (task.kind === "raster") {
    const cells = await inflated(task);
    return [cells, [cells.buffer]];
  }
  const tile = await painted(task);
  return [tile, [tile.pixels.buffer, tile.values.buffer]];
}

async function painted({ body, encoding, colours, factor, shift }: TileTask): Promise<PaintedTile> {
  const core = await load();
  const decoded = core.decodeTile(body, encoding);
  const values = new Float32Array(decoded.length);
  const pixels = new Uint8ClampedArray(decoded.length * 4);
  const words = new Uint32Array(pixels.buffer);
  const table = colourTable(colours);
  const perStep = LUT_STEPS / (colours.to - colours.from);
  for (let at = 0; at < decoded.length; at += 1) {
    const value = decoded[at]! * factor + shift;
    values[at] = value;
    if (Number.isNaN(value) || (colours.nothingUpTo !== undefined && value <= colours.nothingUpTo)) continue;
    const step = Math.floor((value - colours.from) * perStep);
    words[at] = table[step < 0 ? 0 : step >= LUT_STEPS ? LUT_STEPS - 1 : step]!;
  }
  return { pixels, values };
}

/** Inflates a tile and undoes the differences along its rows. */
async function inflated({ body, side }: RasterTask): Promise<Int16Array<ArrayBuffer>> {
  const bytes = new Blob([body]).stream().pipeThrough(new DecompressionStream("deflate"));
  const cells = new Int16Array(await new Response(bytes).arrayBuffer());
  for (let row = 0; row < side; row += 1) {
    for (let at = row * side + 1; at < (row + 1) * side; at += 1) cells[at] = cells[at]! + cells[at - 1]!;
  }
  return cells;
}

function colourTable(colours: Scale): Uint32Array {
  return Uint32Array.from({ length: LUT_STEPS }, (_, step) => {
    const value = colours.from + ((step + 0.5) / LUT_STEPS) * (colours.to - colours.from);
    const [red, green, blue] = colourOf({ ...colours, nothingUpTo: -Infinity }, value)!;
    return ((OPAQUE << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

self.onmessage = async ({ data }: MessageEvent<{ id: number; task: Task }>) => {
  try {
    const [result, moved] = await done(data.task);
    postMessage({ id: data.id, result }, { transfer: moved });
  } catch (error) {
    postMessage({ id: data.id, error: String(error) });
  }
};
