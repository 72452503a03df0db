// The explorer in a real browser, served by the real server on its sample.
import assert from "node:assert/strict";
import { readFile, readdir, stat } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";

import { screenshot } from "./browser.mjs";
import { explorer, isPainted, openView, stationCount, violations, waitForStations } from "./explorer.mjs";
import { TORONTO } from "./explorer_views.mjs";
import { serve, TARGET } from "./server.mjs";

const DIST = fileURLToPath(new URL("../../server-example/web/dist/", import.meta.url));
const MOST_BYTES = 435_000;
/** A block of the finest outlines, which comes only where the map is. */
const MOST_BYTES_BLOCK = 26_000;
/** What is there before the first value is drawn. */
const MOST_BYTES_FIRST = 100_000;

const { browser, open, openFresh, origin } = explorer();

test("a browser gets the page under a strict policy, a program gets JSON", async () => {
  const accept = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const page = await fetch(origin(), { headers: accept });
  assert.match(page.headers.get("content-type"), /^text\/html/);
  const policy = page.headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'? .*'unsafe-eval'|https?:/);
  assert.match(page.headers.get("vary"), /accept/);
  const text = await page.text();
  assert.doesNotMatch(text, /<script(?![^>]* src=)|<style| on\w+=/);
  const [script] = text.match(/explorer\/[^"]+\.js/);
  const file = await fetch(`${origin()}/${script}`, { headers: { "accept-encoding": "br" } });
  assert.equal(file.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assert.equal(file.headers.get("content-type"), "text/javascript");
  assert.equal(file.headers.get("content-encoding"), "br");
  const json = await (await fetch(origin())).json();
  assert.equal(json.service, "mesonet");
  assert.ok(json.replayAlerts.canada.startsWith("2026-08-12T"));
});

test("the page is small", async () => {
  const names = (await readdir(DIST, { recursive: true })).filter((name) => name.endsWith(".br"));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(DIST, name))).size));
  const blocks = sizes.filter((_, at) => names[at].includes("/coast"));
  assert.ok(blocks.length > 10 && Math.max(...blocks) < MOST_BYTES_BLOCK, `${blocks} bytes with brotli for the blocks of outlines`);
  const all = sizes.reduce((sum, size) => sum + size, 0) - blocks.reduce((sum, size) => sum + size, 0);
  assert.ok(all < MOST_BYTES, `${all} bytes with brotli`);
  assert.ok(all > 100_000);
  const page = brotliDecompressSync(await readFile(join(DIST, "index.html.br"))).toString();
  const first = [...new Set(["index.html", ...[...page.matchAll(/(?:href|src)="\.\/(explorer\/[^"]+)"/g)].map(([, name]) => name)])];
  assert.ok(first.length >= 4, `${first}`);
  const bytes = first.map((name) => sizes[names.indexOf(`${name}.br`)]).reduce((sum, size) => sum + size, 0);
  assert.ok(bytes < MOST_BYTES_FIRST, `${bytes} bytes with brotli before the first value`);
});

test("stations appear, the slider moves them, and the address follows", async () => {
  const { page, problems } = await open();
  await waitForStations(page, 2_900);
  assert.match(await page.locator(".banner").textContent(), /readings of August 3, 2024\./);
  assert.equal(await page.locator("#slider").inputValue(), "12");
  await page.locator("#slider").focus();
  for (let count = 0; count < 9; count += 1) await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => location.hash.includes("time=2024-08-03T16:"));
  await page.waitForFunction(() => Number(document.querySelector("#count").textContent.replace(/[^\d]/g, "")) < 2_000);
  assert.match(await page.locator("#clock").textContent(), /Aug.* 3.*2024.*16:\d\d UTC/);
  await page.getByRole("button", { name: "Now" }).click();
  await page.waitForFunction(() => !location.hash.includes("time="));
  await page.locator("#variable").selectOption("windSpeed10m");
  await page.waitForFunction(() => location.hash.includes("variable=windSpeed10m"));
  await waitForStations(page, 2_500);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await screenshot(page, "explorer-stations");
  await page.close();
});

test("a station is found by its indicator, its plots are drawn, and a reading is explained", async () => {
  const { page, problems } = await open();
  await waitForStations(page, 2_900);
  await page.keyboard.press("/");
  await page.keyboard.type("cyyz");
  await page.getByRole("option", { name: /Toronto Pearson/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Toronto Pearson International Airport" }).waitFor();
  assert.ok((await page.evaluate(() => location.hash)).includes(TORONTO));
  await page.getByRole("rowheader", { name: "Air temperature", exact: true }).waitFor();
  await page.locator(".plot canvas").first().waitFor();
  assert.ok((await page.locator(".plot").count()) >= 5);
  await page.getByRole("button", { name: "Why? Air temperature" }).click();
  const explanation = page.locator(".explain");
  await explanation.getByText(/Good: 1.8.°C warmer than \d+ stations around it\.$/).waitFor();
  await explanation.getByText(/It says 29.0.°C; from those around it one would expect 27.2.°C/).waitFor();
  assert.ok((await explanation.locator(".chain li").count()) >= 8);
  assert.match(await explanation.textContent(), /WMO-No\. 305/);
  assert.ok((await explanation.locator(".around circle").count()) > 10);
  assert.deepEqual(await violations(page), []);
  await screenshot(page, "explorer-station");

  await page.locator("#units").click();
  await page.getByRole("cell", { name: "84.2 °F" }).first().waitFor();
  await page.locator("#language").click();
  await page.getByRole("heading", { name: "Dernières observations" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "fr");

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Parquet" }).click();
  const file = await readFile(await (await saved).path());
  assert.equal(file.subarray(0, 4).toString(), "PAR1");
  assert.deepEqual(problems, []);
  await page.close();
});

test("alerts of both countries are in force, with their text in both languages and what they supersede", async () => {
  const { page, problems } = await openFresh("#layer=alerts");
  await page.getByText(/39\d in force of 397/).waitFor();
  await page.getByRole("button", { name: /red warning - tornado/ }).first().click();
  await page.getByRole("heading", { name: /tornado/ }).first().waitFor();
  const messages = page.locator(".messages li");
  // The third, which ends it, is not sent yet.
  assert.equal(await messages.count(), 2);
  assert.match(await messages.nth(0).textContent(), /Superseded/);
  assert.match(await messages.nth(1).textContent(), /Active/);
  await page.locator("#other-language").click();
  await page.getByText("Its issuer sent it in one language only.").waitFor();
  await messages.nth(0).getByRole("button").click();
  await page.waitForFunction(() => document.querySelector(".badge").textContent.includes("Superseded"));
  assert.deepEqual(await violations(page), []);
  await screenshot(page, "explorer-alert");
  await page.getByLabel("In force").uncheck();
  await page.getByRole("button", { name: /severe thunderstorm.*Environment Canada/ }).click();
  await page.locator("#other-language").click();
  await page.locator('.texts[lang="fr"]').getByText(/orages violents/).first().waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("a field of a model is painted, and a place has its sounding and its forecast", async () => {
  const { page, problems } = await open("#layer=models&model=nam211&product=temperature_2m&map=42,-97,4");
  await page.waitForFunction(() => document.querySelectorAll(".field canvas").length > 0);
  await page.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 4);
  assert.ok(await isPainted(page, ".field canvas"));
  await page.mouse.move(720, 420);
  await page.waitForFunction(() => /\d\s°C/.test(document.querySelector("#under")?.textContent ?? ""));
  await page.mouse.click(720, 420);
  await page.locator(".sounding .temperature").waitFor();
  await page.locator(".hodograph .part").first().waitFor();
  assert.ok((await page.locator(".sounding .barb").count()) > 10);
  assert.deepEqual(await violations(page), []);
  await screenshot(page, "explorer-model");
  await page.locator("#model").selectOption("safrica");
  await page.waitForFunction(() => location.hash.includes("model=safrica"));
  await page.evaluate(() => window.explorer.map.setView([-26, 28], 4, { animate: false }));
  await page.locator("#map").focus();
  await page.keyboard.press("Enter");
  await page.locator(".plot canvas").first().waitFor();
  // The map has arrows of its own.
  await page.locator("#play").press("ArrowRight");
  await page.waitForFunction(() => location.hash.includes("hour=1"));
  assert.deepEqual(problems, []);
  await page.close();
});

test("the quality of the network and a radar product are shown", async () => {
  const { page, problems } = await open("#layer=quality");
  await page.getByRole("heading", { name: "Stations to look at" }).waitFor();
  assert.ok((await page.locator(".worst li").count()) > 10);
  await page.getByRole("button", { name: "No feed is late" }).click();
  await page.getByRole("rowheader", { name: "METAR" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Stations to look at" }).waitFor();
  assert.deepEqual(await violations(page), []);
  await screenshot(page, "explorer-quality");
  await page.keyboard.press("5");
  await page.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 6);
  await page.waitForTimeout(300);
  assert.ok(await isPainted(page, ".field canvas"));
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});

test("keys reach everything", async () => {
  const { page, problems } = await open();
  await waitForStations(page, 2_900);
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  for (const [key, layer] of [["3", "alerts"], ["4", "models"], ["2", "quality"], ["1", "stations"]]) {
    await page.locator("body").press(key);
    await page.waitForFunction((wanted) => location.hash.includes(`layer=${wanted}`), layer);
  }
  await page.locator("#map").focus();
  await page.keyboard.press("Enter");
  await page.locator(".panel h2").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".panel").waitFor({ state: "hidden" });
  await page.locator("#play").press("ArrowLeft");
  await page.waitForFunction(() => location.hash.includes("time="));
  await page.locator("#play").press("Space");
  await page.getByRole("button", { name: "Pause" }).waitFor();
  // On the button the browser presses it; elsewhere the key plays.
  await page.locator("#map").press("Space");
  await page.getByRole("button", { name: "Play" }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`a phone shows a station from its address, ${colorScheme}`, async () => {
    const options = { viewport: { width: 390, height: 844 }, colorScheme };
    const { page, problems } = await open(`#layer=stations&map=43.7,-79.6,7&station=${TORONTO}&lang=fr&units=us`, options);
    await page.getByRole("cell", { name: "84,2 °F" }).first().waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    assert.equal(await page.locator("html").getAttribute("data-theme"), colorScheme);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(problems, []);
    await screenshot(page, `explorer-phone-${colorScheme}`);
    await page.close();
  });
}

test("too many requests are waited for", async () => {
  const page = await browser().newPage();
  let refusals = 0;
  await page.route("**/stations/readings?*", (route) => ((refusals += 1) <= 2 ? route.fulfill({ status: 429 }) : route.continue()));
  await page.goto(origin());
  await page.getByText(/Too many requests: waiting \d s/).waitFor();
  await waitForStations(page, 2_900);
  await page.close();
});

test("what the server says of a refusal is shown", async () => {
  const { page } = await open("#layer=models&model=nam211&place=-60,100&map=42,-97,4");
  await page.locator(".trouble").waitFor();
  assert.match(await page.locator(".trouble").textContent(), /outside|beyond|grid/);
  await page.close();
});

/** How many pixels of the map's pictures are not grey. */
const colouredPixels = (page) =>
  page.locator("canvas.overlay").evaluateAll((canvases) => {
    let count = 0;
    for (const canvas of canvases) {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue] = data.subarray(at, at + 3);
        if (data[at + 3] > 200 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) count += 1;
      }
    }
    return count;
  });

test("a server that goes away and comes back is lived through", async () => {
  const folder = await mkdtemp(join(tmpdir(), "mesonet-"));
  const binary = process.env.MESONET_SERVER_BIN ?? join(TARGET, "debug", "mesonet-server");
  const args = (listen) => ["--listen", listen, "--data", folder, "--rate-requests", "0"];
  let own = await serve(binary, args("127.0.0.1:0"));
  try {
    const { page, problems } = await openView(browser(), own.origin);
    await waitForStations(page, 2_900);
    await own.stop();
    await page.locator("#variable").selectOption("mslp");
    await page.getByText(/cannot be reached/).waitFor();
    assert.ok((await stationCount(page)) > 2_000, "the last picture stays");
    assert.ok((await colouredPixels(page)) > 1_000, "with its colours");
    own = await serve(binary, args(new URL(own.origin).host));
    await page.getByText(/cannot be reached/).waitFor({ state: "hidden" });
    await waitForStations(page, 2_000);
    assert.deepEqual(problems.filter((text) => !/ERR_CONNECTION|ERR_EMPTY|ERR_INCOMPLETE|Failed to fetch/.test(text)), []);
    await page.close();
  } finally {
    await own.stop();
    await rm(folder, { recursive: true });
  }
});
