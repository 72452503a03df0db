// What a reader keeps or takes away: stations near and kept, and what is on the map as a table.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { explorer, violations, waitForStations } from "./explorer.mjs";
import { LOOKS, TORONTO } from "./explorer_views.mjs";

const { browser, open, origin } = explorer();

test("a station that is kept is offered by the search at the next visit, and in this browser only", async () => {
  const context = await browser().newContext({ locale: "en-CA", viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const sent = [];
  page.on("request", (request) => sent.push(`${request.url()} ${request.postData() ?? ""}`));
  await page.goto(`${origin()}/#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`);
  const star = page.getByRole("button", { name: "Keep this station" });
  assert.equal(await star.getAttribute("aria-pressed"), "false");
  await star.click();
  assert.equal(await star.getAttribute("aria-pressed"), "true");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(sent.filter((text) => /favourite/i.test(text)), []);
  await page.close();
  const again = await context.newPage();
  await again.goto(origin());
  await waitForStations(again, 2_900);
  await again.waitForLoadState("networkidle");
  await again.keyboard.press("/");
  await again.getByRole("option", { name: /Toronto Pearson.*kept/ }).waitFor();
  assert.deepEqual(await violations(again), []);
  // Enter goes nowhere before something is chosen.
  const before = await again.evaluate(() => location.hash);
  await again.keyboard.press("Enter");
  assert.equal(await again.evaluate(() => location.hash), before);
  await again.keyboard.press("ArrowDown");
  await again.keyboard.press("ArrowDown");
  await again.keyboard.press("Enter");
  await again.getByRole("heading", { name: /Toronto Pearson/ }).waitFor();
  await again.getByRole("button", { name: "Keep this station" }).click();
  await again.reload();
  await again.getByRole("button", { name: "Keep this station", pressed: false }).waitFor();
  // What another program left there is no station.
  await again.evaluate(() => localStorage.setItem("mesonet.favourites", '{"a":1}'));
  await again.reload();
  await again.getByRole("button", { name: "Keep this station", pressed: false }).waitFor();
  await context.close();
});

test("the map goes to where the reader is, or says why it cannot", async () => {
  const context = await browser().newContext({ locale: "en-CA", viewport: { width: 1440, height: 900 }, geolocation: { latitude: 46.81, longitude: -71.21 }, permissions: ["geolocation"] });
  const page = await context.newPage();
  await page.goto(origin());
  await waitForStations(page, 2_900);
  await page.locator("#search").focus();
  await page.getByRole("option", { name: /Near me/ }).click();
  await page.waitForFunction(() => location.hash.includes("map=46.81,-71.21,9"));
  await context.close();
  const { page: refused } = await open("");
  await waitForStations(refused, 2_900);
  await refused.locator("#search").focus();
  await refused.getByRole("option", { name: /Near me/ }).click();
  await refused.getByText(/The browser gives no place/).waitFor();
  assert.deepEqual(await violations(refused), []);
  await refused.close();
});

test("what is on the map is a table too, in the order that is asked for, and a file", async () => {
  const { page, problems } = await open("#layer=stations&map=43.7,-79.6,8");
  await waitForStations(page, 2_900);
  await page.waitForLoadState("networkidle");
  await page.getByRole("button", { name: "Table" }).click();
  await page.waitForFunction(() => location.hash.includes("table=open"));
  const table = page.locator(".table tbody tr");
  await table.filter({ hasText: "Toronto Pearson" }).waitFor();
  const values = async () => (await table.locator("td:nth-child(2)").allTextContents()).map((text) => Number.parseFloat(text.replace("−", "-")));
  const down = await values();
  assert.deepEqual(down, [...down].sort((a, b) => b - a));
  assert.ok(down.length > 20 && down.length < 200, `${down.length}`);
  await page.getByRole("button", { name: /^Value/ }).click();
  const up = await values();
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  assert.deepEqual(await violations(page), []);
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const lines = (await readFile(await (await saving).path(), "utf8")).trim().split("\n");
  assert.equal(lines[0], "station_id,station,latitude,longitude,timestamp,variable,value,unit,quality");
  assert.equal(lines.length, up.length + 1);
  assert.match(lines.find((line) => line.startsWith(TORONTO)), /,43\.679,-79\.629,2024-08-03T21:00:\d\dZ,airTemperature,29,°C,Good$/);
  // A station leads back to the table, and the map decides what is in it.
  await table.filter({ hasText: "Toronto Pearson" }).getByRole("button").click();
  await page.getByRole("heading", { name: /Toronto Pearson/ }).waitFor();
  await page.locator("#map").focus();
  await page.keyboard.press("Escape");
  await table.first().waitFor();
  await page.evaluate(() => window.explorer.map.setView([61, -135], 8, { animate: false }));
  await table.filter({ hasText: "Toronto Pearson" }).waitFor({ state: "hidden" });
  await page.keyboard.press("Escape");
  await page.locator(".panel").waitFor({ state: "hidden" });
  assert.deepEqual(problems, []);
  await page.close();
});

test("on a phone, in French and in the dark, the table is accessible", async () => {
  const { page, problems } = await open("#layer=stations&map=43.7,-79.6,8&table=open&lang=fr&units=us", LOOKS["phone-dark"]);
  await page.locator(".table tbody tr").first().waitFor();
  assert.match(await page.locator(".table").textContent(), /stations sur la carte/);
  assert.match(await page.locator(".table tbody tr").first().textContent(), /°F/);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});
