// What comes first: values of what is seen, before what is not seen yet is asked for.
import assert from "node:assert/strict";
import { test } from "node:test";

import { explorer, openView, stationCount, violations, waitForStations } from "./explorer.mjs";
import { exportsOf } from "./explorer_source.mjs";
import { LOOKS } from "./explorer_views.mjs";

const { browser, open, origin } = explorer();

/** Notes when the map first had values, on the clock of the page. */
const noteFirstValues = () => {
  const look = () => {
    if (/[1-9]/.test(document.querySelector("#count")?.textContent ?? "")) window.firstValues_ms = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
};

/** A page on a line of 400 kbit/s that takes 400 ms to answer, as Chromium's "Slow 3G". */
async function slowPage(options) {
  const page = await browser().newPage({ locale: "en-CA", ...options });
  page.setDefaultTimeout(60_000);
  await page.addInitScript(noteFirstValues);
  const line = await page.context().newCDPSession(page);
  await line.send("Network.enable");
  await line.send("Network.emulateNetworkConditions", { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 });
  return page;
}

const requests = (page) => page.evaluate(() => performance.getEntriesByType("resource").map(({ name, startTime, responseEnd }) => ({ name, startTime, responseEnd })));

for (const look of ["light", "phone"]) {
  test(`on a slow line values come before what is not seen yet, ${look}`, async () => {
    const page = await slowPage(LOOKS[look]);
    await page.goto(origin());
    await page.waitForFunction(() => window.firstValues_ms !== undefined);
    await waitForStations(page, 2_900);
    const first_ms = await page.evaluate(() => window.firstValues_ms);
    const all = await requests(page);
    const named = (part) => all.find(({ name }) => (part instanceof RegExp ? part.test(name) : name.includes(part)));
    const [picture, program] = [named("format=geojson"), named(/\/explorer\/main-.*\.js/)];
    assert.ok(picture.startTime < program.responseEnd, "the readings are asked for before the program is there");
    for (const later of ["/stations/map/markers", "step=30", "/stations/map/details", "mesonet.wasm", "/explorer/worker-", "/explorer/near-", "/explorer/places-"]) {
      const found = named(later);
      if (found) assert.ok(found.startTime > first_ms, `${later} at ${found.startTime} ms, values at ${first_ms} ms`);
    }
    const ground = named("/explorer/far-");
    for (const later of ["/stations/map/markers", "step=30", "mesonet.wasm"]) assert.ok(named(later).startTime >= ground.responseEnd, `${later} before the outlines`);
    await page.close();
  });
}

test("from afar the stations around the middle come first, from near all that are seen, round the world", async () => {
  const { boxAround } = await exportsOf("domain/mercator.ts");
  const box = (...of) => Object.fromEntries(Object.entries(boxAround(...of)).map(([name, text]) => [name, Number(text)]));
  const wide = box(0, 0, 2, 1440, 900);
  assert.deepEqual([wide.minLon, wide.maxLon], [-180, 180]);
  const across = box(52, 179, 6, 1440, 900);
  assert.ok(across.minLon > 160 && across.maxLon < -160, JSON.stringify(across));
  const poles = box(84, 0, 2, 400, 900);
  assert.ok(poles.maxLat < 86 && poles.minLat < 60);
  const asked = [];
  for (const hash of ["", "#layer=stations&map=45.5,-74,9", "#layer=quality&map=52,179,6", "#layer=alerts", "#CYYZ", "#layer=stations&variable=windSpeed10m&time=2024-08-03T20:00Z"]) {
    const page = await browser().newPage({ viewport: { width: 1440, height: 900 }, locale: "en-CA" });
    const questions = [];
    page.on("request", (request) => request.url().includes("format=geojson") && questions.push(new URL(request.url()).searchParams));
    await page.goto(`${origin()}/${hash}`);
    await page.waitForLoadState("networkidle");
    asked.push(questions);
    await page.close();
  }
  const [afar, near, quality, alerts, named, wind] = asked;
  assert.equal(afar.length, 1, "it is asked for once");
  assert.equal(afar[0].get("nearest"), "500");
  assert.equal(near[0].get("nearest"), null);
  assert.ok(Number(near[0].get("maxLon")) - Number(near[0].get("minLon")) < 8);
  assert.equal(quality[0].get("names").split(",").length, 4);
  assert.ok(Number(quality[0].get("minLon")) > Number(quality[0].get("maxLon")));
  assert.equal(alerts.length, 0);
  // Where the station is, is not known yet.
  assert.equal(named.length, 1);
  assert.equal(wind[0].get("names"), "windSpeed10m,windDirection");
  assert.equal(wind[0].get("end"), "2024-08-03T20:00:00.000Z");
});

test("a value in units of the United States waits for the core, and is not shown in others", async () => {
  const page = await browser().newPage({ viewport: { width: 1440, height: 900 }, locale: "en-CA" });
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route("**/mesonet.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${origin()}/#layer=stations&map=43.7,-79.6,7&units=us`);
  await page.waitForFunction(() => /[1-9]/.test(document.querySelector("#count")?.textContent ?? ""));
  const ends = () => page.locator(".ramp span").allTextContents();
  assert.deepEqual(await ends(), ["…", "…", "… °F"]);
  release();
  await page.waitForFunction(() => document.querySelector(".ramp span").textContent !== "…");
  assert.deepEqual(await ends(), ["−40", "32", "104 °F"]);
  await page.close();
});

test("a server with another prefix, or without an answer to what is asked ahead, shows its values all the same", async () => {
  const page = await browser().newPage({ viewport: { width: 1440, height: 900 }, locale: "en-CA" });
  let refused = 0;
  await page.route("**/stations/readings?format=geojson*", (route) => ((refused += 1) === 1 ? route.fulfill({ status: 404, json: "no such endpoint" }) : route.continue()));
  await page.goto(origin());
  await waitForStations(page, 2_900);
  assert.equal(refused, 2);
  await page.close();
});

test("while the page is on its way there is its frame, and a panel is in outline until it comes", async () => {
  const page = await slowPage(LOOKS.dark);
  await page.goto(`${origin()}/#layer=stations&station=700f7e18-e84e-51b2-90bd-f054766d1ec5&map=43.7,-79.6,7`, { waitUntil: "commit" });
  await page.locator(".outline .head").waitFor();
  assert.deepEqual(await violations(page), []);
  // Dark for those who want it so, before the program can say it.
  await page.waitForFunction(() => getComputedStyle(document.querySelector(".head")).backgroundColor === "rgb(30, 34, 38)");
  await page.locator(".panel .skeleton").first().waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByRole("cell", { name: "29.0 °C" }).first().waitFor();
  await page.close();
});

test("where not all stations have come yet, none is said to be missing", async () => {
  const { page, problems } = await openView(browser(), origin(), "#layer=stations&map=60,-40,6");
  const said = [];
  await page.exposeFunction("note", (text) => said.push(text));
  await page.evaluate(() => new MutationObserver(() => window.note(document.querySelector(".hint-line")?.textContent ?? "")).observe(document.querySelector(".legend"), { childList: true, subtree: true }));
  await page.getByText("None in this part of the map.").waitFor();
  assert.deepEqual(said.filter((text) => text.includes("No station reports")), []);
  assert.ok((await stationCount(page)) > 2_900);
  assert.deepEqual(problems, []);
  await page.close();
});

test("another variable is shown for what is seen first", async () => {
  const { page, problems } = await open("#layer=stations&map=45.5,-74,7");
  await waitForStations(page, 2_900);
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => performance.clearResourceTimings());
  await page.locator("#variable").selectOption("mslp");
  await page.waitForFunction(() => performance.getEntriesByType("resource").filter(({ name }) => name.includes("/stations/readings")).length >= 2);
  const [first, second] = (await requests(page)).filter(({ name }) => name.includes("/stations/readings")).map(({ name }) => new URL(name).searchParams);
  assert.equal(first.get("format"), "geojson");
  assert.ok(first.get("minLat") > 40);
  assert.equal(second.get("step"), "30");
  assert.equal(second.get("minLat"), null);
  await waitForStations(page, 1_500);
  assert.deepEqual(problems, []);
  await page.close();
});
