// Models, their products and tiles: what there is, with which colours, and the values under the pointer.
import { computed, signal } from "@preact/signals";

import { askBytes, askJson, modelService } from "../api/client";
import type { ModelCoverage, ModelProduct } from "../api/types";
import type { Scale } from "../domain/colour";
import { fittedScale, plainScale, scales } from "../domain/colour";
import { core } from "../domain/core";
import { HOUR_MS, runStart_ms } from "../domain/time";
import { hour, isFitted, level_hpa, model, product } from "../view";
import type { PaintedTile } from "../worker";
import { inWorker } from "../worker_pool";

export const models = signal<Readonly<Record<string, ModelCoverage>> | undefined>(undefined);
const listed = signal<{ model: string; products: readonly ModelProduct[] }>({ model: "", products: [] });
/** The products of the model that is chosen, once they have come. */
export const products = computed(() => (listed.value.model === model.value ? listed.value.products : []));

export const coverage = computed(() => models.value?.[model.value]);
export const field = computed(() => products.value.find(({ name }) => name === product.value));

/** The zoom from which tiles only repeat what the cells of the grid have. */
export const nativeZoom = computed(() => {
  const of = coverage.value;
  if (!of) return 0;
  const { minLat, maxLat, minLon, maxLon } = of.bounds;
  const width = (((maxLon - minLon) % 360) + 360) % 360 || 360;
  const cell = Math.min(width / of.nx, (maxLat - minLat) / of.ny);
  return Math.min(Math.max(Math.ceil(Math.log2((360 * PIXELS_PER_CELL) / (256 * cell))), 1), 9);
});
const PIXELS_PER_CELL = 8;

/** The times that the run of the model is for. */
export const times_ms = computed<readonly number[]>(() => {
  const of = coverage.value;
  return of ? of.forecast_hour_axis.map((hours) => runStart_ms(of.latest_run) + hours * HOUR_MS) : [];
});

export async function loadModels(): Promise<void> {
  const { models: all } = await askJson<{ models: Record<string, ModelCoverage> }>(modelService("models/coverage"));
  models.value = all;
  if (!all[model.value]) model.value = Object.keys(all)[0] ?? "";
}

export async function loadProducts(): Promise<void> {
  if (!model.value) return;
  const of = model.value;
  const { products: all } = await askJson<{ products: ModelProduct[] }>(modelService(`models/${of}/products`));
  if (of !== model.value) return;
  listed.value = { model: of, products: all };
  if (!all.some(({ name }) => name === product.value)) {
    product.value = (all.find(({ name }) => name === "temperature_2m") ?? all[0])?.name ?? "";
  }
}

/** In which unit and colours a field is painted. */
export interface Paint {
  readonly scale: Scale;
  /** The unit of the scale. */
  readonly unit: string;
}

const METRIC: Readonly<Record<string, string>> = { K: "°C", "m/s": "km/h", Pa: "hPa", "kg/m²": "mm" };
/** Fields of K or Pa that are differences or not of weather people. */
const AS_THEY_ARE = /^(lifted_index|vertical_velocity)/;

const ranges = signal<ReadonlyMap<string, Scale>>(new Map());

export const paintUnit = (of: ModelProduct): string => (AS_THEY_ARE.test(of.name) ? of.unit : (METRIC[of.unit] ?? of.unit));

/** The level of a product: the one chosen, else that nearest to 500 hPa. */
export function levelOf(of: ModelProduct): number | undefined {
  const levels = of.levels_hpa;
  if (!levels) return undefined;
  const wanted = level_hpa.value ?? 500;
  return levels.reduce((best, one) => (Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best));
}

const keyOf = (of: ModelProduct) => `${model.value} ${of.name} ${levelOf(of) ?? ""}`;

/** The scale of a field: a fixed one where it has one and is not to be fitted, else the range of its values. */
export function paintOf(of: ModelProduct): Paint | undefined {
  const unit = paintUnit(of);
  const fixed = fixedScale(of.name, unit);
  const scale = fixed && !isFitted.value ? fixed : ranges.value.get(keyOf(of));
  return scale && { scale, unit };
}

function fixedScale(name: string, unit: string): Scale | undefined {
  if (/^temperature/.test(name)) return (level_hpa.value ?? 1000) < 400 && name === "temperature" ? { ...scales.temperature, from: -80, to: 40 } : scales.temperature;
  if (/^dew_?point/.test(name)) return scales.dewPoint;
  if (/humidity/.test(name)) return scales.humidity;
  if (/gust|wind_speed/.test(name)) return scales.wind;
  if (/^[uv]_wind/.test(name)) return { ...scales.temperature, from: -120, to: 120 };
  if (/pressure_msl/.test(name)) return scales.pressure;
  if (/^precipitation/.test(name)) return scales.rain;
  if (/precipitable/.test(name)) return { ...scales.humidity, from: 0, to: 60 };
  if (/^cape/.test(name)) return scales.energy;
  if (/categorical/.test(name)) return { ...scales.rain, from: 0, to: 1.2 };
  if (/helicity/.test(name)) return { ...scales.energy, from: 0, to: 500 };
  if (unit === "dBZ") return scales.radar;
  return undefined;
}

/** Finds the range of a field without a scale of its own, or whose scale is to be fitted, from the tile of the whole world. */
export async function findRange(of: ModelProduct): Promise<void> {
  if (paintOf(of)) return;
  const { values } = await tile(of, 0, 0, 0, plainScale(0, 1));
  const known = [...values].filter((value) => !Number.isNaN(value));
  const [low, high] = [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), -Infinity)];
  const fixed = fixedScale(of.name, paintUnit(of));
  const scale = fixed ? fittedScale(fixed, known) : known.length > 0 ? plainScale(low, high) : plainScale(0, 1);
  ranges.value = new Map(ranges.value).set(keyOf(of), scale);
}

const KEPT = 600;
const kept = new Map<string, Promise<PaintedTile>>();

/** A tile of a field at an hour, decoded and coloured; those asked for last are kept. */
export function tile(of: ModelProduct, z: number, x: number, y: number, colours: Scale, at = hour.value): Promise<PaintedTile> {
  const level = levelOf(of);
  const run = coverage.value?.latest_run ?? "latest";
  const query = new URLSearchParams({ run, hour: String(at), ...(level !== undefined && { level_hpa: String(level) }) });
  const address = modelService(`models/${model.value}/products/${of.name}/data/${z}/${x}/${y}?${query}`);
  const key = `${address} ${colours.from} ${colours.to}`;
  const known = kept.get(key);
  if (known) return known;
  const unit = paintUnit(of);
  const convert = (value: number) => core().convert(value, of.unit, unit, { liquidWater: true });
  const shift = unit === of.unit ? 0 : convert(0);
  const factor = unit === of.unit ? 1 : convert(1) - shift;
  const made = askBytes(address, { accept: "application/octet-stream", isTile: true }).then((body) =>
    inWorker({ kind: "tile", body, encoding: of.encoding, colours, factor, shift }),
  );
  made.catch(() => kept.delete(key));
  kept.set(key, made);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
  return made;
}
