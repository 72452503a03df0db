// A canvas over the map that is drawn anew at every move: what it shows keeps its size at every zoom.
import { signal } from "@preact/signals";
import L from "leaflet";

/** Draws into a canvas of the size of the map. A place of Mercator is at `x * scale - left`, `y * scale - top`. */
export type Draw = (context: CanvasRenderingContext2D, frame: Frame) => void;

export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly zoom: number;
  /** Pixels of the whole world at this zoom. */
  readonly scale: number;
  /** The place of the upper left corner, in pixels of the world. */
  readonly left: number;
  readonly top: number;
}

/** Where a place of Mercator is first drawn, from the left; where the world is seen twice, again every `scale` pixels. */
export function firstX({ scale, left }: Frame, x: number, margin: number): number {
  const from = x * scale - left + margin;
  return from - Math.floor(from / scale) * scale - margin;
}

export class Overlay extends L.Layer {
  private canvas: HTMLCanvasElement | undefined;
  private pending = 0;
  /** How long the last pictures took to draw, ms. */
  readonly took_ms: number[] = [];

  constructor(
    private readonly draw: Draw,
    private readonly paneName = "overlayPane",
  ) {
    super();
  }

  override onAdd(map: L.Map): this {
    this.canvas = L.DomUtil.create("canvas", "overlay leaflet-zoom-hide");
    this.canvas.setAttribute("aria-hidden", "true");
    map.getPane(this.paneName)?.appendChild(this.canvas);
    map.on("move resize viewreset zoomend", this.redraw, this);
    this.redraw();
    return this;
  }

  override onRemove(map: L.Map): this {
    map.off("move resize viewreset zoomend", this.redraw, this);
    this.canvas?.remove();
    this.canvas = undefined;
    return this;
  }

  /** Draws in the next frame. */
  redraw(): void {
    this.pending ||= requestAnimationFrame(() => {
      this.pending = 0;
      this.paint();
    });
  }

  private paint(): void {
    const { canvas } = this;
    const map = this._map as L.Map | null;
    if (!canvas || !map) return;
    const started = performance.now();
    const size = map.getSize();
    const ratio = Math.min(devicePixelRatio || 1, 2);
    if (canvas.width !== size.x * ratio || canvas.height !== size.y * ratio) {
      canvas.width = size.x * ratio;
      canvas.height = size.y * ratio;
      canvas.style.width = `${size.x}px`;
      canvas.style.height = `${size.y}px`;
    }
    L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint([0, 0]));
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.x, size.y);
    const zoom = map.getZoom();
    const bounds = map.getPixelBounds();
    this.draw(context, {
      width: size.x,
      height: size.y,
      zoom,
      scale: 256 * 2 ** zoom,
      left: bounds.min?.x ?? 0,
      top: bounds.min?.y ?? 0,
    });
    this.took_ms.push(performance.now() - started);
    if (this.took_ms.length > 240) this.took_ms.shift();
  }
}

/** The middle of a box on the map and half of its width and height, in pixels. */
export type Box = readonly [number, number, number, number];

/** Where another layer has numbers, so that no name is written on them. */
export const reserved = signal<readonly Box[]>([]);

export function reserve(boxes: readonly Box[]): void {
  if (boxes.length === 0 && reserved.peek().length === 0) return;
  if (JSON.stringify(boxes) !== JSON.stringify(reserved.peek())) queueMicrotask(() => (reserved.value = boxes));
}

/** Sides of the squares, in pixels, that tell roughly where dots are; so many are in a row. */
const SPECK = 8;
const SPECK_ROW = 1024;
const specks = new Uint8Array(SPECK_ROW * 512);

/** Boxes that are taken, so that no label lies on another. */
export class Taken {
  private readonly cells = new Map<number, [number, number, number, number][]>();

  constructor() {
    specks.fill(0);
  }

  /** Notes a dot, which takes nothing. */
  speck(x: number, y: number): void {
    if (x >= 0 && y >= 0) specks[Math.floor(y / SPECK) * SPECK_ROW + Math.floor(x / SPECK)] = 1;
  }

  /** Which part of a box has dots. */
  density(x: number, y: number, halfWidth: number, halfHeight: number): number {
    let [all, dotted] = [0, 0];
    for (let row = Math.max(Math.floor((y - halfHeight) / SPECK), 0); row * SPECK <= y + halfHeight; row += 1) {
      for (let column = Math.max(Math.floor((x - halfWidth) / SPECK), 0); column * SPECK <= x + halfWidth; column += 1) {
        all += 1;
        dotted += specks[row * SPECK_ROW + column] ?? 0;
      }
    }
    return all === 0 ? 0 : dotted / all;
  }

  /** Takes a box if it is free. */
  claim(x: number, y: number, halfWidth: number, halfHeight: number): boolean {
    const box: [number, number, number, number] = [x - halfWidth, y - halfHeight, x + halfWidth, y + halfHeight];
    const keys: number[] = [];
    for (let column = Math.floor(box[0] / 64); column <= Math.floor(box[2] / 64); column += 1) {
      for (let row = Math.floor(box[1] / 64); row <= Math.floor(box[3] / 64); row += 1) keys.push(column * 4096 + row);
    }
    for (const key of keys) {
      for (const other of this.cells.get(key) ?? []) {
        if (box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1]) return false;
      }
    }
    for (const key of keys) {
      const known = this.cells.get(key);
      if (known) known.push(box);
      else this.cells.set(key, [box]);
    }
    return true;
  }
}
