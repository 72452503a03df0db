// What the explorer says where something could not be had, and what it makes of addresses.
import assert from "node:assert/strict";
import { test } from "node:test";

import { explorer, openView, violations, waitForStations } from "./explorer.mjs";
import { TORONTO } from "./explorer_views.mjs";

const { browser, open, origin } = explorer();

/** Refuses what is asked at some addresses, in the words of a server, until it is told to stop. */
async function refuse(page, address, status, words) {
  await page.route(address, (route) => route.fulfill({ status, json: words }));
  return () => page.unroute(address);
}

for (const [layer, address, name, there] of [
  ["alerts", "**/api/v1/alerts?*", "Alerts", ".list li"],
  ["models", "**/models/coverage", "Models", "#model"],
  ["products", "**/api/v1/products", "Radar", "#product"],
  ["stations", "**/stations/map/markers", "Stations", "#count"],
]) {
  test(`${layer} that could not be loaded are said in the words of the server, and asked for again`, async () => {
    const page = await browser().newPage({ viewport: { width: 1440, height: 900 }, locale: "en-CA" });
    page.setDefaultTimeout(60_000);
    const stop = await refuse(page, address, 500, "the record cannot be read");
    await page.goto(`${origin()}/#layer=${layer}`);
    const notice = page.locator(".notice.bad", { hasText: `${name}: the record cannot be read` });
    await notice.waitFor();
    assert.deepEqual(await violations(page), []);
    await stop();
    await notice.getByRole("button", { name: "Try again" }).click();
    await notice.waitFor({ state: "hidden" });
    await page.locator(there).first().waitFor();
    if (layer === "stations") await waitForStations(page, 2_900);
    await page.close();
  });
}

test("a page whose program does not come says so in both languages", async () => {
  const page = await browser().newPage({ locale: "fr-CA" });
  await refuse(page, "**/explorer/main-*.js", 404, "unknown file");
  await page.goto(origin());
  await page.getByText(/could not be loaded/).waitFor();
  await page.getByText(/n’a pu être chargé/).waitFor();
  await page.close();
});

test("without the core there are values in metric units, and what needs it says why it is missing", async () => {
  const page = await browser().newPage({ viewport: { width: 1440, height: 900 }, locale: "fr-CA" });
  const stop = await refuse(page, "**/mesonet.wasm", 404, "unknown file");
  await page.goto(`${origin()}/#layer=stations&station=${TORONTO}`);
  const notice = page.locator(".notice.bad", { hasText: /Conversion des unités : / });
  await notice.waitFor();
  await page.waitForFunction(() => /[1-9]/.test(document.querySelector("#count").textContent));
  await page.locator(".panel .trouble").waitFor();
  assert.deepEqual(await violations(page), []);
  await stop();
  await notice.getByRole("button", { name: "Réessayer" }).click();
  await notice.waitFor({ state: "hidden" });
  await page.locator(".panel .trouble button").click();
  await page.getByRole("cell", { name: "29,0 °C" }).first().waitFor();
  await page.locator("#units").click();
  await page.getByRole("cell", { name: "84,2 °F" }).first().waitFor();
  await page.close();
});

test("a part of the page that does not come says so, and is asked for again", async () => {
  const page = await browser().newPage({ viewport: { width: 1440, height: 900 }, locale: "en-CA" });
  let isRefused = true;
  let asked = 0;
  await page.route("**/explorer/quality_part-*.js*", (route) => {
    asked += 1;
    return isRefused ? route.fulfill({ status: 503, json: "try again later" }) : route.continue();
  });
  await page.goto(`${origin()}/#layer=quality`);
  await page.locator(".panel .trouble").waitFor();
  isRefused = false;
  await page.locator(".panel .trouble button").click();
  await page.getByRole("heading", { name: "Stations to look at" }).waitFor();
  assert.ok(asked >= 2);
  await page.close();
});

test("an alert that is not on record is said to be so", async () => {
  const { page, problems } = await open("#layer=alerts&alert=urn:oid:0");
  await page.locator(".panel").getByText("This alert is not on record.").waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("an address with nonsense shows what it can", async () => {
  const { page, problems } = await open("#layer=stations&variable=nothing&step=x&hour=-1&level=low&map=a,b,c&time=never");
  await waitForStations(page, 2_900);
  assert.equal(await page.locator("#variable").inputValue(), "airTemperature");
  await page.keyboard.press("4");
  await page.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 2);
  assert.doesNotMatch(await page.evaluate(() => location.hash), /NaN|nothing|low/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("alerts lie over another layer, which the address says, and need no second switch on their own", async () => {
  const { page, problems } = await open("#layer=stations");
  const over = page.getByRole("button", { name: "Alerts too" });
  const outlines = () => page.evaluate(() => Object.values(window.explorer.map._layers).filter((layer) => layer.feature?.geometry).length);
  assert.equal(await outlines(), 0);
  await over.click();
  await page.waitForFunction(() => location.hash.includes("alerts=over"));
  await page.waitForFunction(() => Object.values(window.explorer.map._layers).some((layer) => layer.feature?.geometry));
  assert.equal(await over.getAttribute("aria-pressed"), "true");
  await over.click();
  await page.waitForFunction(() => !Object.values(window.explorer.map._layers).some((layer) => layer.feature?.geometry));
  await page.keyboard.press("3");
  await page.locator(".rail .over:disabled").waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("a raster product and its time are part of the address", async () => {
  const { page, problems } = await open("#layer=products");
  await page.locator("#product-time").selectOption({ index: 0 });
  await page.waitForFunction(() => location.hash.includes("file="));
  const view = await page.evaluate(() => location.hash);
  const { page: again } = await openView(browser(), origin(), view);
  await again.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 2);
  assert.equal(await again.locator("#product-time").inputValue(), await page.locator("#product-time").inputValue());
  assert.equal(await again.evaluate(() => location.hash), view);
  await again.close();
  assert.deepEqual(problems, []);
  await page.close();
});

test("in French the intervals and layers of a station's series are in French", async () => {
  const { page, problems } = await open(`#layer=stations&map=43.7,-79.6,7&station=${TORONTO}&lang=fr`);
  await page.locator(".panel tbody small", { hasText: /couche \d/ }).first().waitFor();
  const details = await page.locator(".panel tbody small").allTextContents();
  assert.deepEqual(details.filter((text) => /layer|Instantaneous|Cumulative|Median/.test(text)), []);
  assert.deepEqual(problems, []);
  await page.close();
});
