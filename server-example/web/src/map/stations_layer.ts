// The stations on the map: dots by value from afar, values from nearer, station models from close by.
import { effect, signal } from "@preact/signals";
import type L from "leaflet";

import { askBytes, now_ms, observations } from "../api/client";
import { colourOf, css } from "../domain/colour";
import { core } from "../domain/core";
import { worldX, worldY } from "../domain/mercator";
import { isBad, QUALITIES } from "../domain/quality";
import { iso, MINUTE_MS, OLD_S } from "../domain/time";
import { digits, mapVariable, shown, shownUnit } from "../domain/variables";
import type { Columns } from "../station/columns";
import { cell, columns, details, places, position, shown_ms } from "../station/network";
import { layer, locale, station, system, theme, variable } from "../view";
import { inWorker } from "../worker_pool";
import { drawBarb } from "./barb";
import { markSprite } from "./marks";
import type { Frame } from "./overlay";
import { Overlay, Taken } from "./overlay";
import type { Ink } from "./station_model";
import { codedPressure, drawStationModel, MODEL_SIZE, weatherSign } from "./station_model";

const TEXT_ZOOM = 6;
const MODEL_ZOOM = 8;
const MODEL_NAMES = ["airTemperature", "dewPointTemperature", "mslp", "windSpeed10m", "windDirection", "cloudCover"];
const HIT_PX = 14;

interface Spot {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly column: number;
  readonly isSouthern: boolean;
}

/** What the station models of this part of the map show. */
const closeUp = signal<{ columns: Columns; at: ReadonlyMap<string, number> } | undefined>(undefined);

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
    void [layer.value, variable.value, position.value, station.value, system.value, locale.value, closeUp.value];
    overlay.redraw();
  });
  effect(() => {
    void theme.value;
    ink = inks();
    overlay.redraw();
  });
  watchCloseUp(map);
  return overlay;
}

function draw(context: CanvasRenderingContext2D, frame: Frame, ink: Ink): void {
  const of = columns.value;
  if (!of || layer.value === "alerts" || layer.value === "models" || layer.value === "products") {
    drawFaint(context, frame, ink);
    return;
  }
  const isQuality = layer.value === "quality";
  if (frame.zoom >= MODEL_ZOOM && !isQuality && closeUp.value) drawModels(context, frame, ink);
  else drawValues(context, frame, of, isQuality, ink);
  drawChosen(context, frame);
}

function drawFaint(context: CanvasRenderingContext2D, { scale, left, top, width, height }: Frame, ink: Ink): void {
  context.fillStyle = ink.soft;
  context.globalAlpha = 0.55;
  for (const { x, y } of spots) {
    const [px, py] = [x * scale - left, y * scale - top];
    if (px < 0 || py < 0 || px > width || py > height) continue;
    context.fillRect(px - 1, py - 1, 2, 2);
  }
  context.globalAlpha = 1;
  drawChosen(context, { scale, left, top, width, height, zoom: 0 });
}

function worstAt(of: Columns, at: number, column: number): number {
  let worst = 255;
  for (let name = 0; name < of.names.length; name += 1) {
    const place = cell(of, name, at, column);
    if (!Number.isNaN(of.values[place]!)) worst = Math.min(worst, of.qualities[place]!);
  }
  return worst;
}

