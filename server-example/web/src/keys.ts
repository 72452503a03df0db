// What keys do, wherever the focus is but in a field.
import { signal } from "@preact/signals";

import { toggle } from "./playback";
import { moveTime } from "./timeline";
import { closePanel, layer, LAYERS } from "./view";

export const isHelpOpen = signal(false);

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
    else if (event.key === " " && !/^(BUTTON|SUMMARY)$/.test(target.tagName)) toggle();
    else if (event.key === "ArrowLeft" && target.id !== "map") moveTime(-1);
    else if (event.key === "ArrowRight" && target.id !== "map") moveTime(1);
    else if (LAYERS[at]) layer.value = LAYERS[at];
    else return;
    event.preventDefault();
  });
}
