// A field of a model on the map: its tiles, and barbs of its wind towards true north.
import { computed, effect, signal } from "@preact/signals";
import L from "leaflet";

import type { ModelProduct } from "../api/types";
import type { Scale } from "../domain/colour";
import { core } from "../domain/core";
import { latOf, worldX, worldY, wrapLon } from "../domain/mercator";
import { drawBarb } from "../map/barb";
import { OVER_COLOURS } from "../map/basemap";
import { Frames } from "../map/frames";
import { Overlay } from "../map/overlay";
import { comingUp } from "../playback";
import { hour, layer, level_hpa, model } from "../view";
import type { PaintedTile } from "../worker";
import { setTimeline } from "../timeline";
import { contourLayer } from "./contours";
import { coverage, field, findRange, levelOf, nativeZoom, paintOf, products, tile, times_ms } from "./fields";

const SIDE = 256;
const BARB_SPACING = 52;

/** The value of the field under the pointer, in the unit of its colours. */
export const underPointer = signal<number | undefined>(undefined);
/** Tiles that could not be had: the words of the server. */
export const tileTrouble = signal<string | undefined>(undefined);

class FieldLayer extends L.GridLayer {
  readonly painted = new Map<string, PaintedTile>();

  constructor(
    private readonly of: ModelProduct,
    private readonly colours: Scale,
    private readonly at: number,
  ) {
    super({ tileSize: SIDE, maxNativeZoom: nativeZoom.peek(), updateWhenZooming: false, className: "field", zIndex: 1 });
  }

  override createTile({ x, y, z }: L.Coords, done: L.DoneCallback): HTMLElement {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = SIDE;
    tile(this.of, z, x, y, this.colours, this.at).then(
      (painted) => {
        this.painted.set(`${z}/${x}/${y}`, painted);
        canvas.getContext("2d")?.putImageData(new ImageData(painted.pixels, SIDE, SIDE), 0, 0);
        done(undefined, canvas);
      },
      (error: Error) => {
        tileTrouble.value = error.message;
        done(error, canvas);
      },
    );
    return canvas;
  }

  valueAt(lat: number, lon: number, zoom: number): number | undefined {
    const z = Math.min(Math.round(zoom), nativeZoom.peek());
    const [x, y] = [worldX(wrapLon(lon)) * 2 ** z, worldY(lat) * 2 ** z];
    const painted = this.painted.get(`${z}/${Math.floor(x)}/${Math.floor(y)}`);
    const value = painted?.values[Math.floor((y % 1) * SIDE) * SIDE + Math.floor((x % 1) * SIDE)];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  }
}

/** Keeps the field that is chosen on the map, and while it plays the hours that come next. */
export function modelLayer(map: L.Map): void {
  let shown: FieldLayer | undefined;
  let pointer: L.LatLng | undefined;
  const look = () => {
    underPointer.value = pointer && shown?.valueAt(pointer.lat, pointer.lng, map.getZoom());
  };
  const frames = new Frames(map, (key) => {
    const { of, scale } = painted!;
    const made = new FieldLayer(of, scale, Number(key.slice(key.lastIndexOf(" ") + 1)));
    // A tile may come after the pointer.
    made.on("tileload", look);
    return made;
  });
  /** What the frames are of. */
  let painted: { readonly of: ModelProduct; readonly scale: Scale } | undefined;
  let paintedAs = "";
  const keyOf = (at: number) => `${paintedAs} ${at}`;
  const go = (at: number) => {
    hour.value = at;
  };
  setTimeline(
    "models",
    computed(() => ({ times_ms: times_ms.value, at: hour.value, shown_ms: times_ms.value[hour.value] ?? times_ms.value[0] ?? 0, go, isReady: (at: number) => frames.isReady(keyOf(at)) })),
  );
  effect(() => {
    const of = layer.value === "models" && coverage.value ? field.value : undefined;
    void level_hpa.value;
    const paint = of && paintOf(of);
    if (!of || !paint) {
      frames.clear();
      shown = undefined;
      if (of) void findRange(of).catch((error: Error) => (tileTrouble.value = error.message));
      return;
    }
    tileTrouble.value = undefined;
    const as = JSON.stringify([model.value, of.name, levelOf(of), paint.scale.from, paint.scale.to, coverage.value!.latest_run]);
    painted = { of, scale: paint.scale };
    paintedAs = as;
    shown = frames.show(keyOf(hour.value), comingUp(hour.value, times_ms.value.length).map(keyOf));
    look();
  });
  map.on("mousemove", ({ latlng }: L.LeafletMouseEvent) => {
    pointer = latlng;
    look();
  });
  map.on("mouseout", () => {
    pointer = undefined;
    look();
  });
  winds(map);
  contourLayer(map);
}

