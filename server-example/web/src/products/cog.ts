// A raster product as the service publishes it: a Cloud Optimized GeoTIFF of packed 16-bit integers on a grid of
// longitude and latitude, read in ranges so that only what is seen is fetched.
import { askBytes } from "../api/client";
import { inWorker } from "../worker_pool";

/** The directories of a product stand before its tiles. */
const HEAD_BYTES = 16_384;

interface Overview {
  readonly width: number;
  readonly height: number;
  readonly side: number;
  readonly offsets: readonly number[];
  readonly lengths: readonly number[];
}

const TAGS = { width: 256, height: 257, compression: 259, predictor: 317, side: 322, offsets: 324, lengths: 325, scale: 33550, tie: 33922 } as const;
const SIZES: Readonly<Record<number, number>> = { 3: 2, 4: 4, 12: 8 };
const DEFLATE = 8;

/** The cells of an overview: in which column and row a place is, and the packed value there. */
export interface Cells {
  readonly columnOf: (lon: number) => number;
  readonly rowOf: (lat: number) => number;
  readonly at: (column: number, row: number) => number | undefined;
}

export class Cog {
  private readonly tiles = new Map<string, Promise<Int16Array>>();

  private constructor(
    private readonly address: string,
    private readonly overviews: readonly Overview[],
    readonly west: number,
    readonly north: number,
    readonly step: number,
  ) {}

  static async open(address: string): Promise<Cog> {
    const head = new DataView(await askBytes(address, { range: [0, HEAD_BYTES - 1], accept: "image/tiff" }));
    const overviews: Overview[] = [];
    let [west, north, step] = [0, 0, 1];
    for (let at = head.getUint32(4, true); at !== 0 && at < head.byteLength; ) {
      const { tags, next } = directory(head, at);
      const one = (tag: number) => tags.get(tag)?.[0] ?? 0;
      if (one(TAGS.compression) !== DEFLATE || one(TAGS.predictor) !== 2) throw new Error("the file is not packed as expected");
      if (tags.has(TAGS.scale)) [step, west, north] = [one(TAGS.scale), tags.get(TAGS.tie)?.[3] ?? 0, tags.get(TAGS.tie)?.[4] ?? 0];
      overviews.push({
        width: one(TAGS.width),
        height: one(TAGS.height),
        side: one(TAGS.side),
        offsets: tags.get(TAGS.offsets) ?? [],
        lengths: tags.get(TAGS.lengths) ?? [],
      });
      at = next;
    }
    return new Cog(address, overviews, west, north, step);
  }

  /** The overview whose cells are the widest that are not wider than so many degrees. */
  levelFor(degrees: number): number {
    const full = this.overviews[0]!.width;
    const found = this.overviews.findLastIndex(({ width }) => (this.step * full) / width <= degrees * 1.01);
    return Math.max(found, 0);
  }

  /** Reads the cells of an overview under a box. */
  async cells(level: number, box: readonly [number, number, number, number]): Promise<Cells> {
    const of = this.overviews[level]!;
    const cell = (this.step * this.overviews[0]!.width) / of.width;
    const across = Math.ceil(of.width / of.side);
    const columnOf = (lon: number) => Math.floor((lon - this.west) / cell);
    const rowOf = (lat: number) => Math.floor((this.north - lat) / cell);
    const limited = (value: number, most: number) => Math.min(Math.max(value, 0), most - 1);
    const [first, last] = [limited(columnOf(box[0]), of.width), limited(columnOf(box[2]), of.width)];
    const [top, bottom] = [limited(rowOf(box[3]), of.height), limited(rowOf(box[1]), of.height)];
    const held = new Map<number, Int16Array>();
    const wanted: Promise<void>[] = [];
    for (let y = Math.floor(top / of.side); y <= Math.floor(bottom / of.side); y += 1) {
      for (let x = Math.floor(first / of.side); x <= Math.floor(last / of.side); x += 1) {
        const tile = y * across + x;
        wanted.push(this.tile(level, tile).then((cells) => void held.set(tile, cells)));
      }
    }
    await Promise.all(wanted);
    let [lastTile, lastCells] = [-1, undefined as Int16Array | undefined];
    const at = (x: number, y: number) => {
      if (x < 0 || y < 0 || x >= of.width || y >= of.height) return undefined;
      const tile = Math.floor(y / of.side) * across + Math.floor(x / of.side);
      if (tile !== lastTile) [lastTile, lastCells] = [tile, held.get(tile)];
      return lastCells?.[(y % of.side) * of.side + (x % of.side)];
    };
    return { columnOf, rowOf, at };
  }

  private tile(level: number, tile: number): Promise<Int16Array> {
    const key = `${level} ${tile}`;
    const known = this.tiles.get(key);
    if (known) return known;
    const { offsets, lengths, side } = this.overviews[level]!;
    const [from, length] = [offsets[tile] ?? 0, lengths[tile] ?? 0];
    const made = askBytes(this.address, { range: [from, from + length - 1], accept: "image/tiff", isTile: true }).then((body) =>
      inWorker({ kind: "raster", body, side }),
    );
    made.catch(() => this.tiles.delete(key));
    this.tiles.set(key, made);
    return made;
  }
}

function directory(head: DataView, at: number): { tags: Map<number, number[]>; next: number } {
  const count = head.getUint16(at, true);
  const tags = new Map<number, number[]>();
  for (let entry = at + 2; entry < at + 2 + count * 12; entry += 12) {
    const [tag, kind, length] = [head.getUint16(entry, true), head.getUint16(entry + 2, true), head.getUint32(entry + 4, true)];
    const size = SIZES[kind];
    if (size === undefined) continue;
    const start = size * length <= 4 ? entry + 8 : head.getUint32(entry + 8, true);
    if (start + size * length > head.byteLength) throw new Error("the directories of the file are longer than expected");
    const read = (place: number) => (size === 2 ? head.getUint16(place, true) : size === 4 ? head.getUint32(place, true) : head.getFloat64(place, true));
    tags.set(tag, Array.from({ length }, (_, item) => read(start + item * size)));
  }
  return { tags, next: head.getUint32(at + 2 + count * 12, true) };
}
