// Answers of the readings endpoint as columns: position by position, station by station.
import type { BaseQuality, Readings } from "../api/types";
import { QUALITIES } from "../domain/quality";
import { MINUTE_MS } from "../domain/time";

/** Readings on a grid of time: `values[(name * positions + position) * stations + station]`. */
export interface Columns {
  readonly ids: readonly string[];
  readonly names: readonly string[];
  /** Times of the positions, milliseconds since 1970. */
  readonly times_ms: readonly number[];
  /** In the canonical unit; NaN where there is none. */
  readonly values: Float32Array<ArrayBuffer>;
  /** Seconds between the position and the reading. */
  readonly ages: Int32Array<ArrayBuffer>;
  /** Codes of the verdicts, the worst 0. */
  readonly qualities: Uint8Array<ArrayBuffer>;
  /** Minutes between positions, as the server had it. */
  readonly step_min: number;
}

/** Takes an answer with a step apart. */
export function gridColumns(task: { body: ArrayBuffer; names: readonly string[]; start_ms: number; end_ms: number }): Columns {
  const { stations, step } = JSON.parse(new TextDecoder().decode(task.body)) as Readings;
  const step_min = step ?? 1;
  const step_ms = step_min * MINUTE_MS;
  const times_ms: number[] = [];
  for (let at = task.start_ms; at <= task.end_ms; at += step_ms) times_ms.push(at);
  if (times_ms.at(-1) !== task.end_ms) times_ms.push(task.end_ms);
  const ids = Object.keys(stations);
  const cells = task.names.length * times_ms.length * ids.length;
  const values = new Float32Array(cells).fill(Number.NaN);
  const ages = new Int32Array(cells);
  const qualities = new Uint8Array(cells);
  const nameAt = new Map(task.names.map((name, at) => [name, at]));
  const code = new Map(QUALITIES.map((quality, at) => [quality, at]));
  ids.forEach((id, column) => {
    for (const reading of stations[id]!.readings) {
      const name = nameAt.get(reading.type);
      if (name === undefined) continue;
      const time = Date.parse(reading.timestamp) + (reading.age ?? 0) * 1000;
      const position = time >= task.end_ms ? times_ms.length - 1 : Math.round((time - task.start_ms) / step_ms);
      const cell = (name * times_ms.length + position) * ids.length + column;
      values[cell] = reading.value;
      ages[cell] = reading.age ?? 0;
      qualities[cell] = code.get(reading.quality.baseQuality) ?? QUALITIES.length - 1;
    }
  });
  return { ids, names: task.names, times_ms, values, ages, qualities, step_min };
}

/** A station with its latest values, as the service gives it in GeoJSON. */
export type Feature = GeoJSON.Feature<GeoJSON.Point, { readonly network: string; readonly name: string; readonly time: string; readonly quality: BaseQuality } & Readonly<Record<string, unknown>>>;

/** Takes the first picture apart: one time, and for each station the worst verdict on its values. */
export function pictureColumns(features: readonly Feature[], names: readonly string[], end_ms: number): Columns {
  const count = features.length;
  const values = new Float32Array(names.length * count).fill(Number.NaN);
  const ages = new Int32Array(names.length * count);
  const qualities = new Uint8Array(names.length * count);
  features.forEach(({ properties }, column) => {
    const age_s = Math.max((end_ms - Date.parse(properties.time)) / 1000, 0);
    names.forEach((name, row) => {
      const value = properties[name];
      const cell = row * count + column;
      if (typeof value === "number") values[cell] = value;
      ages[cell] = age_s;
      qualities[cell] = QUALITIES.indexOf(properties.quality);
    });
  });
  return { ids: features.map(({ id }) => String(id)), names, times_ms: [end_ms], values, ages, qualities, step_min: 0 };
}

/** How the readings of the network were judged. */
export interface Verdicts {
  readonly byVariable: readonly { readonly name: string; readonly counts: readonly number[] }[];
  readonly byReason: readonly { readonly reason: string; readonly quality: BaseQuality; readonly name: string; readonly count: number }[];
  /** Stations with readings that are worse than Good: those with the worst first, of these those with the most. */
  readonly worst: readonly WorstStation[];
}

export interface WorstStation {
  readonly id: string;
  /** The worst first. */
  readonly readings: readonly BadReading[];
}

export interface BadReading {
  readonly name: string;
  readonly value: number;
  readonly quality: BaseQuality;
  readonly reason: string;
  readonly typeId: number;
  readonly timestamp: string;
}

/** Counts the verdicts of a snapshot. */
export function verdictCounts(body: ArrayBuffer): Verdicts {
  const { stations } = JSON.parse(new TextDecoder().decode(body)) as Readings;
  const byVariable = new Map<string, number[]>();
  const byReason = new Map<string, { reason: string; quality: BaseQuality; name: string; count: number }>();
  const worst: WorstStation[] = [];
  const code = ({ quality }: BadReading) => QUALITIES.indexOf(quality);
  for (const [id, { readings }] of Object.entries(stations)) {
    const bad: BadReading[] = [];
    for (const { type, quality, value, typeId, timestamp } of readings) {
      const counts = byVariable.get(type) ?? QUALITIES.map(() => 0);
      byVariable.set(type, counts);
      const at = QUALITIES.indexOf(quality.baseQuality);
      counts[at] = (counts[at] ?? 0) + 1;
      if (at >= QUALITIES.indexOf("Good")) continue;
      const key = `${type} ${quality.baseQuality} ${quality.reasonQuality}`;
      const known = byReason.get(key) ?? { reason: quality.reasonQuality, quality: quality.baseQuality, name: type, count: 0 };
      known.count += 1;
      byReason.set(key, known);
      bad.push({ name: type, value, quality: quality.baseQuality, reason: quality.reasonQuality, typeId, timestamp });
    }
    if (bad.length > 0) worst.push({ id, readings: bad.sort((a, b) => code(a) - code(b)) });
  }
  worst.sort((a, b) => code(a.readings[0]!) - code(b.readings[0]!) || b.readings.length - a.readings.length);
  return {
    byVariable: [...byVariable].map(([name, counts]) => ({ name, counts })).sort((a, b) => a.name.localeCompare(b.name)),
    byReason: [...byReason.values()].sort((a, b) => b.count - a.count),
    worst,
  };
}
