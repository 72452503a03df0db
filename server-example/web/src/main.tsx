// Starts the page: the core, what the server is, and then what the view needs.
import "leaflet/dist/leaflet.css";
import "uplot/dist/uPlot.min.css";
import "./style.css";

import { effect, untracked } from "@preact/signals";
import { render } from "preact";

import { loadAlerts } from "./alerts/record";
import { isOffline, meet, returns, sleep } from "./api/client";
import { load } from "./api/loads";
import { loadCore } from "./domain/core";
import { loadModels, loadProducts } from "./models/fields";
import { listenToKeys } from "./keys";
import { loadDetails, loadPlaces, loadReadings } from "./station/network";
import { loadFiles } from "./products/catalogue";
import { App } from "./ui/app";
import { word } from "./ui/words";
import { alertsOver, keepAddress, language, layer, model, step_min, variable } from "./view";
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
