// Times in the zone that is chosen: UTC, that of the station that is open, or that of the reader.
import { computed, signal } from "@preact/signals";

import { longTime, shortTime, zoneName } from "../domain/time";
import { type Clock, clock, locale, station } from "../view";

/** The zone of a station, once its panel has it. */
export const zoneOfStation = signal<{ readonly id: string; readonly zone: string } | undefined>(undefined);

const mine = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** The zone of a clock; undefined while no station is open that has one. */
export function zoneOf(one: Clock): string | undefined {
  if (one === "utc") return "UTC";
  if (one === "mine") return mine();
  const known = zoneOfStation.value;
  return known && known.id === station.value ? known.zone : undefined;
}

/** The zone in which times are shown; UTC where no station is open. */
export const zone = computed(() => zoneOf(clock.value) ?? "UTC");

export const long = (ms: number): string => longTime(ms, locale.value, zone.value);
export const short = (ms: number): string => shortTime(ms, locale.value, zone.value);

/** A time on the other clocks. */
export function elsewhere(ms: number): string {
  const others = new Set(["UTC", zoneOf("station"), mine()].filter((one) => one !== undefined && one !== zone.value));
  return [...others].map((one) => shortTime(ms, locale.value, one)).join(" · ");
}

/** The name of the zone of a clock at a time. */
export function nameOf(one: Clock, ms: number): string {
  const found = zoneOf(one);
  return found === undefined ? "" : zoneName(ms, locale.value, found);
}
