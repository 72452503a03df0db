// The stations: where they are, what they are called, and what they report at the times of the slider.
import { computed, effect, signal, untracked } from "@preact/signals";

import { askBytes, askJson, isOffline, now_ms, observations } from "../api/client";
import { JUDGED, LOOKBACK_MS, namesOf, type Picture, pictureQuery } from "../first";
import { hadPicture, untilRestIsDue } from "../order";
import { setTimeline } from "../timeline";
import type { StationDetail } from "../api/types";
import { HOUR_MS, iso, MINUTE_MS } from "../domain/time";
import { at_ms, camera, layer, step_min, variable } from "../view";
import { inWorker } from "../worker_pool";
import { word } from "../ui/words";
import { type Columns, type Feature, pictureColumns } from "./columns";

/** How far the slider reaches back. */
export const REACH_MS = 6 * HOUR_MS;

export interface Place {
  readonly lon: number;
  readonly lat: number;
}

/** The places of all stations by id. */
export const places = signal<ReadonlyMap<string, Place>>(new Map());
/** What the page shows of all stations; the rest of a station is asked for when it is opened. */
const FIELDS = ["network", "name", "presentWeather", "updateTime", "identifiers", "typeCount"] as const;
export type Detail = Pick<StationDetail, "network" | "name"> & Partial<Pick<StationDetail, (typeof FIELDS)[number]>>;

/** Their details by id, once they have come; of those in the first picture only network and name before that. */
export const details = signal<ReadonlyMap<string, Detail>>(new Map());
/** The readings that the map shows: at first of one time and of what is seen, then of all times of the slider and all stations. */
export const columns = signal<Columns | undefined>(undefined);
/** Whether they are those of all stations. */
export const isWhole = signal(false);
/** When they came, by the clock of this machine. */
export const loadedAt_ms = signal(0);
/** Why they could not be had, in the words of the server. */
export const trouble = signal<string | undefined>(undefined);
/** The end of the slider. */
export const end_ms = signal(0);

/** The times of the slider, whether their readings have come or not. */
export const positions_ms = computed<readonly number[]>(() => {
  const all: number[] = [];
  const step_ms = step_min.value * MINUTE_MS;
  for (let at = end_ms.value - REACH_MS; at <= end_ms.value; at += step_ms) all.push(at);
  return all;
});

/** The time that is shown. */
export const shown_ms = computed(() => at_ms.value ?? end_ms.value);

/** Which column of times the map shows: the one at or before the time shown. */
export const position = computed(() => {
  const times = columns.value?.times_ms ?? [];
  const found = times.findLastIndex((time) => time <= shown_ms.value + 1_000);
  return Math.max(found, 0);
});

export async function loadPlaces(): Promise<void> {
  const { features } = await askJson<GeoJSON.FeatureCollection<GeoJSON.Point>>(observations("/stations/map/markers"));
  places.value = new Map(
    features.map(({ id, geometry }) => [String(id), { lon: geometry.coordinates[0]!, lat: geometry.coordinates[1]! }]),
  );
}

export async function loadDetails(): Promise<void> {
  const all = await askJson<Record<string, Detail>>(observations(`/stations/map/details?fields=${FIELDS.join(",")}`), { name: word("stations") });
  details.value = new Map(Object.entries(all));
}

let askedTypes: Promise<Readonly<Record<string, Pick<StationDetail, "types">>>> | undefined;

/** The series of all stations: a megabyte, asked for when first needed, and again only after a failure. */
export function typesOfAll(): NonNullable<typeof askedTypes> {
  askedTypes ??= askJson<Record<string, Pick<StationDetail, "types">>>(observations("/stations/map/details?fields=types")).catch((error: unknown) => {
    askedTypes = undefined;
    throw error;
  });
  return askedTypes;
}

/** When the newest report of the network was made. */
export const latestReport_ms = computed<number | undefined>(() => {
  const all = [...details.value.values()].map(({ updateTime }) => Date.parse(updateTime ?? "")).filter((time) => !Number.isNaN(time));
  return all.length > 0 ? all.reduce((a, b) => Math.max(a, b)) : undefined;
});

/** Whether the slider reaches a time. */
const isReached = (time: number): boolean => time >= end_ms.peek() - REACH_MS && time <= end_ms.peek();

