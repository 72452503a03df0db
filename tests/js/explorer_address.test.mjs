// The address of the explorer: what is a step of the browser's history, and what a link says to whoever opens it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { explorer, openView, waitForStations } from "./explorer.mjs";
import { TORONTO } from "./explorer_views.mjs";

const { open, browser, origin } = explorer();

const hash = (page) => page.evaluate(() => location.hash);
const hashHas = (page, text) => page.waitForFunction((wanted) => location.hash.includes(wanted), text);
const hashHasNot = (page, text) => page.waitForFunction((wanted) => !location.hash.includes(wanted), text);
const centre = (page) => page.evaluate(() => [window.explorer.map.getCenter().lat, window.explorer.map.getCenter().lng, window.explorer.map.getZoom()]);
const isNear = (a, b) => a.every((one, at) => Math.abs(one - b[at]) < 0.02);

test("back and forward go through layers, stations and places, with the map where it was", async () => {
  const { page, problems } = await open("#layer=stations&map=46,-96,4");
  await waitForStations(page, 2_900);
  const length = () => page.evaluate(() => history.length);
  const first = await length();
  // Moves of the map, of the time and of the scale are no steps.
  await page.evaluate(() => window.explorer.map.setView([45, -90], 5, { animate: false }));
  await page.locator("#slider").focus();
  await page.keyboard.press("ArrowLeft");
  await page.locator("#variable").selectOption("mslp");
  await hashHas(page, "time=");
  assert.equal(await length(), first);
  const before = await centre(page);
  // A station from the search: one step, though it moves the map and opens the panel.
  await page.locator("#search").fill("cyyz");
  await page.getByRole("option", { name: /Toronto Pearson/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Pearson/ }).waitFor();
  assert.equal(await length(), first + 1);
  const there = await centre(page);
  // A town is a step too.
  await page.locator("#search").fill("quebec");
  await page.getByRole("option", { name: /^Québec, QC/ }).waitFor();
  await page.keyboard.press("Enter");
  await hashHas(page, "map=46.8");
  assert.equal(await length(), first + 2);
  await page.locator('.rail [data-layer="alerts"]').click();
  await hashHas(page, "layer=alerts");
  assert.equal(await length(), first + 3);
  await page.goBack();
  await hashHas(page, "layer=stations");
  await hashHas(page, "map=46.8");
  await page.goBack();
  await hashHas(page, "map=43.6");
  assert.ok(isNear(await centre(page), there), `${await centre(page)} is not ${there}`);
  await page.goBack();
  await hashHasNot(page, "station=");
  await page.locator(".panel").waitFor({ state: "hidden" });
  assert.ok(isNear(await centre(page), before), `${await centre(page)} is not ${before}`);
  assert.match(await hash(page), /variable=mslp.*time=/);
  await page.goForward();
  await page.getByRole("heading", { name: /Pearson/ }).waitFor();
  assert.ok(isNear(await centre(page), there));
  // Escape closes, and back opens again.
  await page.locator("#map").focus();
  await page.keyboard.press("Escape");
  await page.locator(".panel").waitFor({ state: "hidden" });
  await page.goBack();
  await page.getByRole("heading", { name: /Pearson/ }).waitFor();
  assert.ok((await hash(page)).includes(TORONTO));
  assert.deepEqual(problems, []);
  await page.close();
});

test("back from an alert leaves the map where it was, forward shows where the alert is", async () => {
  const { page, problems } = await open("#layer=alerts&map=45,-75,5");
  await page.locator(".list li button").first().click();
  await page.locator(".alert h2").waitFor();
  await page.waitForFunction(() => Math.abs(window.explorer.map.getCenter().lng + 75) > 1);
  const there = await centre(page);
  await page.goBack();
  await hashHasNot(page, "alert=");
  assert.ok(isNear(await centre(page), [45, -75, 5]));
  await page.goForward();
  await page.locator(".alert h2").waitFor();
  assert.ok(isNear(await centre(page), there));
  // A link keeps the map that it has.
  const id = new URLSearchParams((await hash(page)).slice(1)).get("alert");
  const { page: linked } = await openView(browser(), origin(), `#${new URLSearchParams({ layer: "alerts", map: "30,-100,6", alert: id })}`);
  await linked.locator(".alert h2").waitFor();
  await linked.waitForTimeout(300);
  assert.ok(isNear(await centre(linked), [30, -100, 6]));
  await linked.close();
  assert.deepEqual(problems, []);
  await page.close();
});

test("a station's name in the address gives way to its id without a step", async () => {
  const { page, problems } = await open("#CYYZ");
  const length = await page.evaluate(() => history.length);
  await page.getByRole("heading", { name: /Pearson/ }).waitFor();
  await hashHas(page, TORONTO);
  assert.equal(await page.evaluate(() => history.length), length);
  assert.deepEqual(problems, []);
  await page.close();
});

test("an address that is edited in an open page is followed, as one that is opened", async () => {
  const { page, problems } = await open("#layer=stations&map=60,-120,5");
  await waitForStations(page, 2_900);
  await page.evaluate(() => (location.hash = "#CYYZ"));
  await page.getByRole("heading", { name: /Pearson/ }).waitFor();
  await page.waitForFunction(() => /map=43\.6\d*,-79\.6\d*,8/.test(location.hash));
  await page.evaluate(() => (location.hash = "#layer=models&map=10,540.5,3&place=10,900"));
  await page.waitForFunction(() => /map=10,-179\.5,3.*place=10,-180/.test(location.hash));
  await page.goBack();
  await page.getByRole("heading", { name: /Pearson/ }).waitFor();
  await page.evaluate(() => (location.hash = "#lang=fr&units=us"));
  await page.waitForFunction(() => document.documentElement.lang === "fr");
  assert.deepEqual(problems.filter((text) => !/40[04]/.test(text)), []);
  await page.close();
});

test("a link changes neither language nor units of whoever opens it; what is chosen in the page stays", async () => {
  const context = await browser().newContext({ locale: "en-CA", viewport: { width: 1440, height: 900 } });
  const visit = async (view) => {
    const page = await context.newPage();
    await page.goto(`${origin()}/${view}`);
    await waitForStations(page, 1);
    const seen = await page.evaluate(() => [document.documentElement.lang, document.querySelector("#units").textContent, document.documentElement.dataset.theme]);
    return { page, seen };
  };
  const { page: linked, seen } = await visit("#layer=stations&lang=fr&units=us&clock=mine");
  assert.deepEqual(seen.slice(0, 2), ["fr", "°F"]);
  assert.equal(await linked.locator("#clock-choice").inputValue(), "mine");
  assert.deepEqual((await visit("")).seen, ["en", "°C", "light"]);
  await linked.locator("#language").click();
  await linked.locator("#language").click();
  await linked.locator("#theme").click();
  await linked.locator("#clock-choice").selectOption("utc");
  const { page, seen: later } = await visit("");
  assert.deepEqual(later, ["fr", "°C", "dark"]);
  assert.equal(await page.locator("#clock-choice").inputValue(), "utc");
  // Back keeps what was chosen since.
  await page.locator('.rail [data-layer="quality"]').click();
  await page.locator("#language").click();
  await page.goBack();
  await page.waitForFunction(() => location.hash.includes("layer=stations"));
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  assert.ok((await hash(page)).includes("lang=en"));
  await context.close();
});
