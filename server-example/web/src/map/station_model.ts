// The plot of a station as WMO-No. 485 has it: temperature and dew point on the left, pressure on the right,
// the cover of the sky in the middle, the weather between, the wind as a barb.
import { drawBarb } from "./barb";

export interface StationModel {
  readonly temperature?: string;
  readonly dewPoint?: string;
  readonly pressure?: string;
  readonly speed_kt?: number;
  readonly from_deg?: number;
  /** Eighths of the sky that are covered. */
  readonly cover?: number;
  readonly weather?: string;
  readonly isSouthern: boolean;
  readonly isOld: boolean;
}

export interface Ink {
  readonly text: string;
  readonly soft: string;
  readonly halo: string;
  readonly ground: string;
  /** Around dots. */
  readonly rim: string;
}

const R = 5;

/** Half of the width and of the height that a plot needs. */
export const MODEL_SIZE = { x: 40, y: 26 };

export function drawStationModel(context: CanvasRenderingContext2D, x: number, y: number, of: StationModel, ink: Ink): void {
  context.save();
  context.globalAlpha = of.isOld ? 0.5 : 1;
  context.lineWidth = 1.2;
  context.strokeStyle = ink.text;
  if (of.speed_kt !== undefined && of.from_deg !== undefined && of.speed_kt >= 2.5) {
    context.save();
    context.translate(x, y);
    const angle = (of.from_deg * Math.PI) / 180;
    drawBarb(context, Math.sin(angle) * R, -Math.cos(angle) * R, of.speed_kt, of.from_deg, of.isSouthern, 24);
    context.restore();
  }
  drawCover(context, x, y, of.cover, ink);
  const write = (text: string | undefined, dx: number, dy: number, align: CanvasTextAlign, colour: string) => {
    if (text === undefined) return;
    context.textAlign = align;
    context.strokeStyle = ink.halo;
    context.lineWidth = 3;
    context.strokeText(text, x + dx, y + dy);
    context.fillStyle = colour;
    context.fillText(text, x + dx, y + dy);
  };
  context.font = "600 12px system-ui, sans-serif";
  context.textBaseline = "middle";
  write(of.temperature, -R - 4, -9, "right", ink.text);
  write(of.pressure, R + 4, -9, "left", ink.text);
  context.font = "12px system-ui, sans-serif";
  write(of.dewPoint, -R - 4, 9, "right", ink.soft);
  write(of.weather, R + 4, 9, "left", ink.soft);
  context.restore();
}

function drawCover(context: CanvasRenderingContext2D, x: number, y: number, cover: number | undefined, ink: Ink): void {
  context.beginPath();
  context.arc(x, y, R, 0, 2 * Math.PI);
  context.fillStyle = ink.ground;
  context.fill();
  if (cover !== undefined && cover > 0) {
    context.beginPath();
    context.moveTo(x, y);
    context.arc(x, y, R, -Math.PI / 2, -Math.PI / 2 + (Math.min(cover, 8) / 8) * 2 * Math.PI);
    context.fillStyle = ink.text;
    context.fill();
  }
  context.beginPath();
  context.arc(x, y, R, 0, 2 * Math.PI);
  context.lineWidth = 1.4;
  context.strokeStyle = ink.text;
  if (cover === undefined) context.setLineDash([2, 2]);
  context.stroke();
  context.setLineDash([]);
}

/** The pressure as plots have it: the last three digits of tenths of hPa. */
export const codedPressure = (hPa: number): string => String(Math.round(hPa * 10) % 1000).padStart(3, "0");

/** A sign for the gravest weather of those in words, as a plot has room for one. */
export function weatherSign(words: readonly string[]): string | undefined {
  const all = words.join(" ").toLowerCase();
  const table: readonly [string, string][] = [
    ["thunder", "⚡"],
    ["snow", "✻"],
    ["freezing", "∿"],
    ["drizzle", "❟"],
    ["shower", "▽"],
    ["rain", "•"],
    ["fog", "≡"],
    ["mist", "="],
    ["haze", "∞"],
    ["smoke", "∞"],
  ];
  return table.find(([part]) => all.includes(part))?.[1];
}
