// The plot of a station as WMO-No. 485 has it: temperature and dew point on the left, pressure on the right,
// the cover of the sky in the middle, the weather between, the wind as a barb.
import { barbPoints, drawBarb } from "./barb";
import type { Ink } from "./marks";
import { markSprite } from "./marks";

/** A value of a plot, and the verdict on it where it is bad. */
export interface Part {
  readonly text: string;
  readonly mark: number | undefined;
}

/** The variable that is chosen, on the colour that the legend has for it: in its own place in the plot, or below it. */
export interface Chip extends Part {
  readonly place: "temperature" | "dewPoint" | "pressure" | "below";
  readonly fill: string;
  readonly ink: string;
}

export interface StationModel {
  readonly temperature: Part | undefined;
  readonly dewPoint: Part | undefined;
  readonly pressure: Part | undefined;
  readonly speed_kt: number | undefined;
  readonly from_deg: number | undefined;
  /** Eighths of the sky that are covered. */
  readonly cover: number | undefined;
  readonly weather: string | undefined;
  readonly chip: Chip | undefined;
  /** The worst verdict on the wind and the sky. */
  readonly mark: number | undefined;
  readonly isSouthern: boolean;
  readonly isOld: boolean;
}

const R = 5;

/** Half of the width and of the height that a plot needs. */
export const MODEL_SIZE = { x: 40, y: 30 };
const ROW = 9;
const BELOW = 25;

/** The length of a barb, from the rim of the circle. */
const SHAFT = 24;
/** Half of the height of a number, and how far out and away from the middle row it may stand so that no barb crosses it. */
const HALF = 6;
const SHIFTS = [[0, 0], [0, 4], [7, 0], [7, 4], [14, 0], [14, 4], [20, 0], [20, 4], [26, 0], [0, 10], [7, 10], [31, 0]] as const;

/** How far across and down a number between two places moves so that a barb leaves it free. */
export function shiftOf(barb: readonly (readonly [number, number])[], left: number, right: number, row: number, side: -1 | 0 | 1): readonly [number, number] {
  const shifts = SHIFTS.map(([out, away]) => [out * side, away * Math.sign(row)] as const);
  const isFree = ([across, down]: readonly [number, number]) => !barb.some(([x, y]) => x > left + across - 1 && x < right + across + 1 && Math.abs(y - row - down) < HALF);
  return shifts.find(isFree) ?? [0, 0];
}

/** Where a barb is around the middle of a plot. */
function barbAt(speed_kt: number, from_deg: number, isSouthern: boolean): readonly (readonly [number, number])[] {
  const angle = (from_deg * Math.PI) / 180;
  const [east, south] = [Math.sin(angle) * R, -Math.cos(angle) * R];
  return barbPoints(speed_kt, from_deg, isSouthern, SHAFT).map(([px, py]) => [px + east, py + south]);
}

/** The widths of numbers, about, by the side and the row where they stand. */
const WIDTHS = [[-1, -ROW, 16], [-1, ROW, 16], [1, -ROW, 24]] as const;

/** How much wider than usual a plot is on its left and on its right because its barb moves numbers out. */
export function moreRoom(speed_kt: number | undefined, from_deg: number | undefined, isSouthern: boolean): readonly [number, number] {
  if (speed_kt === undefined || from_deg === undefined) return [0, 0];
  const barb = barbAt(speed_kt, from_deg, isSouthern);
  const more = { left: 0, right: 0 };
  for (const [side, row, width] of WIDTHS) {
    const left = side < 0 ? -R - 4 - width : R + 4;
    const [across] = shiftOf(barb, left, left + width, row, side);
    if (side < 0) more.left = Math.max(more.left, -across);
    else more.right = Math.max(more.right, across);
  }
  return [more.left, more.right];
}

export function drawStationModel(context: CanvasRenderingContext2D, x: number, y: number, of: StationModel, ink: Ink): void {
  context.save();
  context.globalAlpha = of.isOld ? 0.5 : 1;
  context.lineWidth = 1.2;
  context.strokeStyle = ink.text;
  let barb: readonly (readonly [number, number])[] = [];
  if (of.speed_kt !== undefined && of.from_deg !== undefined && of.speed_kt >= 2.5) {
    const angle = (of.from_deg * Math.PI) / 180;
    const [east, south] = [Math.sin(angle) * R, -Math.cos(angle) * R];
    drawBarb(context, x + east, y + south, of.speed_kt, of.from_deg, of.isSouthern, SHAFT);
    barb = barbAt(of.speed_kt, of.from_deg, of.isSouthern);
  }
  drawCover(context, x, y, of.cover, ink);
  context.textBaseline = "middle";
  /** Writes a part to the left (-1), in the middle (0) or to the right (1), with its mark at its outer end. */
  const write = (part: Part | undefined, side: -1 | 0 | 1, row: number, font: string, colour: string, chip?: Chip) => {
    if (!part) return;
    let at = x + side * (R + 4);
    context.font = font;
    context.textAlign = side < 0 ? "right" : side > 0 ? "left" : "center";
    const width = context.measureText(part.text).width;
    const from = (side < 0 ? at - width : side > 0 ? at : at - width / 2) - x;
    const [across, down] = shiftOf(barb, from, from + width, row, side);
    const dy = row + down;
    at += across;
    if (chip) {
      context.beginPath();
      context.roundRect((side < 0 ? at - width : side > 0 ? at : at - width / 2) - 3, y + dy - 8.5, width + 6, 16, 3);
      context.fillStyle = chip.fill;
      context.fill();
      context.lineWidth = 0.8;
      context.strokeStyle = ink.rim;
      context.stroke();
    } else {
      context.strokeStyle = ink.halo;
      context.lineWidth = 3;
      context.strokeText(part.text, at, y + dy);
    }
    context.fillStyle = colour;
    context.fillText(part.text, at, y + dy);
    const outer = side < 0 ? at - width - 9 : side > 0 ? at + width + 9 : at + width / 2 + 10;
    if (part.mark !== undefined) context.drawImage(markSprite(part.mark, 4), outer - 8, y + dy - 8, 16, 16);
  };
  const { chip } = of;
  const [bold, plain] = ["600 12px system-ui, sans-serif", "12px system-ui, sans-serif"];
  const place = (name: Chip["place"], side: -1 | 1, dy: number, font: string, colour: string, part: Part | undefined) =>
    chip?.place === name ? write(chip, side, dy, bold, chip.ink, chip) : write(part, side, dy, font, colour);
  place("temperature", -1, -ROW, bold, ink.text, of.temperature);
  place("pressure", 1, -ROW, bold, ink.text, of.pressure);
  place("dewPoint", -1, ROW, plain, ink.soft, of.dewPoint);
  write(of.weather === undefined ? undefined : { text: of.weather, mark: undefined }, 1, ROW, plain, ink.soft);
  if (chip?.place === "below") write(chip, 0, BELOW, bold, chip.ink, chip);
  if (of.mark !== undefined) context.drawImage(markSprite(of.mark, 4), x - 8, y + BELOW - ROW - 7, 16, 16);
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
