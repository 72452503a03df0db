// The marks of verdicts, a shape and a colour each, and the dots of values: drawn once.
import { QUALITIES, QUALITY_MARKS } from "../domain/quality";

/** The colours of what is drawn on the map. */
export interface Ink {
  readonly text: string;
  readonly soft: string;
  readonly halo: string;
  readonly ground: string;
  /** Around dots. */
  readonly rim: string;
}

const sprites = new Map<string, HTMLCanvasElement>();

/** The mark of a verdict, 16 by 16, for a display of double density. */
export function markSprite(quality: number, radius: number): HTMLCanvasElement {
  const key = `${quality} ${radius}`;
  const known = sprites.get(key);
  if (known) return known;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const context = canvas.getContext("2d");
  if (context) {
    context.scale(2, 2);
    const { colour, shape } = QUALITY_MARKS[QUALITIES[quality] ?? "Unknown"];
    context.beginPath();
    trace(context, shape, radius);
    context.lineJoin = "round";
    if (shape === "ring") {
      context.lineWidth = 2;
      context.strokeStyle = colour;
      context.stroke();
    } else {
      context.fillStyle = colour;
      context.fill();
      if (shape !== "disc") {
        context.lineWidth = 1.2;
        context.strokeStyle = "#fff";
        context.stroke();
      }
    }
  }
  sprites.set(key, canvas);
  return canvas;
}

function trace(context: CanvasRenderingContext2D, shape: string, r: number): void {
  const corners: Record<string, readonly [number, number][]> = {
    square: [[-r, -r], [r, -r], [r, r], [-r, r]],
    diamond: [[0, -r * 1.25], [r * 1.25, 0], [0, r * 1.25], [-r * 1.25, 0]],
    triangle: [[0, -r * 1.2], [r * 1.2, r], [-r * 1.2, r]],
  };
  const points = corners[shape];
  if (!points) {
    context.arc(8, 8, r, 0, 2 * Math.PI);
    return;
  }
  points.forEach(([x, y], at) => (at === 0 ? context.moveTo(8 + x, 8 + y) : context.lineTo(8 + x, 8 + y)));
  context.closePath();
}

const dots = new Map<string, HTMLCanvasElement>();

/** The dot of a value, hollow where it has no colour; drawn once and copied: thousands of arcs would take longer than a frame. */
export function dot(fill: string | undefined, ink: Ink): HTMLCanvasElement {
  const key = `${fill ?? ""}${ink.rim}`;
  const known = dots.get(key);
  if (known) return known;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 24;
  const context = canvas.getContext("2d");
  if (context) {
    context.scale(2, 2);
    context.beginPath();
    context.arc(6, 6, fill ? 3.6 : 2.2, 0, 2 * Math.PI);
    context.lineWidth = 0.8;
    context.strokeStyle = fill ? ink.rim : ink.soft;
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    context.stroke();
  }
  dots.set(key, canvas);
  return canvas;
}
