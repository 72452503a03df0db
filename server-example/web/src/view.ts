// What is shown: every part of it is in the address, so that a view can be shared.
import { batch, computed, effect, signal } from "@preact/signals";

import { wrapLon } from "./domain/mercator";
import { mapVariable, type System } from "./domain/variables";
import { CAMERA, VARIABLE } from "./first";

export type Layer = "stations" | "quality" | "alerts" | "models" | "products";
export const LAYERS: readonly Layer[] = ["stations", "quality", "alerts", "models", "products"];
export type Theme = "light" | "dark";
const THEMES: readonly Theme[] = ["light", "dark"];

export const layer = signal<Layer>("stations");
export const variable = signal(VARIABLE);
/** The time shown, milliseconds since 1970; undefined is the server's now. */
export const at_ms = signal<number | undefined>(undefined);
/** Minutes between two positions of the slider. */
export const step_min = signal(30);
export const station = signal<string | undefined>(undefined);
export const alert = signal<string | undefined>(undefined);
/** The code of a zone whose alerts are shown. */
export const area = signal<string | undefined>(undefined);
/** Whether the stations on the map are listed in a table. */
export const isTableOpen = signal(false);
/** Whether the panel of the quality layer is that of the feeds. */
export const isFeedsOpen = signal(false);
/** Which alerts are shown, each empty where all are. */
export const alertFilters = signal({ hazard: "", severity: "", office: "", region: "" });
/** The clicked place of the models layer. */
export const place = signal<{ lat: number; lon: number } | undefined>(undefined);
export const model = signal("");
export const product = signal("");
export const level_hpa = signal<number | undefined>(undefined);
export const hour = signal(0);
/** The raster product and its time, as the catalogue names its files; empty is the first. */
export const productFile = signal("");
/** Whether the page stands in another one: the map and its legend alone. */
export const isEmbedded = signal(false);
export const camera = signal(CAMERA);
/** Whether the map is where it should be for what is opened: the address said so, or it has gone there. */
export const isPlaced = signal(false);
export const alertsOver = signal(false);
/** Whether colours are fitted to the values that are there. */
export const isFitted = signal(false);
/** Of what lines of equal value are drawn over a field of a model. */
export type Lines = "" | "pressure" | "field";
export const LINES: readonly Lines[] = ["", "pressure", "field"];
export const lines = signal<Lines>("");
/** Whether stations are plotted as models where the map is near enough. */
export const stationModels = signal(true);

