// The explorer with a large network draws all of it while the map is moved. How fast is measured by explorer_bench.mjs, as
// it depends on the machine.
import assert from "node:assert/strict";
import { test } from "node:test";

import { browse, waitForStations } from "./explorer.mjs";
import { answerWithNetwork, pan } from "./explorer_network.mjs";
import { startServer } from "./server.mjs";

const STATIONS = 10_000;

test("ten thousand stations are drawn while the map is moved", async () => {
  const server = await startServer();
  const browser = await browse();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await answerWithNetwork(page, STATIONS);
    await page.goto(`${server.origin}/#map=40,-96,4`);
    await waitForStations(page, STATIONS);
    const { drawn_ms } = await pan(page, 40);
    assert.ok(drawn_ms.length >= 30, `${drawn_ms.length} pictures`);
    await waitForStations(page, STATIONS);
  } finally {
    await browser.close();
    await server.stop();
  }
});
