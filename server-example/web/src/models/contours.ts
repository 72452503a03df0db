// Lines of equal value of a field over the map, such as isobars, with their numbers.
import { effect } from "@preact/signals";
import type L from "leaflet";

import type { ModelProduct } from "../api/types";
import type { Scale } from "../domain/colour";
import { niceStep } from "../domain/colour";
import { worldX, worldY } from "../domain/mercator";
import { shown } from "../domain/variables";
import { OVER_COLOURS } from "../map/basemap";
import { type Box, Overlay, reserve, Taken } from "../map/overlay";
import { hour, layer, lines, locale, model, system } from "../view";
import { coverage, field, levelOf, nativeZoom, paintOf, paintUnit, products, tile } from "./fields";
import { type Line, linesOf } from "./lines";

const SIDE = 256;
/** Every so many pixels of a tile is a value of the grid: lines are smooth from there on. */
const EVERY = 4;
const CELLS = SIDE / EVERY;
/** Isobars stand 4 hPa apart, as on the charts of both countries. */
const ISOBARS_HPA = 4;
/** Between the ends of a scale so many lines. */
const LINES = 16;
const LABEL_PX = 260;
const PLAIN: Scale = { unit: "", from: -1, to: 1, colours: [[0, 0, 0], [0, 0, 0]] };

/** The field that lines are drawn of: pressure, or the field that is on the map. */
export function linedField(): ModelProduct | undefined {
  if (lines.value === "") return undefined;
  const pressure = products.value.find(({ name }) => name === "pressure_msl");
  return lines.value === "pressure" ? pressure : field.value;
}

/** The step between two lines, in the unit of the colours. */
export function stepOf(of: ModelProduct): number {
  if (of.name === "pressure_msl") return ISOBARS_HPA;
  const scale = paintOf(of)?.scale;
  return scale ? niceStep((scale.to - scale.from) / LINES) : Number.NaN;
}

/** Keeps the lines that are chosen on the map. */
export function contourLayer(map: L.Map): void {
  let drawn: readonly Line[] = [];
  let of: ModelProduct | undefined;
  let wanted = "";
  const overlay = new Overlay((context, frame) => {
    const { scale, top, width, height, left } = frame;
    const unit = of ? paintUnit(of) : "";
    const taken = new Taken();
    context.lineJoin = "round";
    context.font = "600 11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    // Lines begin in the world of Greenwich and may go on into the next one.
    const first = Math.floor(left / scale) - 1;
    const boxes: Box[] = [];
    for (const { value, pieces } of drawn) {
      // As on charts, without a mark between thousands.
      const text = shown(value, unit, system.value).toLocaleString(locale.value, { useGrouping: false, maximumFractionDigits: 2 });
      const labels: [number, number][] = [];
      context.beginPath();
      for (let world = first; world * scale < left + width; world += 1) {
        for (const piece of pieces) {
          let [along, lastX, lastY] = [LABEL_PX / 2, 0, 0];
          piece.forEach(([x, y], at) => {
            const [px, py] = [(x + world) * scale - left, y * scale - top];
            if (at === 0) context.moveTo(px, py);
            else {
              context.lineTo(px, py);
              along += Math.hypot(px - lastX, py - lastY);
            }
            [lastX, lastY] = [px, py];
            if (along < LABEL_PX || px < 24 || py < 12 || px > width - 24 || py > height - 12) return;
            along = 0;
            labels.push([px, py]);
          });
        }
      }
      for (const [colour, lineWidth] of OVER_COLOURS) {
        context.strokeStyle = colour;
        context.lineWidth = lineWidth;
        context.stroke();
      }
      const half = context.measureText(text).width / 2;
      for (const [px, py] of labels) {
        if (!taken.claim(px, py, half + 8, 10)) continue;
        boxes.push([px, py, half + 4, 9]);
        context.lineWidth = 4;
        context.strokeStyle = "rgba(255,255,255,.85)";
        context.strokeText(text, px, py);
        context.fillStyle = "#1c2126";
        context.fillText(text, px, py);
      }
    }
    reserve(boxes);
  }).addTo(map);
  const load = async () => {
    const next = layer.value === "models" && coverage.value ? linedField() : undefined;
    const step = next ? stepOf(next) : Number.NaN;
    if (!next || !(step > 0)) {
      [drawn, of, wanted] = [[], undefined, ""];
      overlay.redraw();
      return;
    }
    const z = Math.min(Math.max(Math.round(map.getZoom()) - 1, 0), nativeZoom.peek());
    const side = 2 ** z;
    const bounds = map.getBounds().pad(0.1);
    const [west, east] = [bounds.getWest(), bounds.getEast()].map((lon) => Math.floor(worldX(lon) * side)) as [number, number];
    const limited = (lat: number) => Math.min(Math.max(Math.floor(worldY(lat) * side), 0), side - 1);
    const [north, south] = [limited(bounds.getNorth()), limited(bounds.getSouth())];
    const columns = Math.min(east - west + 1, side);
    const key = JSON.stringify([model.value, next.name, levelOf(next), hour.value, coverage.value?.latest_run, z, west, north, columns, south, step]);
    if (key === wanted) return;
    wanted = key;
    const grid = await mosaic(next, z, west, north, columns, south - north + 1, hour.peek());
    if (wanted !== key) return;
    const own = west - Math.floor(west / side) * side;
    [drawn, of] = [linesOf(grid, columns * CELLS, (south - north + 1) * CELLS, step, (x, y) => [(own + x / CELLS) / side, (north + y / CELLS) / side]), next];
    overlay.redraw();
  };
  // Lines that do not come leave the map as it is: the tiles of the field say what is wrong.
  const loadQuietly = () => void load().catch(() => (wanted = ""));
  map.on("moveend zoomend", loadQuietly);
  effect(loadQuietly);
  effect(() => {
    void [system.value, locale.value];
    overlay.redraw();
  });
}

/** The values of tiles side by side. */
async function mosaic(of: ModelProduct, z: number, west: number, north: number, columns: number, rows: number, at: number): Promise<Float32Array> {
  const side = 2 ** z;
  const grid = new Float32Array(columns * rows * CELLS * CELLS).fill(Number.NaN);
  const places = Array.from({ length: columns * rows }, (_, place) => [place % columns, Math.floor(place / columns)] as const);
  await Promise.all(
    places.map(async ([column, row]) => {
      const { values } = await tile(of, z, (((west + column) % side) + side) % side, north + row, paintOf(of)?.scale ?? PLAIN, at);
      for (let y = 0; y < CELLS; y += 1) {
        for (let x = 0; x < CELLS; x += 1) {
          grid[(row * CELLS + y) * columns * CELLS + column * CELLS + x] = values[(y * EVERY + EVERY / 2) * SIDE + x * EVERY + EVERY / 2]!;
        }
      }
    }),
  );
  return grid;
}
