// A raster product on the map, each pixel the cell under it.
import { computed, effect, signal } from "@preact/signals";
import L from "leaflet";

import { colourOf } from "../domain/colour";
import { latOf, lonOf, wrapLon } from "../domain/mercator";
import { Frames } from "../map/frames";
import { comingUp } from "../playback";
import { setTimeline } from "../timeline";
import { layer, productFile } from "../view";
import { addressOf, file, files, filesBeside, productPaint, type ProductFile } from "./catalogue";
import { type Cells, Cog } from "./cog";

const SIDE = 256;
/** What is drawn is what the legend has. */
const OPAQUE = 255;

/** The value under the pointer, in the unit of the product. */
export const underPointer = signal<number | undefined>(undefined);
export const productTrouble = signal<string | undefined>(undefined);

class ProductLayer extends L.GridLayer {
  private readonly readers = new Map<string, Cells>();

  constructor(
    private readonly cog: Promise<Cog>,
    private readonly of: ProductFile,
  ) {
    super({ tileSize: SIDE, updateWhenZooming: false, className: "field", zIndex: 1 });
  }

  override createTile({ x, y, z }: L.Coords, done: L.DoneCallback): HTMLElement {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = SIDE;
    this.paint(canvas, x, y, z).then(
      () => done(undefined, canvas),
      (error: Error) => {
        productTrouble.value = error.message;
        done(error, canvas);
      },
    );
    return canvas;
  }

  private async paint(canvas: HTMLCanvasElement, x: number, y: number, z: number): Promise<void> {
    const cog = await this.cog;
    const side = 2 ** z;
    const box = [lonOf(x / side), latOf((y + 1) / side), lonOf((x + 1) / side), latOf(y / side)] as const;
    const cells = await cog.cells(cog.levelFor(360 / (side * SIDE)), box);
    this.readers.set(`${z}/${x}/${y}`, cells);
    const image = new ImageData(SIDE, SIDE);
    const words = new Uint32Array(image.data.buffer);
    const table = new Map<number, number>();
    const columns = Int32Array.from({ length: SIDE }, (_, at) => cells.columnOf(lonOf((x + (at + 0.5) / SIDE) / side)));
    for (let row = 0; row < SIDE; row += 1) {
      const line = cells.rowOf(latOf((y + (row + 0.5) / SIDE) / side));
      for (let column = 0; column < SIDE; column += 1) {
        const raw = cells.at(columns[column]!, line);
        if (raw === undefined || raw === this.of.nodata) continue;
        let colour = table.get(raw);
        if (colour === undefined) {
          colour = this.colour(raw);
          table.set(raw, colour);
        }
        words[row * SIDE + column] = colour;
      }
    }
    canvas.getContext("2d")?.putImageData(image, 0, 0);
  }

  private colour(raw: number): number {
    const rgb = productPaint.peek() && colourOf(productPaint.peek()!.scale, raw * this.of.scale + this.of.offset);
    return rgb ? ((OPAQUE << 24) | (rgb[2] << 16) | (rgb[1] << 8) | rgb[0]) >>> 0 : 0;
  }

  valueAt(lat: number, lon: number, zoom: number): number | undefined {
    const { x, y } = L.CRS.EPSG3857.latLngToPoint(L.latLng(lat, wrapLon(lon)), zoom);
    const cells = this.readers.get(`${zoom}/${Math.floor(x / SIDE)}/${Math.floor(y / SIDE)}`);
    const raw = cells?.at(cells.columnOf(wrapLon(lon)), cells.rowOf(lat));
    return raw === undefined || raw === this.of.nodata ? undefined : raw * this.of.scale + this.of.offset;
  }
}

/** So many files stay open: their tiles are had at once. */
const OPEN = 30;
const open = new Map<string, Promise<Cog>>();

function opened(of: ProductFile): Promise<Cog> {
  const address = addressOf(of);
  const known = open.get(address);
  if (known) return known;
  const made = Cog.open(address);
  made.catch(() => open.delete(address));
  open.set(address, made);
  if (open.size > OPEN) open.delete(open.keys().next().value!);
  return made;
}

/** Keeps the file that is chosen on the map, and while it plays those that come next. */
export function productLayer(map: L.Map): void {
  let shown: ProductLayer | undefined;
  const frames = new Frames(map, (key) => {
    const of = files.peek()!.find((one) => one.key === key)!;
    return new ProductLayer(opened(of), of);
  });
  const times = computed(() => {
    const all = filesBeside.value;
    const of = file.value;
    if (!of) return undefined;
    const go = (at: number) => {
      productFile.value = all[at]?.key ?? "";
    };
    return { times_ms: all.map(({ timestamp }) => Date.parse(timestamp)), at: all.indexOf(of), shown_ms: Date.parse(of.timestamp), go, isReady: (at: number) => frames.isReady(all[at]?.key ?? "") };
  });
  setTimeline("products", times);
  effect(() => {
    const of = layer.value === "products" ? file.value : undefined;
    if (!of) {
      frames.clear();
      shown = undefined;
      return;
    }
    productTrouble.value = undefined;
    const all = filesBeside.value;
    shown = frames.show(of.key, comingUp(all.indexOf(of), all.length).map((at) => all[at]!.key));
  });
  const look = ({ latlng }: L.LeafletMouseEvent) => {
    if (layer.peek() === "products") underPointer.value = shown?.valueAt(latlng.lat, latlng.lng, map.getZoom());
  };
  map.on("mousemove", look);
  // Where there is no pointer, a tap says the value.
  map.on("click", look);
}
