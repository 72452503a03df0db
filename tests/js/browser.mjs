// Serves pages on localhost, under a content policy that allows WebAssembly and no other evaluation
// of code, and opens them in Chromium.
import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { TARGET } from "./server.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const FOLDERS = {
  "/data/": join(here, "../data"),
  "/js/": here,
  "/page/": join(here, "page"),
  "/readme/dist/": join(here, "../../bindings-wasm/js/dist"),
  "/vectors/": join(here, "../vectors"),
  "/mesonet/": join(here, "../../bindings-wasm/js/dist"),
};
const TYPES = {
  ".bin": "application/octet-stream",
  ".gz": "application/gzip",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/**
 * Serves the pages, and the content of `made` by path. `sources` of the answer are other
 * origins that the pages may ask, `requests` what was asked for with its status, and `reported` the
 * results of the next page that sends them.
 */
export async function servePages(made = {}) {
  const pages = { sources: [], requests: [] };
  const awaitReport = () => {
    pages.reported = new Promise((resolve) => (pages.tell = resolve));
  };
  awaitReport();
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    response.on("finish", () => pages.requests.push(`${response.statusCode} ${path}`));
    try {
      if (path === "/report") {
        const results = JSON.parse(Buffer.concat(await request.toArray()).toString());
        response.writeHead(204).end();
        pages.tell(results);
        awaitReport();
        return;
      }
      const folder = Object.keys(FOLDERS).find((prefix) => path.startsWith(prefix));
      const body = made[path] ?? (await readFile(join(FOLDERS[folder], path.slice(folder.length))));
      response.writeHead(200, {
        "content-type": TYPES[extname(path)],
        "content-security-policy":
          `default-src 'none'; connect-src 'self' ${pages.sources.join(" ")}; img-src data:; ` +
          "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  pages.origin = `http://127.0.0.1:${server.address().port}`;
  pages.close = () => server.close();
  return pages;
}

/** Opens a page, and waits for its results, or until it is ready in another way. */
export async function openPage(url, isReady = () => window.results !== undefined) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  const [problems, requests] = [[], []];
  try {
    const page = await browser.newPage();
    page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("response", (response) => requests.push(`${response.status()} ${response.url()}`));
    await page.goto(url);
    await page.waitForFunction(isReady);
    return { browser, page, problems, requests };
  } catch (error) {
    await browser.close();
    throw new Error(`${url}: ${error.message}\n${[...problems, ...requests].join("\n")}`, { cause: error });
  }
}

/** Saves a screenshot of a page under the target directory if MESONET_SCREENSHOTS is set. */
export async function screenshot(page, name) {
  if (process.env.MESONET_SCREENSHOTS) {
    const folder = join(TARGET, "tests-js");
    await mkdir(folder, { recursive: true });
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
}
