// The map below everything: land, borders and lakes, drawn once per tile. Fields of models lie between its
// ground and its lines.
import { effect, signal } from "@preact/signals";
import L from "leaflet";
import addresses from "virtual:outlines";

import { latOf, lonOf, worldX, worldY, wrapLon } from "../domain/mercator";
import { returns } from "../api/client";
import { hadGround } from "../order";
import { camera, layer, theme } from "../view";

const SIDE = 256;
/** Up to this zoom the outlines are those that are seen from afar. */
const FAR_ZOOM = 4;
/** What is so near to the edge of the square world is on it. */
const EDGE = 1e-5;
const KINDS = ["land", "country", "state", "lake"] as const;
type Kind = (typeof KINDS)[number];

interface Line {
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly box: readonly [number, number, number, number];
}

type Outlines = Readonly<Record<Kind, readonly Line[]>>;

/** Colours and widths of what is drawn over a field, of whatever colour the field is: light below dark. */
export const OVER_COLOURS: readonly (readonly [string, number])[] = [
  ["rgba(255,255,255,.5)", 2.2],
  ["#1c2126", 1.2],
];

/** From this zoom on all outlines are the finest, where there are any. */
const COAST_ZOOM = 7;
const BLOCK_DEG = 20;
const BLOCK_SOUTH = 10;

/** What has come, by name. */
const loaded = signal<ReadonlyMap<string, Outlines>>(new Map());
const asked = new Set<string>();

/** The outlines for a zoom, or those that are there until they have come. */
function outlinesAt(zoom: number): Outlines | undefined {
  const [ofFar, ofNear] = [loaded.peek().get("far"), loaded.peek().get("near")];
  return zoom <= FAR_ZOOM ? (ofFar ?? ofNear) : (ofNear ?? ofFar);
}

/** The names of the blocks under a box in degrees, also of those that there are none of. */
function blocksUnder(west: number, south: number, east: number, north: number): readonly string[] {
  const names: string[] = [];
  const [left, bottom] = [Math.floor(west / BLOCK_DEG) * BLOCK_DEG, Math.floor((south - BLOCK_SOUTH) / BLOCK_DEG) * BLOCK_DEG + BLOCK_SOUTH];
  for (let lon = left; lon < east; lon += BLOCK_DEG) for (let lat = bottom; lat < north; lat += BLOCK_DEG) names.push(`coast${wrapLon(lon)}_${lat}`);
  return names;
}

/** The blocks under some tiles of a zoom, from the upper left to the lower right. */
const blocksOf = (z: number, left: number, top: number, right: number, bottom: number): readonly string[] =>
  blocksUnder(lonOf(left / 2 ** z), latOf((bottom + 1) / 2 ** z), lonOf((right + 1) / 2 ** z), latOf(top / 2 ** z));

/** The finest outlines under a tile, if there are any and they have come. */
function coastsUnder(x: number, y: number, z: number): readonly Outlines[] | undefined {
  if (z < COAST_ZOOM) return undefined;
  const found = blocksOf(z, x, y, x, y).map((name) => loaded.peek().get(name));
  return found.every((one) => one !== undefined) ? found : undefined;
}

async function load(name: string): Promise<void> {
  if (asked.has(name)) return;
  asked.add(name);
  try {
    const response = await fetch(addresses[name]!);
    if (!response.ok) throw new Error(response.statusText);
    const outlines = unpacked(new Uint8Array(await response.arrayBuffer()));
    loaded.value = new Map(loaded.peek()).set(name, outlines);
  } catch {
    // A map without outlines is one all the same: asked for again at the next move, or when the server is back.
    asked.delete(name);
  }
  hadGround.value = true;
}

/** Loads the outlines of what is seen. */
function loadSeen(map: L.Map): void {
  const { zoom } = camera.value;
  void load(zoom <= FAR_ZOOM ? "far" : "near");
  if (zoom < COAST_ZOOM) return;
  const { min, max } = map.getPixelBounds();
  if (!min || !max) return;
  const tile = (pixel: number) => Math.floor(pixel / SIDE);
  // Where the map is beyond the blocks, those that there are.
  for (const name of blocksOf(zoom, tile(min.x), tile(min.y), tile(max.x), tile(max.y))) if (name in addresses) void load(name);
}

/** Puts the ground and the lines on a map, and draws them again where they look different. */
export function addBasemap(map: L.Map): void {
  const ground = new Basemap("ground").addTo(map);
  const lines = new Basemap("lines").addTo(map);
  let [drawn, of, isOver] = [loaded.peek(), theme.peek(), layer.peek() === "models"];
  effect(() => {
    void returns.value;
    loadSeen(map);
  });
  effect(() => {
    const isOther = theme.value !== of || loaded.value !== drawn;
    const wasOver = isOver;
    [drawn, of, isOver] = [loaded.value, theme.value, layer.value === "models"];
    if (isOther) requestAnimationFrame(() => ground.redraw());
    if (isOther || isOver !== wasOver) requestAnimationFrame(() => lines.redraw());
  });
}

