// The series of a station: which one stands for a variable, and its readings.
import { askJson, observations, Refusal } from "../api/client";
import type { ObservationSeries, SeriesType } from "../api/types";
import { iso } from "../domain/time";

const PRECEDENCE = ["Instantaneous", "Average", "Median", "Max", "Min", "Cumulative", "Unknown"];

/** The series of a variable that is the most instantaneous and reported rather than calculated. */
export function mainSeries(types: readonly SeriesType[], name: string): SeriesType | undefined {
  const rank = (one: SeriesType) => [
    one.intervalType === "Instantaneous" ? 0 : 1,
    one.intervalMinutes,
    PRECEDENCE.indexOf(one.intervalType),
    one.calculated ? 1 : 0,
    one.id,
  ];
  const isBefore = (a: SeriesType, b: SeriesType) => {
    const [left, right] = [rank(a), rank(b)];
    const at = left.findIndex((value, place) => value !== right[place]);
    return at >= 0 && left[at]! < right[at]!;
  };
  const all = types.filter((one) => one.name === name && one.groupBucketName === "");
  return all.reduce<SeriesType | undefined>((best, one) => (!best || isBefore(one, best) ? one : best), undefined);
}

export interface Sequence {
  readonly type: SeriesType;
  readonly unit: string;
  /** Seconds since 1970, ascending. */
  readonly times_s: readonly number[];
  readonly values: readonly number[];
  readonly series: ObservationSeries["readings"];
}

/** The readings of a series; empty if it has none in the span. */
export async function readSeries(stationId: string, type: SeriesType, start_ms: number, end_ms: number, signal: AbortSignal): Promise<Sequence> {
  const query = new URLSearchParams({ start: iso(start_ms), end: iso(end_ms) });
  const { name, intervalType, intervalMinutes, calculated } = type;
  try {
    const body = { stationId, name, intervalType, intervalMinutes, calculated };
    const { readings, reportedUnit } = await askJson<ObservationSeries>(observations(`/observations/series?${query}`), { signal, body });
    const series = readings.filter((one) => (one.groupBucketName ?? "") === "");
    return {
      type,
      unit: reportedUnit,
      times_s: series.map(({ timestamp }) => Date.parse(timestamp) / 1000),
      values: series.map(({ value }) => value),
      series,
    };
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return { type, unit: type.reportedUnit, times_s: [], values: [], series: [] };
    throw error;
  }
}

/** The median time between two readings, s. */
export function usualInterval(times_s: readonly number[]): number {
  const gaps = times_s.slice(1).map((time, at) => time - times_s[at]!);
  gaps.sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length / 2)] ?? 3600;
}
