// Times that are played: no faster than their pictures come, round again or once, as the reader chooses.
import assert from "node:assert/strict";
import { test } from "node:test";

import { explorer, violations, waitForStations } from "./explorer.mjs";

const { browser, open, origin } = explorer();

const SAFRICA = "#layer=models&model=safrica&product=precipitable_water&map=-26,28,4";
const hour = (page) => page.evaluate(() => Number(new URLSearchParams(location.hash.slice(1)).get("hour") ?? 0));
const hourIs = (page, wanted) => page.waitForFunction((at) => Number(new URLSearchParams(location.hash.slice(1)).get("hour") ?? 0) === at, wanted);
const isTiled = (page) => page.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 2);

/** How many pictures are on the map, and how many tiles of the one that is seen are missing; noted at each change of the clock. */
const watchPictures = (page) =>
  page.evaluate(() => {
    window.noted = [];
    const look = () => {
      const all = [...document.querySelectorAll(".leaflet-tile-pane > .field")];
      const seen = all.filter(({ style }) => style.visibility !== "hidden");
      const tiles = seen.flatMap((one) => [...one.querySelectorAll("canvas")]);
      window.noted.push({ all: all.length, seen: seen.length, missing: tiles.filter((tile) => !tile.classList.contains("leaflet-tile-loaded")).length, tiles: tiles.length });
    };
    new MutationObserver(look).observe(document.querySelector("#clock"), { childList: true, characterData: true, subtree: true });
  });

test("the hours of a model play, each with its picture ready before it is shown, and begin again", async () => {
  const { page, problems } = await open(SAFRICA);
  await isTiled(page);
  await page.locator("#slider").evaluate((slider) => slider.focus());
  await page.keyboard.press("End");
  await hourIs(page, 24);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await hourIs(page, 22);
  await isTiled(page);
  await watchPictures(page);
  await page.locator("#speed").selectOption("4");
  await page.locator("#play").click();
  await hourIs(page, 3);
  await page.locator("#play").click();
  const noted = await page.evaluate(() => window.noted);
  assert.ok(noted.length >= 5, `${noted.length} pictures`);
  for (const one of noted) {
    assert.equal(one.seen, 1, JSON.stringify(one));
    assert.equal(one.missing, 0, JSON.stringify(one));
    assert.ok(one.tiles > 0);
    assert.ok(one.all <= 7, "those that were shown are dropped");
  }
  const stopped = await hour(page);
  await page.waitForTimeout(700);
  assert.equal(await hour(page), stopped);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a picture that does not come is waited for", async () => {
  const { page } = await open(SAFRICA);
  await isTiled(page);
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route(/hour=3&?|hour=3$/, async (route) => {
    await held;
    await route.continue();
  });
  await page.locator("#speed").selectOption("8");
  await page.locator("#play").click();
  await hourIs(page, 2);
  await page.waitForTimeout(800);
  assert.equal(await hour(page), 2);
  release();
  await page.waitForFunction(() => Number(new URLSearchParams(location.hash.slice(1)).get("hour")) > 4);
  await page.close();
});

test("without beginning again it stops at the end, and plays from the start when it is played there", async () => {
  const { page, problems } = await open(`${SAFRICA}&hour=22`);
  await isTiled(page);
  const loop = page.getByRole("button", { name: "Begin again at the end" });
  assert.equal(await loop.getAttribute("aria-pressed"), "true");
  await loop.click();
  await page.locator("#speed").selectOption("8");
  await page.locator("#play").click();
  await hourIs(page, 24);
  await page.getByRole("button", { name: "Play", exact: true }).waitFor();
  await page.waitForTimeout(400);
  assert.equal(await hour(page), 24);
  await page.locator("#play").click();
  await hourIs(page, 2);
  // Another layer is not played.
  await page.locator('.rail [data-layer="stations"]').click();
  await waitForStations(page, 2_000);
  assert.equal(await page.locator("#play").getAttribute("aria-label"), "Play");
  assert.deepEqual(problems, []);
  await page.close();
});

test("a viewer who wants little motion gets the times slowly and once", async () => {
  const { page, problems } = await open(SAFRICA, { viewport: { width: 1440, height: 900 }, locale: "en-CA", reducedMotion: "reduce" });
  await isTiled(page);
  assert.equal(await page.locator("#speed").inputValue(), "1");
  assert.equal(await page.locator("#loop").getAttribute("aria-pressed"), "false");
  assert.deepEqual(problems, []);
  await page.close();
});

/** The one file of the sample under several times: the pictures are real, their times are those of the test. */
async function withTimes(page, times) {
  await page.route("**/api/v1/products", async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    for (const product of Object.values(body.products)) {
      for (const duration of product.durations) if (duration.timestamps.length > 0) duration.timestamps = times;
    }
    await route.fulfill({ response: answer, json: body });
  });
  await page.route("**/api/v1/products/*?*", (route) => {
    const url = new URL(route.request().url());
    url.searchParams.set("timestamp", "2023-04-06T12:00:39Z");
    return route.continue({ url: String(url) });
  });
}

test("pictures of a radar play in the order of their times, with one clock", async () => {
  const page = await browser().newPage({ viewport: { width: 1440, height: 900 }, locale: "en-CA" });
  // As an answer might have them: not in order.
  await withTimes(page, ["2023-04-06T12:10:39Z", "2023-04-06T12:00:39Z", "2023-04-06T12:05:39Z"]);
  await page.goto(`${origin()}/#layer=products&map=38,-95,4`);
  await isTiled(page);
  assert.equal(await page.locator("#slider").getAttribute("max"), "2");
  assert.deepEqual(await page.locator("#product-time option").allTextContents().then((all) => all.map((text) => text.match(/12:\d\d/)[0])), ["12:00", "12:05", "12:10"]);
  await page.locator("#product-time").selectOption({ index: 0 });
  await page.waitForFunction(() => document.querySelector("#clock").textContent.includes("12:00"));
  assert.match(await page.locator(".banner").textContent(), /the picture of April 6, 2023, 12:00 UTC/);
  assert.doesNotMatch(await page.locator(".banner").textContent(), /readings|alerts/);
  await page.locator("#speed").selectOption("4");
  await page.locator("#play").click();
  for (const time of ["12:05", "12:10", "12:00"]) await page.waitForFunction((wanted) => document.querySelector("#clock").textContent.includes(wanted), time);
  await page.close();
});

test("the banner speaks of the layer that is looked at", async () => {
  const { page, problems } = await open("#layer=stations");
  await waitForStations(page, 1);
  const banner = () => page.locator(".banner p").textContent();
  assert.match(await banner(), /readings of August 3, 2024/);
  assert.doesNotMatch(await banner(), /alerts/);
  await page.getByRole("button", { name: "Alerts too" }).click();
  await page.waitForFunction(() => /readings.*alerts of Canada/.test(document.querySelector(".banner").textContent));
  await page.locator('.rail [data-layer="alerts"]').click();
  await page.waitForFunction(() => /alerts of Canada of August 12, 2026.*of the United States of July 15, 2026/.test(document.querySelector(".banner").textContent));
  assert.doesNotMatch(await banner(), /readings/);
  await page.locator('.rail [data-layer="models"]').click();
  await page.waitForFunction(() => /the run of September 17, 2018/.test(document.querySelector(".banner").textContent));
  await page.locator("#language").click();
  assert.match(await banner(), /cycle du 17 septembre 2018/);
  assert.deepEqual(problems, []);
  await page.close();
});
