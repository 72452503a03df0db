// Opens the explorer of a running server in Chromium, and notes what must not happen: errors on the console,
// and requests that leave the origin.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before } from "node:test";

import { chromium } from "playwright-core";

import { startServer } from "./server.mjs";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** Starts a browser. */
export const browse = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"],
  });

/** Opens a view of the explorer; `problems` are those that have been noted. */
export async function openView(browser, origin, view = "", options = {}) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: "en-CA", ...options });
  page.setDefaultTimeout(60_000);
  const problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && !["data:", "blob:"].includes(url.protocol)) problems.push(`foreign: ${url}`);
  });
  await page.goto(`${origin}/${view}`);
  await page.locator("#map canvas").first().waitFor();
  return { page, problems };
}

/** A server on its sample and a browser for the tests of a file; gives what opens views of it. */
export function explorer() {
  const servers = [];
  const start = async () => {
    servers.push(await startServer("--assume-plan", "commercial"));
    return servers.at(-1).origin;
  };
  let [origin, browser] = [];
  before(async () => {
    origin = await start();
    browser = await browse();
  });
  after(async () => {
    await browser?.close();
    await Promise.all(servers.map(({ stop }) => stop()));
  });
  return {
    origin: () => origin,
    browser: () => browser,
    open: (view, options) => openView(browser, origin, view, options),
    /** The same of a server that has just started: the clock of alerts goes on, and after eleven minutes the first has ended. */
    openFresh: async (view, options) => openView(browser, await start(), view, options),
  };
}

/** The addresses of all that a page has loaded since it was opened. */
export const loaded = (page) => page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name));

/** How many stations the map says have a value. */
export async function stationCount(page) {
  const counts = await page.locator("#count").allTextContents();
  return Number(/[\d,\s]*/.exec(counts[0] ?? "")[0].replaceAll(/\D/g, ""));
}

/** Waits until so many stations have a value; not for ever. */
export const waitForStations = (page, least) =>
  page.waitForFunction((wanted) => Number(/[\d,\s]*/.exec(document.querySelector("#count")?.textContent ?? "")[0].replaceAll(/\D/g, "")) >= wanted, least);

/** Whether a canvas of the map has anything but one colour in a part of it. */
export const isPainted = (page, selector) =>
  page.evaluate((wanted) => {
    for (const canvas of document.querySelectorAll(wanted)) {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      if (new Set(new Uint32Array(data.buffer)).size > 8) return true;
    }
    return false;
  }, selector);

/** Violations of accessibility, in a line each. */
export async function violations(page) {
  // The policy of the page forbids what is injected: the program is evaluated by the debugger.
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations: all } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return all.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

/** The colours of a picture of a part of a page, as the eye gets them: red, green, blue, and how many pixels have it. */
export async function coloursOf(page, clip) {
  const picture = await page.screenshot({ clip });
  const reader = await page.context().browser().newPage();
  try {
    return await reader.evaluate(async (bytes) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))]));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, image.width, image.height);
      const counts = new Map();
      for (const word of new Uint32Array(data.buffer)) counts.set(word, (counts.get(word) ?? 0) + 1);
      return [...counts].map(([word, count]) => [word & 255, (word >> 8) & 255, (word >> 16) & 255, count]);
    }, picture.toString("base64"));
  } finally {
    await reader.close();
  }
}

/** Where a place is on the page, in the copy of the world that is nearest to the middle of the map. */
export const pointOf = (page, lat, lon) =>
  page.evaluate(
    ([y, x]) => {
      const { map } = window.explorer;
      const centre = map.getCenter().lng;
      const at = map.latLngToContainerPoint([y, x + 360 * Math.round((centre - x) / 360)]);
      const box = map.getContainer().getBoundingClientRect();
      return { x: box.x + at.x, y: box.y + at.y };
    },
    [lat, lon],
  );