function drawValues(context: CanvasRenderingContext2D, frame: Frame, of: Columns, isQuality: boolean, ink: Ink): void {
  const { scale, left, top, width, height, zoom } = frame;
  const at = Math.min(position.value, of.times_ms.length - 1);
  const { scale: colours, unit, name } = mapVariable(variable.value);
  const isWind = of.names.includes("windDirection") && !isQuality;
  const hasText = zoom >= TEXT_ZOOM && !isQuality;
  const taken = new Taken();
  const texts: [number, number, string, number][] = [];
  const bad: [number, number, number][] = [];
  const to = shownUnit(unit, system.value);
  let count = 0;
  context.lineWidth = 1.1;
  for (const { id, x, y, column, isSouthern } of spots) {
    if (column < 0) continue;
    const place = cell(of, 0, at, column);
    const value = of.values[place]!;
    const quality = isQuality ? worstAt(of, at, column) : of.qualities[place]!;
    if (isQuality ? quality === 255 : Number.isNaN(value)) continue;
    count += 1;
    const [px, py] = [x * scale - left, y * scale - top];
    if (px < -20 || py < -20 || px > width + 20 || py > height + 20) continue;
    const isOld = of.ages[place]! > OLD_S;
    context.globalAlpha = isOld ? 0.4 : 1;
    if (isQuality) {
      if (isBad(QUALITIES[quality]!)) bad.push([px, py, quality]);
      else context.drawImage(markSprite(quality, 2.5), px - 8, py - 8, 16, 16);
      continue;
    }
    const colour = colourOf(colours, value);
    if (isWind && zoom >= 5) {
      const direction = of.values[cell(of, of.names.indexOf("windDirection"), at, column)]!;
      if (Number.isNaN(direction) && value > 4) continue;
      if (!taken.claim(px, py, 13, 13)) continue;
      context.strokeStyle = colour && value > 4 ? css(colour) : ink.soft;
      context.lineWidth = 1.6;
      drawBarb(context, px, py, core().convert(value, "km/h", "kt"), direction, isSouthern, 22);
      continue;
    }
    context.drawImage(dot(colour ? css(colour) : undefined, ink), px - 6, py - 6, 12, 12);
    if (hasText) {
      const number = shown(value, unit, system.value);
      const text = name === "mslp" ? digits(number, to, locale.value) : digits(Math.round(number * 10) / 10, to === "°C" || to === "°F" ? "%" : to, locale.value);
      if (taken.claim(px + 12, py - 1, 16, 8)) texts.push([id === station.value ? px + 7 : px, py, text, isOld ? 0.5 : 1]);
    }
    if (isBad(QUALITIES[quality]!)) bad.push([px, py, quality]);
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
  if (valueCount.peek() !== count) queueMicrotask(() => (valueCount.value = count));
}

const dots = new Map<string, HTMLCanvasElement>();

/** A dot drawn once and copied: thousands of arcs would take longer than a frame. */
function dot(fill: string | undefined, ink: Ink): HTMLCanvasElement {
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

function drawModels(context: CanvasRenderingContext2D, { scale, left, top, width, height }: Frame, ink: Ink): void {
  const { columns: of, at } = closeUp.value!;
  const position = of.times_ms.length - 1;
  const taken = new Taken();
  if (valueCount.peek() !== of.ids.length) queueMicrotask(() => (valueCount.value = of.ids.length));
  for (const { id, x, y, isSouthern } of spots) {
    const [px, py] = [x * scale - left, y * scale - top];
    if (px < -40 || py < -40 || px > width + 40 || py > height + 40) continue;
    const column = at.get(id);
    if (column === undefined) continue;
    if (!taken.claim(px, py, MODEL_SIZE.x, MODEL_SIZE.y)) {
      context.drawImage(dot(undefined, ink), px - 6, py - 6, 12, 12);
      continue;
    }
    const value = (name: string) => {
      const found = of.values[cell(of, MODEL_NAMES.indexOf(name), position, column)]!;
      return Number.isNaN(found) ? undefined : found;
    };
    const degrees = (celsius: number | undefined) =>
      celsius === undefined ? {} : { text: String(Math.round(shown(celsius, "°C", system.value))) };
    const [pressure, speed, direction, cover] = [value("mslp"), value("windSpeed10m"), value("windDirection"), value("cloudCover")];
    const weather = weatherSign(details.value.get(id)?.presentWeather ?? []);
    const [temperature, dewPoint] = [degrees(value("airTemperature")).text, degrees(value("dewPointTemperature")).text];
    drawStationModel(
      context,
      px,
      py,
      {
        ...(temperature !== undefined && { temperature }),
        ...(dewPoint !== undefined && { dewPoint }),
        ...(pressure !== undefined && { pressure: codedPressure(pressure) }),
        ...(speed !== undefined && { speed_kt: core().convert(speed, "km/h", "kt") }),
        ...(direction !== undefined && { from_deg: direction }),
        ...(cover !== undefined && { cover }),
        ...(weather !== undefined && { weather }),
        isSouthern,
        isOld: of.ages[cell(of, 0, position, column)]! > OLD_S,
      },
      ink,
    );
  }
}

function drawChosen(context: CanvasRenderingContext2D, { scale, left, top }: Frame): void {
  const chosen = station.value && places.value.get(station.value);
  if (!chosen) return;
  const [px, py] = [worldX(chosen.lon) * scale - left, worldY(chosen.lat) * scale - top];
  context.globalAlpha = 1;
  context.beginPath();
  context.arc(px, py, 9, 0, 2 * Math.PI);
  context.lineWidth = 4;
  context.strokeStyle = "rgba(255,255,255,.9)";
  context.stroke();
  context.lineWidth = 2;
  context.strokeStyle = "#0b6bcb";
  context.stroke();
}

/** Loads what station models show, for the part of the map that is seen. */
function watchCloseUp(map: L.Map): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: AbortController | undefined;
  const load = async () => {
    running?.abort();
    if (map.getZoom() < MODEL_ZOOM || layer.value !== "stations" || shown_ms.value === 0) {
      closeUp.value = undefined;
      return;
    }
    running = new AbortController();
    const { signal } = running;
    const bounds = map.getBounds().pad(0.2);
    const end_ms = Math.min(shown_ms.value, now_ms());
    const start_ms = end_ms - 90 * MINUTE_MS;
    const query = new URLSearchParams({
      names: MODEL_NAMES.join(","),
      start: iso(start_ms),
      end: iso(end_ms),
      step: "90",
      minLat: String(Math.max(bounds.getSouth(), -90)),
      maxLat: String(Math.min(bounds.getNorth(), 90)),
      minLon: String(Math.max(bounds.getWest(), -180)),
      maxLon: String(Math.min(bounds.getEast(), 180)),
    });
    try {
      const body = await askBytes(observations(`/stations/readings?${query}`), { signal });
      const made = await inWorker({ kind: "grid", body, names: MODEL_NAMES, start_ms, end_ms });
      if (!signal.aborted) closeUp.value = { columns: made, at: new Map(made.ids.map((id, at) => [id, at])) };
    } catch {
      // The values stay.
    }
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void load(), 150);
  };
  map.on("moveend zoomend", soon);
  effect(() => {
    void [shown_ms.value, layer.value];
    soon();
  });
}

/** The station that is drawn nearest to a pixel of the map, if one is near. */
export function stationAt(map: L.Map, point: { x: number; y: number }, reach = HIT_PX): string | undefined {
  const bounds = map.getPixelBounds();
  const scale = 256 * 2 ** map.getZoom();
  const [left, top] = [bounds.min?.x ?? 0, bounds.min?.y ?? 0];
  let [best, bestDistance] = [undefined as string | undefined, reach];
  for (const { id, x, y, column } of spots) {
    const distance = Math.hypot(x * scale - left - point.x, y * scale - top - point.y) + (column < 0 ? 6 : 0);
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

