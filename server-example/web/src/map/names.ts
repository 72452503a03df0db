// Names of provinces, states and towns: quiet, below all that is drawn, and where there is room beside the numbers.
import { computed, effect } from "@preact/signals";

import { worldX, worldY } from "../domain/mercator";
import { regionName } from "../domain/regions";
import { largeTowns, loadLargeTowns, loadTowns, regions, towns } from "../domain/towns";
import { camera, language, layer } from "../view";
import { type Frame, firstX, type Taken } from "./overlay";
import type { Ink } from "./marks";

interface Label {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** The zooms at which it may stand. */
  readonly from: number;
  readonly until: number;
  readonly isRegion: boolean;
}

/** From this zoom on towns are named that are not in the first file. */
const ALL_ZOOM = 7;
/** So many names at most: more would be no map of the weather. */
const MOST = 70;
const PATIENCE_MS = 400;
/** The part of a name that dots may hide: less of a town, which may be named beside its place. */
const MOST_DOTS = { region: 0.12, town: 0.05 };
/** Where a name may stand, from its place: in half widths and in lines. */
const HERE = [[0, 0]] as const;
const BESIDE = [[0, 0], [0, -1], [0, 1], [1, 0], [-1, 0]] as const;
const ASKEW = [[1, -1], [1, 1], [-1, 1], [-1, -1]] as const;
/** Towns that are named from this zoom on may stand askew from their place. */
const LARGE = 5;
const REGION = "500 12px system-ui, sans-serif";
const TOWN = "11.5px system-ui, sans-serif";

/** Provinces and states, then towns, the largest first. Each step of the zoom names towns of a third of the size. */
export const labels = computed<readonly Label[]>(() => {
  const all = towns.value.length > 0 ? towns.value : largeTowns.value;
  const places = all.map(({ name, lon, lat, size }): Label => {
    const population = 2 ** (size / 2);
    const from = Math.max(3, 4 + Math.log(1_400_000 / population) / Math.log(3));
    return { text: name, x: worldX(lon), y: worldY(lat), from, until: 99, isRegion: false };
  });
  places.sort((a, b) => a.from - b.from || (a.text < b.text ? -1 : 1));
  const areas = regions.value.map(({ country, code, lon, lat }): Label => {
    // Small states have no room for their name from afar.
    const isSmall = country === "US" && /^(CT|DC|DE|HI|MA|MD|NH|NJ|RI|VT)$/.test(code);
    return { text: regionName(country, code, language.value), x: worldX(lon), y: worldY(lat), from: isSmall ? 6 : country === "CA" ? 3 : 4, until: 7, isRegion: true };
  });
  return [...areas, ...places];
});

const widths = new Map<string, number>();

/** Draws names below what is drawn already, and not on what is taken. */
export function drawNames(context: CanvasRenderingContext2D, frame: Frame, taken: Taken, ink: Ink): void {
  const { scale, top, width, height, zoom } = frame;
  // A field has its own colours, light and dark alike.
  const isOver = layer.peek() === "models";
  context.save();
  context.globalCompositeOperation = "destination-over";
  context.textBaseline = "middle";
  context.textAlign = "center";
  context.lineJoin = "round";
  context.lineWidth = 3;
  context.strokeStyle = isOver ? "rgba(255,255,255,.75)" : ink.halo;
  context.fillStyle = isOver ? "#2a3036" : ink.soft;
  let count = 0;
  let font = "";
  for (const { text, x, y, from, until, isRegion } of labels.value) {
    if (zoom < from || zoom > until) {
      // Towns come by size: those that follow are smaller.
      if (!isRegion) break;
      continue;
    }
    const py = y * scale - top;
    if (py < -10 || py > height + 10) continue;
    const wanted = isRegion ? REGION : TOWN;
    if (font !== wanted) context.font = font = wanted;
    const key = `${isRegion} ${text}`;
    let wide = widths.get(key);
    if (wide === undefined) widths.set(key, (wide = context.measureText(text).width));
    for (let px = firstX(frame, x, wide / 2); px <= width + wide / 2; px += scale) {
      for (const [across, down] of isRegion ? HERE : from < LARGE ? [...BESIDE, ...ASKEW] : BESIDE) {
        const [nx, ny] = [px + across * (wide / 2 + 7), py + down * 14];
        if (taken.density(nx, ny, wide / 2, 5) > (isRegion ? MOST_DOTS.region : MOST_DOTS.town) || !taken.claim(nx, ny, wide / 2 + 4, 8)) continue;
        // What comes later lies below: the letters first, then what lifts them from the map.
        context.fillText(text, nx, ny);
        context.strokeText(text, nx, ny);
        // What stands beside its place has a point there.
        if (across !== 0 || down !== 0) context.fillRect(px - 1.25, py - 1.25, 2.5, 2.5);
        count += 1;
        break;
      }
    }
    if (count >= MOST) break;
  }
  context.restore();
}

/** Loads the names after what is asked for first, and those of all towns when the map is near enough. */
export function loadNames(): void {
  setTimeout(() => void loadLargeTowns(), PATIENCE_MS);
  effect(() => {
    if (camera.value.zoom >= ALL_ZOOM) setTimeout(() => void loadTowns(), PATIENCE_MS);
  });
}
