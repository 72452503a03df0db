// Stations from close by: plots as WMO-No. 485 has them, with the variable that is chosen in its colour.
import { effect, signal } from "@preact/signals";
import type L from "leaflet";

import { askBytes, now_ms, observations } from "../api/client";
import { colourOf, css, inkOn } from "../domain/colour";
import { coreIfLoaded } from "../domain/core";
import { wrapLon } from "../domain/mercator";
import { isBad, QUALITIES } from "../domain/quality";
import { iso, MINUTE_MS, OLD_S } from "../domain/time";
import { mapText, mapVariable, shown } from "../domain/variables";
import type { Columns } from "../station/columns";
import { cell, columns, details, position, shown_ms } from "../station/network";
import { layer, locale, stationModels, system, variable } from "../view";
import { inWorker } from "../worker_pool";
import { mapScale } from "./fitted_scale";
import type { Ink } from "./marks";
import { dot, markSprite } from "./marks";
import type { Frame, Taken } from "./overlay";
import { firstX } from "./overlay";
import type { Chip, Part } from "./station_model";
import { codedPressure, drawStationModel, MODEL_SIZE, moreRoom, weatherSign } from "./station_model";

/** From this zoom on there is room for plots. */
export const MODEL_ZOOM = 8;
const MODEL_NAMES = ["airTemperature", "dewPointTemperature", "mslp", "windSpeed10m", "windDirection", "cloudCover"];
/** Where a plot has a variable; others stand below it. */
const PLACES: Readonly<Record<string, Chip["place"]>> = { airTemperature: "temperature", dewPointTemperature: "dewPoint", mslp: "pressure" };

/** A station on the map, in pixels of the world. */
export interface Spot {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly column: number;
  readonly isSouthern: boolean;
}

/** What the plots of this part of the map show. */
export const closeUp = signal<{ columns: Columns; at: ReadonlyMap<string, number> } | undefined>(undefined);

/** Draws the plots of stations, those that report more first. Returns how many stations have the variable that is chosen. */
export function drawModels(context: CanvasRenderingContext2D, frame: Frame, spots: readonly Spot[], taken: Taken, ink: Ink): number {
  const { scale, top, width, height } = frame;
  const of = columns.value;
  let count = 0;
  for (const spot of spots) {
    const chosen = of && valueAt(of, spot.column);
    if (chosen) count += 1;
    const py = spot.y * scale - top;
    if (py < -40 || py > height + 40) continue;
    for (let px = firstX(frame, spot.x, 40); px <= width + 40; px += scale) drawStation(context, px, py, spot, chosen, taken, ink);
  }
  return count;
}

interface Chosen {
  readonly value: number;
  readonly quality: number;
  readonly age_s: number;
}

/** The variable that is chosen, as the map shows it from afar too. */
function valueAt(of: Columns, column: number): Chosen | undefined {
  if (column < 0) return undefined;
  const place = cell(of, 0, Math.min(position.value, of.times_ms.length - 1), column);
  const value = of.values[place]!;
  return Number.isNaN(value) ? undefined : { value, quality: of.qualities[place]!, age_s: of.ages[place]! };
}

function drawStation(context: CanvasRenderingContext2D, px: number, py: number, { id, isSouthern }: Spot, chosen: Chosen | undefined, taken: Taken, ink: Ink): void {
  const { columns: of, at } = closeUp.value!;
  const column = at.get(id);
  if (column === undefined && !chosen) return;
  // What has come, until the variable that is chosen has.
  const { name } = mapVariable(columns.value?.names[0] ?? variable.value);
  const colour = chosen && colourOf(mapScale.peek(), chosen.value);
  const mark = (quality: number | undefined) => (quality !== undefined && isBad(QUALITIES[quality]!) ? quality : undefined);
  taken.speck(px, py);
  const placeOf = (wanted: string) => (column === undefined ? -1 : cell(of, MODEL_NAMES.indexOf(wanted), of.times_ms.length - 1, column));
  const value = (wanted: string) => {
    const found = of.values[placeOf(wanted)];
    return found === undefined || Number.isNaN(found) ? undefined : found;
  };
  const speed = value("windSpeed10m");
  const speed_kt = speed === undefined ? undefined : coreIfLoaded()?.convert(speed, "km/h", "kt");
  const [left, right] = moreRoom(speed_kt, value("windDirection"), isSouthern);
  // A pressure in full is longer than its code.
  const more = right + (chosen && name === "mslp" ? 16 : 0);
  if (!taken.claim(px + (more - left) / 2, py + 5, MODEL_SIZE.x + (more + left) / 2, MODEL_SIZE.y)) {
    context.globalAlpha = (chosen?.age_s ?? 0) > OLD_S ? 0.4 : 1;
    // Below the numbers of the plot that has taken the room.
    context.globalCompositeOperation = "destination-over";
    context.drawImage(dot(colour && css(colour), ink), px - 6, py - 6, 12, 12);
    context.globalCompositeOperation = "source-over";
    const bad = mark(chosen?.quality);
    if (bad !== undefined) context.drawImage(markSprite(bad, 5), px - 8, py - 8, 16, 16);
    context.globalAlpha = 1;
    return;
  }
  const part = (wanted: string, text: (value: number) => string): Part | undefined => {
    const found = value(wanted);
    return found === undefined ? undefined : { text: text(found), mark: mark(of.qualities[placeOf(wanted)]) };
  };
  const degrees = (celsius: number) => String(Math.round(shown(celsius, "°C", system.value)));
  const chip: Chip | undefined = chosen && {
    place: PLACES[name] ?? "below",
    text: mapText(chosen.value, name, system.value, locale.value),
    mark: mark(chosen.quality),
    ...(colour ? { fill: css(colour), ink: inkOn(colour) } : { fill: ink.ground, ink: ink.text }),
  };
  const weather = weatherSign(details.value.get(id)?.presentWeather ?? []);
  const age_s = column === undefined ? chosen!.age_s : of.ages[placeOf(MODEL_NAMES[0]!)]!;
  drawStationModel(
    context,
    px,
    py,
    {
      temperature: part("airTemperature", degrees),
      dewPoint: part("dewPointTemperature", degrees),
      pressure: part("mslp", codedPressure),
      speed_kt,
      from_deg: value("windDirection"),
      cover: value("cloudCover"),
      weather,
      chip,
      mark: mark(Math.min(...["windSpeed10m", "windDirection", "cloudCover"].map((wanted) => (value(wanted) === undefined ? 255 : of.qualities[placeOf(wanted)]!)), 7)),
      isSouthern,
      isOld: age_s > OLD_S,
    },
    ink,
  );
}

/** Loads what station models show, for the part of the map that is seen. */
export function watchCloseUp(map: L.Map): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: AbortController | undefined;
  const load = async () => {
    running?.abort();
    if (map.getZoom() < MODEL_ZOOM || layer.value !== "stations" || !stationModels.value || shown_ms.value === 0) {
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
      // Across the antimeridian the west is greater than the east.
      minLon: String(wrapLon(bounds.getWest())),
      maxLon: String(wrapLon(bounds.getEast())),
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
    void [shown_ms.value, layer.value, stationModels.value];
    soon();
  });
}
