// The benchmark in Chromium: `node bench/browser.mjs [--write]`. It needs playwright-core, which the tests in
// tests/js install, and a Chromium (CHROMIUM, else /usr/bin/chromium).
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

import { report } from "./report.mjs";

const root = new URL("../", import.meta.url);
const { chromium } = createRequire(new URL("../../../tests/js/", import.meta.url))("playwright-core");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };

const server = createServer(async (request, response) => {
  try {
    const path = new URL(request.url, root).pathname;
    const body = await readFile(fileURLToPath(new URL(`.${path}`, root)));
    response.writeHead(200, { "content-type": TYPES[extname(path)] }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.error(String(error)));
  await page.goto(`http://127.0.0.1:${server.address().port}/bench/index.html`);
  await page.waitForFunction(() => window.results !== undefined, null, { timeout: 600_000 });
  await report("browser.mjs", await page.evaluate(() => window.results));
} finally {
  await browser.close();
  server.close();
}
