// Starts the page: what the server is, and then what the view needs.
import "leaflet/dist/leaflet.css";
import "./style.css";

import { effect, untracked } from "@preact/signals";
import type L from "leaflet";
import { render } from "preact";

import { isOffline, meet, returns, sleep } from "./api/client";
import { heard, listenLive } from "./api/live";
import { load } from "./api/loads";
import { loadCore } from "./domain/core";
import type { First } from "./first";
import { listenToKeys } from "./keys";
import { theMap } from "./map/map_view";
import { hadPicture, isRestDue } from "./order";
import { listenToPlayback } from "./playback";
import { loadDetails, loadPlaces, loadReadings, refreshes, refreshReadings } from "./station/network";
import { loadFeeds } from "./quality/feeds";
import { App } from "./ui/app";
import { alertsPart, modelsPart, productsPart } from "./ui/parts";
import { word } from "./ui/words";
import { alertsOver, at_ms, keepAddress, language, layer, model, step_min, system, variable } from "./view";
import { warmUp } from "./worker_pool";

/** Starts the page with what was asked for ahead of it. */
export async function start(first: First): Promise<void> {
  const root = document.getElementById("app")!;
  keepAddress();
  await met(first, root);
  root.textContent = "";
  render(<App />, root);
  listenToKeys();
  listenToPlayback();
  loadWhatIsSeen(first);
  followWhatChanges();
}

/** Waits for a server that is away from the start. */
async function met({ index }: First, root: HTMLElement): Promise<void> {
  for (let asked: typeof index | undefined = index; ; asked = undefined) {
    try {
      await meet(asked);
      return;
    } catch (error) {
      if (!isOffline.value) {
        root.textContent = word("cannotStart", (error as Error).message);
        throw error;
      }
      root.textContent = word("away");
      await sleep(1_000);
    }
  }
}

const isOfStations = () => layer.value === "stations" || layer.value === "quality";

/** Loads what the layer shows, and again when the server is back. On a slow line what is not seen yet waits for the first picture. */
function loadWhatIsSeen({ picture }: First): void {
  let hasDetails = false;
  let ahead = picture;
  effect(() => {
    void [returns.value, variable.value, step_min.value];
    const hasReadings = isOfStations();
    // Which time is shown matters only for what is asked first.
    void untracked(async () => {
      const given = ahead;
      ahead = undefined;
      if (hasReadings) await loadReadings(given);
      else hadPicture.value = true;
      if (hasDetails) return;
      await load("names", async () => {
        await loadDetails();
        hasDetails = true;
      });
    });
  });
  effect(() => {
    void returns.value;
    if (isRestDue.value) void untracked(() => load("stations", loadPlaces));
  });
  effect(() => {
    void returns.value;
    const isNeeded = system.value === "us" || variable.value.startsWith("wind");
    if (isNeeded || isRestDue.value) void untracked(() => load("core", async () => void (await loadCore())));
  });
  effect(() => {
    if (isRestDue.value) warmUp();
  });
  effect(() => {
    void [returns.value, refreshes.value];
    if (layer.value === "quality") void untracked(() => load("feeds", loadFeeds));
  });
  effect(() => {
    void [returns.value, language.value];
    if (layer.value === "alerts" || alertsOver.value) void untracked(loadAlerts);
  });
  effect(() => {
    void returns.value;
    if (layer.value === "models") void untracked(() => load("models", async () => (await shown(modelsPart)).loadModels()));
  });
  effect(() => {
    void returns.value;
    if (layer.value === "products") void untracked(() => load("products", async () => (await shown(productsPart)).loadFiles()));
  });
  effect(() => {
    void returns.value;
    if (layer.value === "models" && model.value) void untracked(() => load("field", async () => (await modelsPart()).loadProducts()));
  });
}

const loadAlerts = () => load("alerts", async () => (await shown(alertsPart)).loadAlerts());

const onMap = new Set<unknown>();

/** Loads a part of the page and puts its layer on the map, once. */
async function shown<T extends { layerOf(map: L.Map): void }>(part: () => Promise<T>): Promise<T> {
  const [of, map] = await Promise.all([part(), theMap]);
  if (!onMap.has(part)) of.layerOf(map);
  onMap.add(part);
  return of;
}

/** What comes in this time is loaded once, and so much time is between two loads. */
const GATHERING_MS = 3_000;
const BETWEEN_MS = 120_000;

/** Loads what is shown again when the service has something new: readings while now is shown, alerts while they are. */
function followWhatChanges(): void {
  listenLive(() => variable.value);
  follow(() => heard.value.readings, () => at_ms.value === undefined && isOfStations(), refreshReadings);
  follow(() => heard.value.alerts, () => layer.value === "alerts" || alertsOver.value, loadAlerts);
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
