// What the service says as it changes: that there are new readings or alerts, so that the page asks for what it shows.
import { effect, signal } from "@preact/signals";

import { about, observations } from "./client";

/** How often new readings and alerts were heard of. */
export const heard = signal({ readings: 0, alerts: 0 });

const isVisible = signal(true);

/**
 * Listens while the page is seen, as browsers open six connections to a server for all its tabs. Recorded data does not
 * change. A browser comes back by itself; where the service takes no more listeners, the page stays as it is.
 */
export function listenLive(names: () => string): void {
  const look = () => {
    isVisible.value = document.visibilityState === "visible";
  };
  document.addEventListener("visibilitychange", look);
  look();
  const note = (...topics: readonly (keyof typeof heard.value)[]) => {
    const next = { ...heard.peek() };
    for (const topic of topics) next[topic] += 1;
    heard.value = next;
  };
  let hasListened = false;
  effect(() => {
    if (!isVisible.value || !about.value || about.value.replay !== undefined) return undefined;
    const query = new URLSearchParams({ topics: "readings,alerts", names: names() });
    const source = new EventSource(observations(`/live?${query}`));
    source.addEventListener("readings", () => note("readings"));
    source.addEventListener("alerts", () => note("alerts"));
    source.addEventListener("resync", () => note("readings", "alerts"));
    // What changed while the page was hidden was not heard.
    if (hasListened) note("readings", "alerts");
    hasListened = true;
    return () => source.close();
  });
}
