// The page in other frames: in another page, on paper, under fingers, magnified, installed; and what robots are told.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { explorer, openView, violations, waitForStations } from "./explorer.mjs";
import { LOOKS, TORONTO, VIEWS } from "./explorer_views.mjs";
import { startServer } from "./server.mjs";

const { browser, open, openFresh, origin } = explorer();
const DIST = fileURLToPath(new URL("../../server-example/web/dist/", import.meta.url));

test("in another page there are the map, its legend and its time, and a way to the whole page", async () => {
  const { page, problems } = await open(`#layer=stations&map=45,-75,6&variable=mslp&station=${TORONTO}&embed`, { viewport: { width: 560, height: 380 }, locale: "fr-CA" });
  await waitForStations(page, 1);
  for (const hidden of [".head", ".rail", ".panel", "#slider", "#clock-choice"]) assert.equal(await page.locator(hidden).count(), 0, hidden);
  assert.match(await page.locator("#clock").textContent(), /août 2024.*UTC/);
  // That the data is recorded is said there too.
  assert.match(await page.locator(".banner").textContent(), /Données enregistrées/);
  await page.waitForFunction(() => location.hash.startsWith("#embed=map"));
  const link = page.getByRole("link", { name: "Ouvrir la page entière" });
  const address = await link.getAttribute("href");
  assert.match(address, /^\.\/#layer=stations&variable=mslp&map=45,-75,6/);
  assert.ok(address.includes(TORONTO) && !address.includes("embed"));
  assert.equal(await link.getAttribute("rel"), "noopener");
  assert.deepEqual(await violations(page), []);
  const opened = page.context().waitForEvent("page");
  await link.click();
  const whole = await opened;
  await whole.locator(".panel h2").waitFor();
  assert.deepEqual(problems, []);
  await page.context().close();
});

test("each layer can stand in another page", async () => {
  for (const [hash, isReady] of [
    ["#layer=models&model=nam211&product=temperature_2m&map=42,-97,4&embed", (page) => page.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 2)],
    ["#layer=alerts&embed", (page) => page.locator(".legend li").first().waitFor()],
    ["#layer=products&embed", (page) => page.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 2)],
    ["#layer=quality&embed", (page) => page.locator(".legend li").first().waitFor()],
  ]) {
    const { page, problems } = await open(hash, { viewport: { width: 600, height: 400 }, locale: "en-CA" });
    await isReady(page);
    await page.waitForFunction(() => /UTC/.test(document.querySelector("#clock").textContent));
    assert.equal(await page.locator(".panel, .controls").count(), 0, hash);
    if (hash.includes("products")) assert.match(await page.locator(".banner").textContent(), /picture of April 6, 2023/);
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("a page of a site that is named shows the map in a frame, another one does not", async () => {
  let framed = "";
  const pages = createServer((_, response) => response.setHeader("content-type", "text/html").end(`<!doctype html><iframe src="${framed}/#embed" width="560" height="380"></iframe>`));
  await new Promise((listening) => pages.listen(0, "127.0.0.1", listening));
  const { port } = pages.address();
  const server = await startServer("--frame-origins", `http://127.0.0.1:${port}`);
  const context = await browser().newContext();
  try {
    framed = server.origin;
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.frameLocator("iframe").locator("#count").waitFor();
    // The same page by another name of the site.
    await page.goto(`http://localhost:${port}/`);
    await page.frames()[1].waitForURL(/^chrome-error:/);
  } finally {
    await context.close();
    await server.stop();
    pages.close();
  }
});

/** Whether a part of a page is seen on its paper. */
const isShown = (page, selector) => page.locator(selector).first().isVisible();

test("on paper there are the map, its legend, the time with its zone and the panel, and nothing to press", async () => {
  const { page } = await open(`#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`, LOOKS.dark);
  await page.locator(".plot canvas").first().waitFor();
  const width = await page.evaluate(() => document.querySelector("#map").clientWidth);
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 680, height: 960 });
  for (const shown of ["#map", ".legend .ramp", "#clock", ".panel h2", ".extremes", ".plot canvas"]) assert.ok(await isShown(page, shown), shown);
  for (const hidden of [".head", ".rail", "#slider", "#play", ".close", ".leaflet-control-zoom", ".panel .star"]) assert.ok(!(await isShown(page, hidden)), hidden);
  assert.match(await page.locator("#clock").textContent(), /2024.*UTC/);
  // Black on white, whatever the screen was.
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector(".panel h2")).color), "rgb(28, 33, 38)");
  const boxes = await page.evaluate(() => ["#map", ".legend", ".panel"].map((one) => document.querySelector(one).getBoundingClientRect()).map(({ left, right, top, bottom }) => ({ left, right, top, bottom })));
  for (const { left, right } of boxes) assert.ok(left >= 0 && right <= 681, `${left} to ${right}`);
  assert.ok(boxes[0].bottom <= boxes[1].top + 1 && boxes[1].bottom <= boxes[2].top + 1, JSON.stringify(boxes));
  assert.ok(width > 680);
  const paper = await page.pdf({ format: "A4" });
  assert.equal(paper.subarray(0, 5).toString(), "%PDF-");
  await page.close();
});

