// Layers that follow the server: what comes in is shown, and what was removed asks for nothing.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";

import { weather } from "mesonet/map";

import { layersOf } from "../../bindings-wasm/js/dist/map_layers.js";
import { startServer } from "./server.mjs";

const KEY = "mesonet_push_of_a_test";
let server;

before(async () => {
  const hash = createHash("sha256").update(KEY).digest("hex");
  server = await startServer("--now", "live", "--assume-plan", "commercial", "--ingest-key-hashes", hash);
});
after(() => server?.stop());

/** Pushes a report of some minutes ago with a temperature. */
async function push(celsius, minutes) {
  const time = new Date(Date.now() - minutes * 60_000).toISOString();
  const answer = await fetch(`${server.origin}/api/v1/ingest?name=sa_${time.slice(0, 10).replaceAll("-", "")}.txt`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}` },
    body: `METAR CYYZ ${time.slice(8, 10)}${time.slice(11, 13)}${time.slice(14, 16)}Z 24012KT 15SM ${celsius}/05 A2991=\n`,
  });
  assert.equal(answer.status, 200, await answer.text());
}

/** A map that shows Ontario, and notes what it draws. */
function surface(shown) {
  const drawn = () => ({ show: (of) => shown.push(of), remove: () => shown.push("removed") });
  let moved = () => undefined;
  return {
    ready: async () => undefined,
    view: () => [-82, 42, -76, 46],
    onMoved(heard) {
      moved = heard;
      return () => (moved = () => undefined);
    },
    move: () => moved(),
    ...{ field: drawn, stations: drawn, alerts: drawn },
  };
}

test("stations show what comes in soon after, and nothing once they are removed", async () => {
  await push(19, 40);
  const [shown, failures, asked] = [[], [], []];
  const send = (request) => {
    asked.push(new URL(request.url).pathname);
    return fetch(request);
  };
  const map = surface(shown);
  const layers = layersOf(weather(server.origin, { fetch: send }), map, (error) => failures.push(error));
  const layer = await layers.addStations({ variable: "airTemperature", live: true });
  const values = () => layer.shown.features.map(({ properties }) => properties.value);
  assert.deepEqual(values(), [19]);
  while (!asked.some((path) => path.endsWith("/live"))) {
    await new Promise((turn) => setTimeout(turn, 20));
  }
  // What is pushed before the service knows of the listener is not an event for it.
  for (let tries = 0; values()[0] !== 23; tries += 1) {
    assert.ok(tries < 60, "it is not shown");
    await push(23, 30 - tries * 0.1);
    await new Promise((turn) => setTimeout(turn, 500));
  }
  assert.equal(shown.at(-1), layer.shown);
  layers.remove();
  assert.equal(shown.at(-1), "removed");
  const [count, drawn] = [asked.length, shown.length];
  await push(25, 1);
  map.move();
  await new Promise((turn) => setTimeout(turn, 1000));
  await assert.rejects(layer.refresh(), { name: "AbortError" });
  assert.deepEqual([asked.length, shown.length, failures], [count, drawn, []]);
});

test("a layer that is removed while it loads is not shown, and its promise says so", async () => {
  const shown = [];
  const layers = layersOf(weather(server.origin), surface(shown), assert.fail);
  const adding = layers.addStations({ variable: "airTemperature", live: true });
  const refused = assert.rejects(adding, { name: "AbortError" });
  await Promise.resolve().then(() => layers.remove());
  await refused;
  assert.deepEqual(shown, ["removed"]);
  // Also while the map is not ready for layers.
  const map = surface(shown);
  map.ready = () => new Promise((turn) => setTimeout(turn, 20));
  const early = layersOf(weather(server.origin), map, assert.fail);
  const waits = assert.rejects(early.addAlerts(), { name: "AbortError" });
  early.remove();
  await waits;
  assert.deepEqual(shown, ["removed"]);
});

test("a load that fails after a move is told, and the layer stays", async () => {
  const [shown, failures] = [[], []];
  let isAway = false;
  const send = (request) => (isAway ? Promise.reject(new TypeError("fetch failed")) : fetch(request));
  const map = surface(shown);
  const layers = layersOf(weather(server.origin, { fetch: send }), map, (error) => failures.push(error));
  const layer = await layers.addStations({ variable: "airTemperature" });
  const before = layer.shown;
  isAway = true;
  map.view = () => [10, 10, 20, 20];
  map.move();
  await assert.rejects(layer.refresh(), { name: "ConnectionError" });
  await assert.rejects(layer.set({ variable: "mslp" }), { name: "ConnectionError" });
  assert.equal(layer.shown, before);
  assert.equal(failures[0]?.name, "ConnectionError");
  isAway = false;
  await layer.refresh();
  // The change that failed was not kept.
  assert.equal(layer.shown.legend.unit, "°C");
  layers.remove();
});
