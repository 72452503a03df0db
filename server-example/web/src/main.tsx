// Starts the page: the core, what the server is, and then what the view needs.
import "leaflet/dist/leaflet.css";
import "uplot/dist/uPlot.min.css";
import "./style.css";

import { effect, untracked } from "@preact/signals";
import { render } from "preact";

import { loadAlerts } from "./alerts/record";
import { isOffline, meet, returns, sleep } from "./api/client";
import { heard, listenLive } from "./api/live";
import { load } from "./api/loads";
import { loadCore } from "./domain/core";
import { loadModels, loadProducts } from "./models/fields";
import { listenToKeys } from "./keys";
import { loadDetails, loadPlaces, loadReadings, refreshReadings } from "./station/network";
import { loadFiles } from "./products/catalogue";
import { App } from "./ui/app";
import { word } from "./ui/words";
import { alertsOver, at_ms, keepAddress, language, layer, model, step_min, variable } from "./view";
import { warmUp } from "./worker_pool";

const root = document.getElementById("app")!;
keepAddress();
warmUp();
try {
  await Promise.all([loadCore(), met()]);
} catch (error) {
  root.textContent = word("cannotStart", (error as Error).message);
  throw error;
}
root.textContent = "";
render(<App />, root);
listenToKeys();
loadWhatIsSeen();
followWhatChanges();

/** Waits for a server that is away from the start. */
async function met(): Promise<void> {
  for (;;) {
    try {
      await meet();
      return;
    } catch (error) {
      if (!isOffline.value) throw error;
      root.textContent = word("away");
      await sleep(1_000);
    }
  }
}

/** Loads what the layer shows, and again when the server is back. */
function loadWhatIsSeen(): void {
  let hasDetails = false;
  effect(() => {
    void returns.value;
    void untracked(() => load("stations", loadPlaces));
  });
  effect(() => {
    void [returns.value, variable.value, step_min.value];
    const hasReadings = layer.value === "stations" || layer.value === "quality";
    // Which time is shown matters only for what is asked first.
    void untracked(async () => {
      if (hasReadings) await loadReadings();
      if (hasDetails) return;
      await load("names", async () => {
        await loadDetails();
        hasDetails = true;
      });
    });
  });
  effect(() => {
    void [returns.value, language.value];
    if (layer.value === "alerts" || alertsOver.value) void untracked(() => load("alerts", loadAlerts));
  });
  effect(() => {
    void returns.value;
    if (layer.value === "models") void untracked(() => load("models", loadModels));
  });
  effect(() => {
    void returns.value;
    if (layer.value === "products") void untracked(() => load("products", loadFiles));
  });
  effect(() => {
    void returns.value;
    if (layer.value === "models" && model.value) void untracked(() => load("field", loadProducts));
  });
}

/** What comes in this time is loaded once, and so much time is between two loads. */
const GATHERING_MS = 3_000;
const BETWEEN_MS = 120_000;

/** Loads what is shown again when the service has something new: readings while now is shown, alerts while they are. */
function followWhatChanges(): void {
  listenLive(() => variable.value);
  follow(() => heard.value.readings, () => at_ms.value === undefined && (layer.value === "stations" || layer.value === "quality"), refreshReadings);
  follow(() => heard.value.alerts, () => layer.value === "alerts" || alertsOver.value, () => load("alerts", loadAlerts));
}

function follow(count: () => number, isShown: () => boolean, refresh: () => Promise<void>): void {
  let [done, next_ms] = [0, 0];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    timer = undefined;
    if (count() === done || !isShown()) return;
    [done, next_ms] = [count(), Date.now() + BETWEEN_MS];
    void refresh();
  };
  effect(() => {
    if (count() !== done && isShown()) timer ??= setTimeout(run, Math.max(next_ms - Date.now(), GATHERING_MS));
  });
}