let running: AbortController | undefined;
/** What was asked for last: the times of the slider, or one time that it does not reach. */
let askedFor: "slider" | number = "slider";

/** Loads what the layer shows: what is seen at the time shown, then all stations, at all times of the slider if it reaches that time. */
export async function loadReadings(picture?: Picture): Promise<void> {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  end_ms.value ||= Math.floor(now_ms() / MINUTE_MS) * MINUTE_MS;
  const names = layer.value === "quality" ? JUDGED : namesOf(variable.value);
  const now = shown_ms.value;
  askedFor = isReached(now) ? "slider" : now;
  trouble.value = undefined;
  isWhole.value = false;
  try {
    columns.value = await seen(names, now, signal, picture);
    hadPicture.value = true;
    await untilRestIsDue();
    signal.throwIfAborted();
    const [start_ms, until_ms, step] = askedFor === "slider" ? [end_ms.value - REACH_MS, end_ms.value, step_min.value] : [now - LOOKBACK_MS, now, LOOKBACK_MS / MINUTE_MS];
    columns.value = await grid(names, start_ms, until_ms, step, signal);
    isWhole.value = true;
    loadedAt_ms.value = Date.now();
  } catch (error) {
    if (!signal.aborted && !isOffline.value) trouble.value = (error as Error).message;
  } finally {
    if (!signal.aborted) hadPicture.value = true;
  }
}

/** The part of the map that is seen, from what was asked for ahead if that is what is shown. */
async function seen(names: readonly string[], now: number, signal: AbortSignal, ahead?: Picture): Promise<Columns> {
  const isShown = ahead && ahead.names.join() === names.join() && ahead.at_ms === at_ms.value;
  const given = isShown ? await ahead.answer.catch(() => undefined) : undefined;
  const { features } = given?.ok
    ? ((await given.json()) as { features: Feature[] })
    : await askJson<{ features: Feature[] }>(observations(`/stations/readings?${pictureQuery(names, camera.peek(), now)}`), { signal });
  signal.throwIfAborted();
  // All of the network, where it has come, is not replaced by a part of it.
  places.value = new Map([...features.map(({ id, geometry: { coordinates } }) => [String(id), { lon: coordinates[0]!, lat: coordinates[1]! }] as const), ...places.value]);
  details.value = new Map([...features.map(({ id, properties: { network, name } }) => [String(id), { network, name }] as const), ...details.value]);
  return pictureColumns(features, names, now);
}

/** How often there was something new, so that what is shown of a station is asked for again. */
export const refreshes = signal(0);

/** Moves the end of the slider to now, and loads. */
export function refreshReadings(): Promise<void> {
  refreshes.value += 1;
  end_ms.value = Math.floor(now_ms() / MINUTE_MS) * MINUTE_MS;
  return loadReadings();
}

async function grid(names: readonly string[], start_ms: number, until_ms: number, step: number, signal: AbortSignal): Promise<Columns> {
  const query = new URLSearchParams({ names: names.join(","), start: iso(start_ms), end: iso(until_ms), step: String(step) });
  const body = await askBytes(observations(`/stations/readings?${query}`), { signal, name: word("stations") });
  const made = await inWorker({ kind: "grid", body, names, start_ms, end_ms: until_ms });
  signal.throwIfAborted();
  return made;
}

/** What a station shows at the time of the slider. */
export interface Shown {
  readonly value: number;
  readonly age_s: number;
  readonly quality: number;
  readonly direction: number;
}

/** The place of a cell in the columns. */
export function cell(of: Columns, name: number, at: number, station: number): number {
  return (name * of.times_ms.length + at) * of.ids.length + station;
}

// A time in the address that the readings at hand do not reach is asked for by itself, and the slider's times again after it.
effect(() => {
  const at = shown_ms.value;
  if (end_ms.peek() > 0 && (isReached(at) ? "slider" : at) !== askedFor) void untracked(loadReadings);
});

const times = computed(() => ({
  times_ms: positions_ms.value,
  at: Math.max(positions_ms.value.findLastIndex((time) => time <= shown_ms.value + 1_000), 0),
  shown_ms: shown_ms.value,
  go: (at: number) => {
    at_ms.value = at >= positions_ms.value.length - 1 ? undefined : positions_ms.value[at];
  },
  isReady: () => isWhole.value,
}));
setTimeline("stations", times);
setTimeline("quality", times);