const stored = (key: string): string | undefined => {
  try {
    return localStorage.getItem(`mesonet.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
};
function store(key: string, text: string): void {
  try {
    localStorage.setItem(`mesonet.${key}`, text);
  } catch {
    // A browser that keeps nothing.
  }
}
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

/** In which zone times are shown: UTC, that of the station that is open, that of the reader. */
export type Clock = "utc" | "station" | "mine";
export const CLOCKS: readonly Clock[] = ["utc", "station", "mine"];
const clockNamed = (name: string | null | undefined) => CLOCKS.find((one) => one === name);

/** The languages of the page. */
export type Language = "en" | "fr";

// An address may say how it is read, which holds for the visit. Only what is chosen in the page is stored.
export const system = signal<System>(stored("units") === "us" ? "us" : "metric");
export const language = signal<Language>((stored("language") ?? navigator.language).startsWith("fr") ? "fr" : "en");
export const theme = signal<Theme>(THEMES.find((one) => one === stored("theme")) ?? (isDark() ? "dark" : "light"));
export const clock = signal<Clock>(clockNamed(stored("clock")) ?? "utc");
export const locale = computed(() => (language.value === "fr" ? "fr-CA" : "en-CA"));

export function chooseSystem(next: System): void {
  system.value = next;
  store("units", next);
}
export function chooseLanguage(next: Language): void {
  language.value = next;
  store("language", next);
}
export function chooseClock(next: Clock): void {
  clock.value = next;
  store("clock", next);
}
export function chooseTheme(next: Theme): void {
  theme.value = next;
  store("theme", next);
}

/** Opens an alert, to which the map goes. */
export function openAlert(id: string): void {
  station.value = area.value = undefined;
  isPlaced.value = false;
  alert.value = id;
}

/** Whether the panel beside the map is open. */
export const isPanelOpen = computed(() => {
  if (isEmbedded.value) return false;
  if (layer.value === "alerts") return alert.value !== undefined || area.value !== undefined || station.value !== undefined;
  if (layer.value === "models") return place.value !== undefined || station.value !== undefined;
  if (layer.value === "quality") return true;
  return station.value !== undefined || (layer.value === "stations" && isTableOpen.value);
});

export function closePanel(): void {
  if (layer.value === "alerts" && station.value === undefined && area.value !== undefined && alert.value !== undefined) {
    // The area was reached from an alert: back to it.
    area.value = undefined;
    return;
  }
  // A station that was opened from the table or beside the feeds: back to them.
  if (station.value === undefined || layer.value !== "quality") isFeedsOpen.value = false;
  if (station.value === undefined || layer.value !== "stations") isTableOpen.value = false;
  station.value = undefined;
  alert.value = undefined;
  area.value = undefined;
  place.value = undefined;
}

const round = (value: number, places: number) => Number(value.toFixed(places));

/** The address of what is shown; without what makes it a part of another page, if the whole is meant. */
export function written(isWhole = false): string {
  const all = new URLSearchParams();
  if (isEmbedded.value && !isWhole) all.set("embed", "map");
  const { lat, lon, zoom } = camera.value;
  all.set("layer", layer.value);
  if (layer.value === "stations") all.set("variable", variable.value);
  all.set("map", `${round(lat, 3)},${round(lon, 3)},${zoom}`);
  if (at_ms.value !== undefined) all.set("time", new Date(at_ms.value).toISOString().slice(0, 16) + "Z");
  if (step_min.value !== 30) all.set("step", String(step_min.value));
  if (station.value) all.set("station", station.value);
  if (alert.value) all.set("alert", alert.value);
  if (layer.value === "alerts" && area.value) all.set("area", area.value);
  if (layer.value === "alerts") for (const [name, text] of Object.entries(alertFilters.value)) if (text !== "") all.set(name, text);
  if (layer.value === "stations" && isTableOpen.value) all.set("table", "open");
  if (layer.value === "quality" && isFeedsOpen.value) all.set("feeds", "open");
  if (alertsOver.value) all.set("alerts", "over");
  if (layer.value === "stations" && !stationModels.value) all.set("plots", "values");
  if ((layer.value === "stations" || layer.value === "models") && isFitted.value) all.set("scale", "fitted");
  if (layer.value === "models") {
    if (lines.value !== "") all.set("lines", lines.value);
    if (model.value) all.set("model", model.value);
    if (product.value) all.set("product", product.value);
    if (level_hpa.value !== undefined) all.set("level", String(level_hpa.value));
    if (hour.value) all.set("hour", String(hour.value));
    if (place.value) all.set("place", `${round(place.value.lat, 3)},${round(place.value.lon, 3)}`);
  }
  if (layer.value === "products" && productFile.value) all.set("file", productFile.value);
  all.set("units", system.value);
  all.set("lang", language.value);
  if (clock.value !== "utc") all.set("clock", clock.value);
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

/** Reads an address; how it is to be read only where it is not one of this visit. */
function read(hash: string, isOwn = false): void {
  const text = hash.replace(/^#/, "");
  // A name alone is that of a station: #CYYZ.
  const all = new URLSearchParams(text === "" || text === "embed" || text.includes("=") ? text : { station: decoded(text) });
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
  const filter = (name: string) => all.get(name) ?? "";
  alertFilters.value = { hazard: filter("hazard"), severity: filter("severity"), office: filter("office"), region: filter("region") };
  alertsOver.value = all.get("alerts") === "over";
  isTableOpen.value = all.get("table") === "open";
  isEmbedded.value = all.has("embed");
  isFitted.value = all.get("scale") === "fitted";
  lines.value = LINES.find((one) => one === all.get("lines")) ?? "";
  isFeedsOpen.value = all.get("feeds") === "open";
  stationModels.value = all.get("plots") !== "values";
  model.value = all.get("model") ?? model.value;
  product.value = all.get("product") ?? product.value;
  level_hpa.value = count("level");
  hour.value = count("hour") ?? 0;
  productFile.value = all.get("file") ?? "";
  const [lat, lon] = numbers("place");
  place.value = all.has("place") && Math.abs(lat!) <= 90 && Number.isFinite(lon) ? { lat: lat!, lon: wrapLon(lon!) } : undefined;
  isPlaced.value = all.has("map");
  const [mapLat, mapLon, zoom] = numbers("map");
  if (all.has("map") && [mapLat, mapLon, zoom].every(Number.isFinite))
    camera.value = { lat: mapLat!, lon: wrapLon(mapLon!), zoom: zoom! };
  lastStep = step();
  if (isOwn) return;
  const units = all.get("units");
  if (units === "us" || units === "metric") system.value = units;
  const lang = all.get("lang");
  if (lang === "fr" || lang === "en") language.value = lang;
  clock.value = clockNamed(all.get("clock")) ?? clock.value;
}

/** What a user has gone to: another one is a step of the browser's history; the map, the time and the rest are not. */
const step = () => JSON.stringify([layer.value, station.value, alert.value, area.value, place.value, isTableOpen.value, isFeedsOpen.value]);
let lastStep = "";
let isStep = false;
let isWriting = false;

/** Makes what is shown next a step of the history, such as another place on the map. */
export function markStep(): void {
  isStep = true;
  writeSoon();
}

/** Puts the id of a station in the place of its name, which is no step. */
export function nameStation(id: string): void {
  station.value = id;
  lastStep = step();
}

/** Reads the address, and keeps it up to date. */
export function keepAddress(): void {
  read(location.hash);
  history.replaceState(OWN, "");
  let last = "";
  const again = () => {
    last = location.hash;
    batch(() => read(last, history.state === OWN));
    history.replaceState(OWN, "");
  };
  addEventListener("popstate", again);
  // Where an address that is edited is no step for a browser. What was read already may be written in full by now.
  addEventListener("hashchange", ({ newURL }) => {
    if (new URL(newURL).hash !== last) again();
  });
  effect(() => {
    void written();
    writeSoon();
  });
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    document.documentElement.lang = language.value;
  });
}

/** Writes the address after what is under way: a click that opens a station and moves the map is one step. */
function writeSoon(): void {
  if (!isWriting) queueMicrotask(write);
  isWriting = true;
}

function write(): void {
  isWriting = false;
  const [hash, now] = [written(), step()];
  const isNext = isStep || now !== lastStep;
  [isStep, lastStep] = [false, now];
  if (hash === location.hash) return;
  if (isNext) history.pushState(OWN, "", hash);
  else history.replaceState(OWN, "", hash);
}

/** The state of the entries of the history that the page has made. */
const OWN = "explorer";
