// The stations on the map: dots by value from afar, values from nearer, station models from close by.
import { effect, signal } from "@preact/signals";
import type L from "leaflet";

import { colourOf, css } from "../domain/colour";
import { coreIfLoaded } from "../domain/core";
import { worldX, worldY } from "../domain/mercator";
import { isBad, QUALITIES } from "../domain/quality";
import { OLD_S } from "../domain/time";
import { mapText, mapVariable } from "../domain/variables";
import type { Columns } from "../station/columns";
import { cell, columns, details, places, position } from "../station/network";
import { layer, locale, station, stationModels, system, theme, variable } from "../view";
import { drawBarb } from "./barb";
import type { Spot } from "./close_up";
import { closeUp, drawModels, MODEL_ZOOM, watchCloseUp } from "./close_up";
import { mapScale } from "./fitted_scale";
import type { Ink } from "./marks";
import { dot, markSprite } from "./marks";
import { drawNames, labels, loadNames } from "./names";
import type { Frame } from "./overlay";
import { firstX, Overlay, reserved, Taken } from "./overlay";

const TEXT_ZOOM = 6;
/** From this zoom on winds are barbs. */
export const BARB_ZOOM = 5;
const HIT_PX = 14;

/** How many stations have a value in this view's data. */
export const valueCount = signal(0);

let spots: readonly Spot[] = [];

export function inks(): Ink {
  const styles = getComputedStyle(document.documentElement);
  const of = (name: string) => styles.getPropertyValue(name).trim();
  return { text: of("--ink"), soft: of("--ink-soft"), halo: of("--halo"), ground: of("--map-land"), rim: of("--rim") };
}

/** Makes the layer, which draws itself again whenever what it shows changes. */
export function stationsLayer(map: L.Map): Overlay {
  let ink = inks();
  const overlay = new Overlay((context, frame) => draw(context, frame, ink));
  effect(() => {
    const of = columns.value;
    const where = places.value;
    const richness = details.value;
    const all: Spot[] = [];
    const known = new Map((of?.ids ?? []).map((id, at) => [id, at]));
    for (const [id, { lon, lat }] of where) {
      all.push({ id, x: worldX(lon), y: worldY(lat), column: known.get(id) ?? -1, isSouthern: lat < 0 });
    }
    // Stations that report more come first where there is no room for all.
    const weight = (id: string) => richness.get(id)?.typeCount ?? 0;
    all.sort((a, b) => weight(b.id) - weight(a.id) || (a.id < b.id ? -1 : 1));
    spots = all;
    overlay.redraw();
  });
  effect(() => {
    void [coreIfLoaded(), mapScale.value, layer.value, variable.value, position.value, station.value, system.value, locale.value, closeUp.value, stationModels.value, labels.value, reserved.value];
    overlay.redraw();
  });
  effect(() => {
    void theme.value;
    ink = inks();
    overlay.redraw();
  });
  watchCloseUp(map);
  loadNames();
  return overlay;
}

function draw(context: CanvasRenderingContext2D, frame: Frame, ink: Ink): void {
  const of = columns.value;
  if (!of || layer.value === "alerts" || layer.value === "models" || layer.value === "products") {
    drawFaint(context, frame, ink);
    return;
  }
  const isQuality = layer.value === "quality";
  const taken = new Taken();
  const isClose = frame.zoom >= MODEL_ZOOM && !isQuality && stationModels.value && closeUp.value !== undefined;
  const count = isClose ? drawModels(context, frame, spots, taken, ink) : drawValues(context, frame, of, isQuality, taken, ink);
  if (valueCount.peek() !== count) queueMicrotask(() => (valueCount.value = count));
  drawChosen(context, frame);
  drawNames(context, frame, taken, ink);
}

function drawFaint(context: CanvasRenderingContext2D, frame: Frame, ink: Ink): void {
  const { scale, top, width, height } = frame;
  context.fillStyle = ink.soft;
  context.globalAlpha = 0.55;
  for (const { x, y } of spots) {
    const py = y * scale - top;
    if (py < 0 || py > height) continue;
    for (let px = firstX(frame, x, 0); px <= width; px += scale) context.fillRect(px - 1, py - 1, 2, 2);
  }
  context.globalAlpha = 1;
  drawChosen(context, frame);
  const taken = new Taken();
  for (const box of reserved.peek()) taken.claim(...box);
  drawNames(context, frame, taken, ink);
}

function worstAt(of: Columns, at: number, column: number): number {
  let worst = 255;
  for (let name = 0; name < of.names.length; name += 1) {
    const place = cell(of, name, at, column);
    if (!Number.isNaN(of.values[place]!)) worst = Math.min(worst, of.qualities[place]!);
  }
  return worst;
}

