// Playing the times of a layer one after the other, no faster than their pictures come.
import { effect, signal } from "@preact/signals";

import { timeline } from "./timeline";
import { layer } from "./view";

const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;

export const isPlaying = signal(false);
/** Pictures in a second. */
export const SPEEDS: readonly number[] = [1, 2, 4, 8];
// Who wants little motion gets it slowly, and once.
export const speed = signal(isCalm ? 1 : 2);
export const isLooping = signal(!isCalm);
/** So many pictures are made ready ahead. */
export const AHEAD = 4;

/** The times that come next while it plays, as places in the timeline. */
export function comingUp(at: number, count: number): readonly number[] {
  if (!isPlaying.value) return [];
  const all = Array.from({ length: Math.min(AHEAD, count - 1) }, (_, step) => at + 1 + step);
  return isLooping.value ? all.map((one) => one % count) : all.filter((one) => one < count);
}

/** Shows the next time, once it can be; at the end begins again or stops. */
function step(): void {
  const of = timeline.peek();
  const count = of?.times_ms.length ?? 0;
  const next = (of?.at ?? 0) + 1;
  if (!of || count < 2 || (next >= count && !isLooping.peek())) {
    isPlaying.value = false;
    return;
  }
  const at = next % count;
  if (of.isReady?.(at) ?? true) of.go(at);
}

/** Plays from where the time is; at the end, where it would stop at once, from the beginning. */
export function play(): void {
  const of = timeline.peek();
  if (!of || of.times_ms.length < 2) return;
  if (of.at === of.times_ms.length - 1 && !isLooping.peek()) of.go(0);
  isPlaying.value = true;
}

export const toggle = (): void => (isPlaying.peek() ? void (isPlaying.value = false) : play());

/** Moves the time while it plays, and stops when another layer is shown. */
export function listenToPlayback(): void {
  effect(() => {
    if (!isPlaying.value) return undefined;
    const timer = setInterval(step, 1000 / speed.value);
    return () => clearInterval(timer);
  });
  effect(() => {
    void layer.value;
    isPlaying.value = false;
  });
}