/** The components of the wind that go with a field: of its level, or at 10 m. */
function windOf(of: ModelProduct): readonly [ModelProduct, ModelProduct] | undefined {
  const named = (name: string) => products.value.find((one) => one.name === name);
  const [u, v] = of.levels_hpa ? [named("u_wind"), named("v_wind")] : [named("u_wind_10m"), named("v_wind_10m")];
  return u && v ? [u, v] : undefined;
}

/** Whether barbs are drawn over the field. */
export const hasWind = computed(() => layer.value === "models" && field.value !== undefined && windOf(field.value) !== undefined);

/** Barbs stand far apart: coarser tiles will do. */
const windZoom = (zoom: number) => Math.min(Math.max(Math.round(zoom) - 2, 0), nativeZoom.peek());

function winds(map: L.Map): void {
  const components = new Map<string, readonly [PaintedTile, PaintedTile]>();
  let of: string | undefined;
  let wanted: string | undefined;
  const overlay = new Overlay((context, { width, height, zoom, scale, left, top }) => {
    if (!of) return;
    const z = windZoom(zoom);
    const pixels = SIDE * 2 ** z;
    const first = (edge: number) => Math.ceil(edge / BARB_SPACING) * BARB_SPACING;
    for (let worldTop = first(top); worldTop < top + height; worldTop += BARB_SPACING) {
      for (let worldLeft = first(left); worldLeft < left + width; worldLeft += BARB_SPACING) {
        const [x, y] = [(worldLeft / scale - Math.floor(worldLeft / scale)) * pixels, (worldTop / scale) * pixels];
        const both = components.get(`${z}/${Math.floor(x / SIDE)}/${Math.floor(y / SIDE)}`);
        if (!both) continue;
        const at = Math.floor(y % SIDE) * SIDE + Math.floor(x % SIDE);
        const [u, v] = [both[0].values[at]!, both[1].values[at]!];
        if (Number.isNaN(u) || Number.isNaN(v)) continue;
        const from_deg = (Math.atan2(-u, -v) * 180) / Math.PI;
        const speed_kt = core().convert(Math.hypot(u, v), "km/h", "kt");
        for (const [colour, width] of OVER_COLOURS) {
          context.strokeStyle = colour;
          context.lineWidth = width;
          drawBarb(context, worldLeft - left, worldTop - top, speed_kt, from_deg, latOf(worldTop / scale) < 0, 20);
        }
      }
    }
  }).addTo(map);
  const colours: Scale = { unit: "", from: -1, to: 1, colours: [[0, 0, 0], [0, 0, 0]] };
  /** Loads what is seen of the wind; that of another hour takes the place of the last when it is whole. */
  const load = () => {
    const on = layer.value === "models" && coverage.value ? field.value : undefined;
    const wind = on && windOf(on);
    const next = wind && `${model.value} ${wind[0].name} ${levelOf(wind[0])} ${hour.value}`;
    if (!wind) {
      components.clear();
      of = undefined;
      overlay.redraw();
      return;
    }
    wanted = next;
    const z = windZoom(map.getZoom());
    const bounds = map.getBounds();
    const last = 2 ** z - 1;
    const limit = (value: number) => Math.min(Math.max(Math.floor(value * 2 ** z), 0), last);
    const [west, east] = [bounds.getWest(), bounds.getEast()].map((lon) => Math.floor(worldX(lon) * 2 ** z)) as [number, number];
    const places: [number, number][] = [];
    for (let column = west; column <= Math.min(east, west + last); column += 1) {
      const x = ((column % (last + 1)) + last + 1) % (last + 1);
      for (let y = limit(worldY(bounds.getNorth())); y <= limit(worldY(bounds.getSouth())); y += 1) places.push([x, y]);
    }
    const both = (x: number, y: number, at: number) => Promise.all([tile(wind[0], z, x, y, colours, at), tile(wind[1], z, x, y, colours, at)]);
    const came = places.map(async ([x, y]) => [`${z}/${x}/${y}`, await both(x, y, hour.peek())] as const);
    void Promise.allSettled(came).then((all) => {
      if (wanted !== next) return;
      if (of !== next) components.clear();
      of = next;
      for (const one of all) if (one.status === "fulfilled") components.set(...one.value);
      overlay.redraw();
    });
    for (const at of comingUp(hour.value, times_ms.value.length)) for (const [x, y] of places) both(x, y, at).catch(() => undefined);
  };
  map.on("moveend zoomend", load);
  effect(load);
}