/** Draws the values; returns how many there are. */
function drawValues(context: CanvasRenderingContext2D, frame: Frame, of: Columns, isQuality: boolean, taken: Taken, ink: Ink): number {
  const { scale, top, width, height, zoom } = frame;
  const at = Math.min(position.value, of.times_ms.length - 1);
  // What has come, until the variable that is chosen has.
  const { name } = mapVariable(of.names[0]!);
  const colours = mapScale.peek();
  const core = coreIfLoaded();
  const isWind = of.names.includes("windDirection") && !isQuality;
  const hasText = zoom >= TEXT_ZOOM && !isQuality;
  const texts: [number, number, string, number][] = [];
  const bad: [number, number, number][] = [];
  let count = 0;
  context.lineWidth = 1.1;
  for (const { id, x, y, column, isSouthern } of spots) {
    if (column < 0) continue;
    const place = cell(of, 0, at, column);
    const value = of.values[place]!;
    const quality = isQuality ? worstAt(of, at, column) : of.qualities[place]!;
    if (isQuality ? quality === 255 : Number.isNaN(value)) continue;
    count += 1;
    const py = y * scale - top;
    if (py < -20 || py > height + 20) continue;
    const isOld = of.ages[place]! > OLD_S;
    const isMarked = isBad(QUALITIES[quality]!);
    for (let px = firstX(frame, x, 20); px <= width + 20; px += scale) {
      context.globalAlpha = isOld ? 0.4 : 1;
      if (isQuality) {
        taken.speck(px, py);
        if (isMarked) bad.push([px, py, quality]);
        else context.drawImage(markSprite(quality, 2.5), px - 8, py - 8, 16, 16);
        continue;
      }
      const colour = colourOf(colours, value);
      if (isWind && zoom >= BARB_ZOOM && core) {
        const direction = of.values[cell(of, of.names.indexOf("windDirection"), at, column)]!;
        if (Number.isNaN(direction) && value > 4) continue;
        if (!taken.claim(px, py, 13, 13)) continue;
        context.strokeStyle = colour && value > 4 ? css(colour) : ink.soft;
        context.lineWidth = 1.6;
        drawBarb(context, px, py, core.convert(value, "km/h", "kt"), direction, isSouthern, 22);
        if (isMarked) bad.push([px, py, quality]);
        continue;
      }
      context.drawImage(dot(colour ? css(colour) : undefined, ink), px - 6, py - 6, 12, 12);
      taken.speck(px, py);
      if (hasText && taken.claim(px + 12, py - 1, 16, 8)) texts.push([id === station.value ? px + 7 : px, py, mapText(value, name, system.value, locale.value), isOld ? 0.5 : 1]);
      if (isMarked) bad.push([px, py, quality]);
    }
  }
  context.font = "600 12px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const [px, py, text, alpha] of texts) {
    context.globalAlpha = alpha;
    context.lineWidth = 3;
    context.strokeStyle = ink.halo;
    context.strokeText(text, px + 6, py);
    context.fillStyle = ink.text;
    context.fillText(text, px + 6, py);
  }
  context.globalAlpha = 1;
  // The worst last, so that it lies on top.
  for (const [px, py, quality] of bad.sort((a, b) => b[2] - a[2])) context.drawImage(markSprite(quality, 5), px - 8, py - 8, 16, 16);
  return count;
}

function drawChosen(context: CanvasRenderingContext2D, frame: Frame): void {
  const chosen = station.value && places.value.get(station.value);
  if (!chosen) return;
  const py = worldY(chosen.lat) * frame.scale - frame.top;
  context.globalAlpha = 1;
  for (let px = firstX(frame, worldX(chosen.lon), 20); px <= frame.width + 20; px += frame.scale) {
    context.beginPath();
    context.arc(px, py, 9, 0, 2 * Math.PI);
    context.lineWidth = 4;
    context.strokeStyle = "rgba(255,255,255,.9)";
    context.stroke();
    context.lineWidth = 2;
    context.strokeStyle = "#0b6bcb";
    context.stroke();
  }
}

/** The station that is drawn nearest to a pixel of the map, if one is near. */
export function stationAt(map: L.Map, point: { x: number; y: number }, reach = HIT_PX): string | undefined {
  const bounds = map.getPixelBounds();
  const scale = 256 * 2 ** map.getZoom();
  const [left, top] = [bounds.min?.x ?? 0, bounds.min?.y ?? 0];
  let [best, bestDistance] = [undefined as string | undefined, reach];
  for (const { id, x, y, column } of spots) {
    const across = (x * scale - left - point.x) / scale;
    const distance = Math.hypot((across - Math.round(across)) * scale, y * scale - top - point.y) + (column < 0 ? 6 : 0);
    if (distance < bestDistance) [best, bestDistance] = [id, distance];
  }
  return best;
}

/** What is written beside the pointer on a station. */
export function valueOf(id: string): { value: number; unit: string; age_s: number; quality: number } | undefined {
  const of = columns.value;
  const column = of?.ids.indexOf(id) ?? -1;
  if (!of || column < 0) return undefined;
  const place = cell(of, 0, Math.min(position.value, of.times_ms.length - 1), column);
  const value = of.values[place]!;
  if (Number.isNaN(value)) return undefined;
  return { value, unit: mapVariable(of.names[0]!).unit, age_s: of.ages[place]!, quality: of.qualities[place]! };
}

