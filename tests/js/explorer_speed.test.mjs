// How fast the explorer is: said, not asserted, as it depends on the machine. Asserted is that all is drawn.
import assert from "node:assert/strict";
import { test } from "node:test";

import { browse, openView, waitForStations } from "./explorer.mjs";
import { startServer } from "./server.mjs";

const STATIONS = 10_000;

/** Markers and readings of many stations on a lattice over the continent, as the service would answer. */
function network() {
  const ids = Array.from({ length: STATIONS }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`);
  const place = (at) => [-125 + (at % 125) * 0.46, 26 + Math.floor(at / 125) * 0.35];
  const features = ids.map((id, at) => ({ type: "Feature", id, geometry: { type: "Point", coordinates: place(at) }, properties: {} }));
  const readings = (time) =>
    Object.fromEntries(
      ids.map((id, at) => [
        id,
        {
          readings: [
            { timestamp: time, type: "airTemperature", typeId: 1, value: (at % 60) - 20, quality: { baseQuality: "Good", reasonQuality: "None" }, age: 0 },
          ],
        },
      ]),
    );
  return { features, readings };
}

test("ten thousand stations are drawn while the map is moved", async (t) => {
  const server = await startServer();
  const browser = await browse();
  try {
    const { features, readings } = network();
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.route("**/stations/map/markers", (route) => route.fulfill({ json: { type: "FeatureCollection", features } }));
    await page.route("**/stations/map/details*", (route) => route.fulfill({ json: {} }));
    await page.route("**/stations/readings?*", (route) => {
      const query = new URL(route.request().url()).searchParams;
      return route.fulfill({ json: { stations: readings(query.get("end")), step: Number(query.get("step")) } });
    });
    await page.goto(`${server.origin}/#map=40,-96,4`);
    await waitForStations(page, STATIONS);
    const took = await page.evaluate(async () => {
      const { map, stations } = window.explorer;
      stations.took_ms.length = 0;
      for (let step = 0; step < 90; step += 1) {
        map.panBy([step < 45 ? 6 : -6, 2], { animate: false });
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
      }
      return stations.took_ms.toSorted((a, b) => a - b);
    });
    const median = took[Math.floor(took.length / 2)];
    t.diagnostic(`${took.length} pictures of ${STATIONS} stations: median ${median.toFixed(1)} ms`);
    assert.ok(took.length > 40, `${took.length} pictures`);
  } finally {
    await browser.close();
    await server.stop();
  }
});

test("the first useful picture comes without being asked for", async (t) => {
  const server = await startServer();
  const browser = await browse();
  try {
    // The server compresses a file when it is first requested.
    await (await openView(browser, server.origin)).page.close();
    const { page } = await openView(browser, server.origin);
    await waitForStations(page, 1_000);
    const at_ms = await page.evaluate(() => performance.now());
    t.diagnostic(`stations with values after ${at_ms.toFixed(0)} ms`);
  } finally {
    await browser.close();
    await server.stop();
  }
});