function unpacked(bytes: Uint8Array): Outlines {
  let at = 0;
  const take = () => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = bytes[at++]!;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  };
  const takeSigned = () => {
    const value = take();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  };
  const perDegree = take();
  const heads = KINDS.map(() => Array.from({ length: take() }, () => ({ length: take(), first: [takeSigned(), takeSigned()] as const })));
  const column = (axis: 0 | 1, project: (degrees: number) => number) =>
    heads.map((all) =>
      all.map(({ length, first }) => {
        let sum = first[axis];
        return Float32Array.from({ length }, (_, point) => project((sum += point === 0 ? 0 : takeSigned()) / perDegree));
      }),
    );
  const [x, y] = [column(0, worldX), column(1, worldY)];
  const lines = (kind: number) =>
    x[kind]!.map((across, line): Line => {
      const down = y[kind]![line]!;
      return { x: across, y: down, box: [Math.min(...across), Math.min(...down), Math.max(...across), Math.max(...down)] };
    });
  return Object.fromEntries(KINDS.map((name, kind) => [name, lines(kind)])) as unknown as Outlines;
}

/** Land and lakes as areas, below all else; or the lines of all, above fields of models, in the colours of the theme. */
class Basemap extends L.GridLayer {
  constructor(private readonly part: "ground" | "lines") {
    super({ tileSize: SIDE, updateWhenZooming: false, keepBuffer: 3, className: "basemap", zIndex: 0, ...(part === "lines" && { pane: "lines" }) });
  }

  override createTile({ x, y, z }: L.Coords): HTMLElement {
    const canvas = document.createElement("canvas");
    const ratio = Math.min(devicePixelRatio || 1, 2);
    canvas.width = canvas.height = SIDE * ratio;
    const context = canvas.getContext("2d");
    if (!context) return canvas;
    const styles = getComputedStyle(document.documentElement);
    const colour = (kind: string) => styles.getPropertyValue(`--map-${kind}`).trim();
    const world = SIDE * 2 ** z;
    const [left, top] = [x / 2 ** z, y / 2 ** z];
    context.scale(ratio, ratio);
    context.lineJoin = "round";
    const outlines = outlinesAt(z);
    const coasts = coastsUnder(((x % 2 ** z) + 2 ** z) % 2 ** z, y, z);
    const outline = (kind: Kind) => {
      context.beginPath();
      const isArea = kind === "land" || kind === "lake";
      const isCut = this.part === "lines" && (coasts && isArea ? isBlockEdge : isWorldEdge);
      const all = coasts ? coasts.flatMap((one) => one[kind]) : (outlines?.[kind] ?? []);
      for (const line of all) if (isSeen(line, left, top, z)) trace(context, line, left, top, world, isCut);
    };
    if (this.part === "ground") {
      context.fillStyle = colour("sea");
      context.fillRect(0, 0, SIDE, SIDE);
      for (const kind of ["land", "lake"] as const) {
        outline(kind);
        context.fillStyle = colour(kind === "land" ? "land" : "sea");
        context.fill("evenodd");
      }
      return canvas;
    }
    const isOver = layer.peek() === "models";
    const width: Record<Kind, number> = { land: 0.9, lake: 0.6, state: z < 4 ? 0.5 : 0.8, country: 1.2 };
    for (const kind of ["lake", "state", "land", "country"] as const) {
      if (kind === "lake" && z < 3) continue;
      outline(kind);
      const strokes = isOver ? OVER_COLOURS : ([[colour(kind === "land" ? "coast" : kind), 0]] as const);
      for (const [stroke, more] of strokes) {
        context.lineWidth = width[kind] * (isOver ? 0.8 : 1) + Math.max(more - 1.2, 0);
        context.strokeStyle = stroke;
        context.stroke();
      }
    }
    return canvas;
  }
}

function isSeen({ box: [x0, y0, x1, y1] }: Line, left: number, top: number, z: number): boolean {
  const side = 1 / 2 ** z;
  const margin = side / 64;
  return x1 > left - margin && x0 < left + side + margin && y1 > top - margin && y0 < top + side + margin;
}

/** Whether two points next to each other are on a side where land was cut, which is no coast. */
type IsCut = (x0: number, y0: number, x1: number, y1: number) => boolean;
const isWorldEdge: IsCut = (x0, _, x1) => x0 === x1 && (x1 < EDGE || x1 > 1 - EDGE);
const every = (from: number, to: number, project: (degrees: number) => number) => {
  const all = new Set<number>();
  for (let degrees = from; degrees <= to; degrees += BLOCK_DEG) all.add(Math.fround(project(degrees)));
  return all;
};
const SIDES = { x: every(-180, 180, worldX), y: every(BLOCK_SOUTH, 70, worldY) };
const isBlockEdge: IsCut = (x0, y0, x1, y1) => (x0 === x1 && SIDES.x.has(x1)) || (y0 === y1 && SIDES.y.has(y1));

/** Points closer than half a pixel to the last are left out. */
function trace(context: CanvasRenderingContext2D, { x, y }: Line, left: number, top: number, world: number, isCut: IsCut | false): void {
  let [lastX, lastY] = [(x[0]! - left) * world, (y[0]! - top) * world];
  context.moveTo(lastX, lastY);
  for (let point = 1; point < x.length; point += 1) {
    const [nextX, nextY] = [(x[point]! - left) * world, (y[point]! - top) * world];
    if (Math.abs(nextX - lastX) + Math.abs(nextY - lastY) < 0.5 && point < x.length - 1) continue;
    if (isCut && isCut(x[point - 1]!, y[point - 1]!, x[point]!, y[point]!)) context.moveTo(nextX, nextY);
    else context.lineTo(nextX, nextY);
    [lastX, lastY] = [nextX, nextY];
  }
}
