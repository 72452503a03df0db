// What keys do, wherever the focus is but in a field.
import { signal } from "@preact/signals";

import { coverage } from "./models/fields";
import { positions_ms, shown_ms } from "./station/network";
import { at_ms, closePanel, hour, layer, LAYERS } from "./view";

export const isPlaying = signal(false);
export const isHelpOpen = signal(false);

/** Moves the time by positions of the slider, or by hours of a model. */
export function moveTime(by: number): void {
  if (layer.value === "models") {
    const count = coverage.value?.forecast_hour_axis.length ?? 1;
    hour.value = (hour.value + by + count) % count;
    return;
  }
  const times = positions_ms.value;
  const now = times.findLastIndex((time) => time <= shown_ms.value + 1_000);
  const next = now + by;
  const at = next >= times.length ? 0 : next < 0 ? times.length - 1 : next;
  at_ms.value = at === times.length - 1 ? undefined : times[at];
}

export function listenToKeys(): void {
  addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (isHelpOpen.value) isHelpOpen.value = false;
      else if (!isField) closePanel();
      else target.blur();
      return;
    }
    if (isField) return;
    const at = Number(event.key) - 1;
    if (event.key === "/") document.querySelector<HTMLInputElement>("#search")?.focus();
    else if (event.key === "?") isHelpOpen.value = !isHelpOpen.value;
    else if (event.key === " " && !/^(BUTTON|SUMMARY)$/.test(target.tagName)) isPlaying.value = !isPlaying.value;
    else if (event.key === "ArrowLeft" && target.id !== "map") moveTime(-1);
    else if (event.key === "ArrowRight" && target.id !== "map") moveTime(1);
    else if (LAYERS[at]) layer.value = LAYERS[at];
    else return;
    event.preventDefault();
  });
}
