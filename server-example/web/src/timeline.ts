// The times that the slider goes along: those of the layer that is shown.
import { computed, type ReadonlySignal, signal } from "@preact/signals";

import { type Layer, layer } from "./view";

export interface Timeline {
  /** Ascending, milliseconds since 1970. */
  readonly times_ms: readonly number[];
  /** Which of them is shown, and when that is. */
  readonly at: number;
  readonly shown_ms: number;
  readonly go: (at: number) => void;
  /** Whether a time would be drawn at once; what is not is on its way. */
  readonly isReady?: (at: number) => boolean;
}

const all = signal<ReadonlyMap<Layer, ReadonlySignal<Timeline | undefined>>>(new Map());

/** Says what the times of a layer are. */
export function setTimeline(of: Layer, times: ReadonlySignal<Timeline | undefined>): void {
  all.value = new Map(all.peek()).set(of, times);
}

/** Those of the layer that is shown; undefined if it has none, or not yet. */
export const timeline = computed(() => all.value.get(layer.value)?.value);

/** Moves the time by steps, round the ends. */
export function moveTime(by: number): void {
  const of = timeline.peek();
  if (!of || of.times_ms.length < 2) return;
  const count = of.times_ms.length;
  const next = of.at + by;
  of.go(next >= count ? 0 : next < 0 ? count - 1 : next);
}
