// A raster product on the map, each pixel the cell under it.
import { effect, signal } from "@preact/signals";
import L from "leaflet";

import { colourOf } from "../domain/colour";
import { latOf, lonOf, wrapLon } from "../domain/mercator";
import { layer } from "../view";
import { addressOf, file, productPaint, type ProductFile } from "./catalogue";
import { Cog } from "./cog";

const SIDE = 256;
/** What is drawn is what the legend has. */
const OPAQUE = 255;

/** The value under the pointer, in the unit of the product. */
export const underPointer = signal<number | undefined>(undefined);
export const productTrouble = signal<string | undefined>(undefined);

class ProductLayer extends L.GridLayer {
  private readonly readers = new Map<string, (lon: number, lat: number) => number | undefined>();

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
    const value = await cog.cells(cog.levelFor(360 / (side * SIDE)), box);
    this.readers.set(`${z}/${x}/${y}`, value);
    const image = new ImageData(SIDE, SIDE);
    const words = new Uint32Array(image.data.buffer);
    const table = new Map<number, number>();
    for (let row = 0; row < SIDE; row += 1) {
      const lat = latOf((y + (row + 0.5) / SIDE) / side);
      for (let column = 0; column < SIDE; column += 1) {
        const raw = value(lonOf((x + (column + 0.5) / SIDE) / side), lat);
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
    const raw = this.readers.get(`${zoom}/${Math.floor(x / SIDE)}/${Math.floor(y / SIDE)}`)?.(wrapLon(lon), lat);
    return raw === undefined || raw === this.of.nodata ? undefined : raw * this.of.scale + this.of.offset;
  }
}

export function productLayer(map: L.Map): void {
  let shown: ProductLayer | undefined;
  effect(() => {
    shown?.remove();
    shown = undefined;
    const of = layer.value === "products" ? file.value : undefined;
    if (!of) return;
    productTrouble.value = undefined;
    shown = new ProductLayer(Cog.open(addressOf(of)), of);
    shown.addTo(map);
  });
  const look = ({ latlng }: L.LeafletMouseEvent) => {
    if (layer.peek() === "products") underPointer.value = shown?.valueAt(latlng.lat, latlng.lng, map.getZoom());
  };
  map.on("mousemove", look);
  // Where there is no pointer, a tap says the value.
  map.on("click", look);
}