const SMALLEST_PX = 44;

for (const name of ["map", "station", "alert", "models", "radar", "quality", "feeds", "fitted"]) {
  test(`what fingers press is large enough: ${name}`, async () => {
    const [address, isReady] = VIEWS[name];
    const { page, problems } = await (name === "alert" ? openFresh : open)(address, LOOKS.phone);
    await isReady(page);
    const small = await page.evaluate((least) => {
      const all = [...document.querySelectorAll("button, select, summary, input[type=text], input[type=range], label:has(> input[type=checkbox]), .leaflet-bar a")];
      return all
        .filter((one) => one.checkVisibility({ visibilityProperty: true }) && getComputedStyle(one).clipPath === "none")
        .map((one) => ({ text: `${one.tagName} ${one.id} ${one.className} ${one.textContent.slice(0, 30)}`, height: one.getBoundingClientRect().height }))
        .filter(({ height }) => height > 0 && height < least - 0.5);
    }, SMALLEST_PX);
    assert.deepEqual(small, []);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    assert.deepEqual(problems, []);
    await page.close();
  });
}

/** A window of 1440 by 900 pixels at 200 %. */
const MAGNIFIED = { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2, locale: "en-CA" };

for (const name of ["map", "close", "models", "alerts", "radar", "station", "quality", "fitted"]) {
  test(`at 200 % nothing is cut off and nothing lies on another: ${name}`, async () => {
    const [address, isReady] = VIEWS[name];
    const { page, problems } = await (name === "alerts" ? openFresh : open)(address, MAGNIFIED);
    await isReady(page);
    const size = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]);
    assert.deepEqual(size, [720, 450]);
    const boxes = await page.evaluate(() => {
      const stage = document.querySelector(".stage").getBoundingClientRect();
      const all = [".legend", ".controls > *", ".leaflet-control-zoom", ".leaflet-control-scale"].flatMap((selector) => {
        const one = document.querySelector(selector);
        return one?.checkVisibility() ? [{ selector, ...JSON.parse(JSON.stringify(one.getBoundingClientRect())) }] : [];
      });
      return { stage: JSON.parse(JSON.stringify(stage)), all };
    });
    for (const one of boxes.all) {
      // What is longer than its place scrolls in it.
      assert.ok(one.left >= boxes.stage.left && one.right <= boxes.stage.right + 0.5, `${one.selector} ${one.left} to ${one.right}`);
      assert.ok(one.top >= boxes.stage.top, `${one.selector} from ${one.top}`);
      for (const other of boxes.all) {
        if (other === one) continue;
        const isApart = one.right <= other.left + 0.5 || other.right <= one.left + 0.5 || one.bottom <= other.top + 0.5 || other.bottom <= one.top + 0.5;
        assert.ok(isApart, `${one.selector} lies on ${other.selector}`);
      }
    }
    assert.deepEqual(await violations(page), []);
    assert.deepEqual(problems, []);
    await page.close();
  });
}

test("the page can be installed: its manifest and its icons are there", async () => {
  const { page, problems } = await openView(browser(), origin());
  const manifest = await page.evaluate(async () => {
    const address = new URL(document.querySelector("link[rel=manifest]").getAttribute("href"), location.href);
    const made = await (await fetch(address)).json();
    const icons = await Promise.all(
      made.icons.map(async ({ src, type }) => {
        const bytes = await (await fetch(new URL(src, address))).blob();
        if (type === "image/svg+xml") return (await bytes.text()).slice(0, 4);
        const { width, height } = await createImageBitmap(bytes);
        return `${width}x${height}`;
      }),
    );
    return { ...made, icons, start: String(new URL(made.start_url, address)), scope: String(new URL(made.scope, address)), sizes: made.icons.map(({ sizes }) => sizes) };
  });
  assert.equal(manifest.start, `${origin()}/`);
  assert.equal(manifest.scope, `${origin()}/`);
  assert.deepEqual(manifest.icons, ["<svg", "192x192", "512x512", "512x512"]);
  assert.deepEqual(manifest.sizes, ["any", "192x192", "512x512", "512x512"]);
  const touch = await page.locator('link[rel="apple-touch-icon"]').getAttribute("href");
  assert.equal((await fetch(`${origin()}/${touch}`)).status, 200);
  assert.deepEqual(problems, []);
  await page.close();
});

test("robots may read the page and not what is answered to programs", async () => {
  const text = await (await fetch(`${origin()}/robots.txt`)).text();
  assert.match(text, /^User-agent: \*\nAllow: \/\$\nAllow: \/explorer\/\nDisallow: \/$/m);
  assert.match(await readFile(`${DIST}files.rs`, "utf8"), /\("robots\.txt", include_bytes!\("robots\.txt\.br"\)\)/);
});
