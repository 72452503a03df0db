// The examples of web maps, built as a page of a user is, served, and opened in Chromium with WebGL.
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";
import * as vite from "vite";

import { startServer } from "./server.mjs";

const examples = fileURLToPath(new URL("../../bindings-wasm/js/examples/", import.meta.url));
// Beside node_modules, where the libraries are found by their names.
const folder = fileURLToPath(new URL("node_modules/.maps/", import.meta.url));
const TYPES = { ".css": "text/css", ".html": "text/html", ".js": "text/javascript" };
/** The address of the service in the examples. */
const WRITTEN = "http://127.0.0.1:8080";

export const EXAMPLES = (await readdir(examples)).map((file) => file.replace(".html", ""));

/**
 * Starts a server, and builds and serves the examples, which ask it. Each page has what the test looks at in
 * `window`. `html` is the page of each example as it is written.
 */
export async function serveExamples() {
  const pages = createServer(async (request, response) => {
    const path = new URL(request.url, "http://localhost").pathname;
    try {
      const body = path === "/favicon.ico" ? "" : await readFile(join(folder, "built", path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => pages.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${pages.address().port}`;
  const server = await startServer("--cors-origins", origin);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const html = {};
  const names = { map: "map", deck: "deck", weather: "weather", maplibregl: "library", L: "library", weatherLayers: "weatherLayers", addWeatherProtocol: "addWeatherProtocol" };
  const seen = Object.entries(names).map(([name, as]) => `if (typeof ${name} !== "undefined") window.${as} = ${name};`);
  for (const name of EXAMPLES) {
    html[name] = await readFile(join(examples, `${name}.html`), "utf8");
    const page = html[name]
      .replaceAll(WRITTEN, server.origin)
      .replace('import { weatherLayers } from "mesonet/maplibre"', 'import { addWeatherProtocol, weatherLayers } from "mesonet/maplibre"')
     .replace("</script>", `${seen.join("")}window.isShown = true;\n</script>`);
    await writeFile(join(folder, `${name}.html`), page);
  }
  await vite.build({
    ...{ root: folder, configFile: false, logLevel: "error", base: "./" },
    build: {
      ...{ outDir: "built", target: "es2022", minify: false, chunkSizeWarningLimit: 10_000 },
      rolldownOptions: { input: EXAMPLES.map((name) => join(folder, `${name}.html`)) },
    },
  });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    // WebGL without a graphics card.
    args: ["--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"],
  });
  return {
    html,
    server,
    open: (name, options) => openExample(browser, `${origin}/${name}.html`, options),
    async close() {
      await browser.close();
      pages.close();
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Opens an example, and waits until its layers are shown. `problems` are what its console says. */
async function openExample(browser, url, { width = 900, height = 600, ...context } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, ...context });
  const [problems, requests] = [[], []];
  page.on("console", (message) => message.type() !== "debug" && problems.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(url);
  await page.waitForFunction(() => window.isShown, undefined, { timeout: 60_000 });
  return { page, problems, requests };
}

/** The pixels of a page as it is now: a function of a place from the left and the top. */
export async function pixelsOf(page) {
  const picture = (await page.screenshot()).toString("base64");
  const kept = await page.evaluateHandle(async (base64) => {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
    const context = Object.assign(document.createElement("canvas"), { width: bitmap.width, height: bitmap.height }).getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    return context;
  }, picture);
  const at = (context, [x, y]) => [...context.getImageData(x, y, 1, 1).data.subarray(0, 3)];
  return (x, y) => kept.evaluate(at, [Math.round(x), Math.round(y)]);
}

/** Waits until two pictures one after the other are the same: everything is drawn. */
export async function settled(page) {
  for (let before = "", tries = 0; tries < 60; tries += 1) {
    const now = (await page.screenshot()).toString("base64");
    if (now === before) {
      return;
    }
    before = now;
    await page.waitForTimeout(400);
  }
  throw new Error("the page does not come to rest");
}
