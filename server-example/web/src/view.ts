// What is shown: every part of it is in the address, so that a view can be shared.
import { computed, effect, signal } from "@preact/signals";

import { mapVariable, type System } from "./domain/variables";

export type Layer = "stations" | "quality" | "alerts" | "models" | "products";
export const LAYERS: readonly Layer[] = ["stations", "quality", "alerts", "models", "products"];
export type Theme = "light" | "dark";

export const layer = signal<Layer>("stations");
export const variable = signal("airTemperature");
/** The time shown, milliseconds since 1970; undefined is the server's now. */
export const at_ms = signal<number | undefined>(undefined);
/** Minutes between two positions of the slider. */
export const step_min = signal(30);
export const station = signal<string | undefined>(undefined);
export const alert = signal<string | undefined>(undefined);
/** The code of a zone whose alerts are shown. */
export const area = signal<string | undefined>(undefined);
/** The clicked place of the models layer. */
export const place = signal<{ lat: number; lon: number } | undefined>(undefined);
export const model = signal("");
export const product = signal("");
export const level_hpa = signal<number | undefined>(undefined);
export const hour = signal(0);
/** The raster product and its time, as the catalogue names its files; empty is the first. */
export const productFile = signal("");
export const camera = signal({ lat: 46, lon: -96, zoom: 4 });
/** Whether the address said where the map is. */
export const isPlaced = signal(false);
export const alertsOver = signal(false);

const stored = (key: string): string | undefined => {
  try {
    return localStorage.getItem(`mesonet.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
};
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

export const system = signal<System>(stored("units") === "us" ? "us" : "metric");
/** The languages of the page. */
export type Language = "en" | "fr";

export const language = signal<Language>((stored("language") ?? navigator.language).startsWith("fr") ? "fr" : "en");
export const theme = signal<Theme>((stored("theme") as Theme | undefined) ?? (isDark() ? "dark" : "light"));
export const locale = computed(() => (language.value === "fr" ? "fr-CA" : "en-CA"));

/** Whether the panel beside the map is open. */
export const isPanelOpen = computed(() => {
  if (layer.value === "alerts") return alert.value !== undefined || area.value !== undefined || station.value !== undefined;
  if (layer.value === "models") return place.value !== undefined || station.value !== undefined;
  if (layer.value === "quality") return true;
  return station.value !== undefined;
});

export function closePanel(): void {
  if (layer.value === "alerts" && station.value === undefined && area.value !== undefined && alert.value !== undefined) {
    // The area was reached from an alert: back to it.
    area.value = undefined;
    return;
  }
  station.value = undefined;
  alert.value = undefined;
  area.value = undefined;
  place.value = undefined;
}

const round = (value: number, places: number) => Number(value.toFixed(places));

function written(): string {
  const all = new URLSearchParams();
  const { lat, lon, zoom } = camera.value;
  all.set("layer", layer.value);
  if (layer.value === "stations") all.set("variable", variable.value);
  all.set("map", `${round(lat, 3)},${round(lon, 3)},${zoom}`);
  if (at_ms.value !== undefined) all.set("time", new Date(at_ms.value).toISOString().slice(0, 16) + "Z");
  if (step_min.value !== 30) all.set("step", String(step_min.value));
  if (station.value) all.set("station", station.value);
  if (alert.value) all.set("alert", alert.value);
  if (layer.value === "alerts" && area.value) all.set("area", area.value);
  if (alertsOver.value) all.set("alerts", "over");
  if (layer.value === "models") {
    if (model.value) all.set("model", model.value);
    if (product.value) all.set("product", product.value);
    if (level_hpa.value !== undefined) all.set("level", String(level_hpa.value));
    if (hour.value) all.set("hour", String(hour.value));
    if (place.value) all.set("place", `${round(place.value.lat, 3)},${round(place.value.lon, 3)}`);
  }
  if (layer.value === "products" && productFile.value) all.set("file", productFile.value);
  all.set("units", system.value);
  all.set("lang", language.value);
  return `#${all.toString().replaceAll("%2C", ",").replaceAll("%3A", ":")}`;
}

/** A text of an address; one that is badly encoded stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function read(hash: string): void {
  const text = hash.replace(/^#/, "");
  // A name alone is that of a station: #CYYZ.
  const all = new URLSearchParams(text === "" || text.includes("=") ? text : { station: decoded(text) });
  const count = (key: string) => (/^\d+$/.test(all.get(key) ?? "") ? Number(all.get(key)) : undefined);
  const numbers = (key: string) => (all.get(key) ?? "").split(",").map(Number);
  const named = all.get("layer") as Layer | null;
  if (named && LAYERS.includes(named)) layer.value = named;
  variable.value = mapVariable(all.get("variable") ?? variable.value).name;
  const time = Date.parse(all.get("time") ?? "");
  at_ms.value = Number.isNaN(time) ? undefined : time;
  step_min.value = count("step") || step_min.value;
  station.value = all.get("station") ?? undefined;
  alert.value = all.get("alert") ?? undefined;
  area.value = all.get("area") ?? undefined;
  alertsOver.value = all.get("alerts") === "over";
  model.value = all.get("model") ?? model.value;
  product.value = all.get("product") ?? product.value;
  level_hpa.value = count("level");
  hour.value = count("hour") ?? 0;
  productFile.value = all.get("file") ?? "";
  const [lat, lon] = numbers("place");
  place.value = all.has("place") && Number.isFinite(lat) && Number.isFinite(lon) ? { lat: lat!, lon: lon! } : undefined;
  isPlaced.value = all.has("map");
  const [mapLat, mapLon, zoom] = numbers("map");
  if (all.has("map") && [mapLat, mapLon, zoom].every(Number.isFinite))
    camera.value = { lat: mapLat!, lon: mapLon!, zoom: zoom! };
  const units = all.get("units");
  if (units === "us" || units === "metric") system.value = units;
  const lang = all.get("lang");
  if (lang === "fr" || lang === "en") language.value = lang;
}

/** Reads the address, and keeps it and what is remembered up to date. */
export function keepAddress(): void {
  read(location.hash);
  addEventListener("hashchange", () => read(location.hash));
  effect(() => {
    const hash = written();
    if (hash !== location.hash) history.replaceState(null, "", hash);
  });
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    document.documentElement.lang = language.value;
    try {
      localStorage.setItem("mesonet.units", system.value);
      localStorage.setItem("mesonet.language", language.value);
      localStorage.setItem("mesonet.theme", theme.value);
    } catch {
      // A browser that keeps nothing: the address has it all.
    }
  });
}
