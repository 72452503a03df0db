// The pool of workers in Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage, servePages } from "./browser.mjs";

test("web workers give what the page would compute, and their ends are errors", async () => {
  const pages = await servePages({ "/dies.mjs": "onmessage = () => { throw new Error('broken'); };" });
  try {
    const { browser, page, requests } = await openPage(`${pages.origin}/page/workers.html`);
    try {
      const results = await page.evaluate(() => window.results);
      const odd = results.odd;
      delete results.odd;
      assert.match(odd, /^MesonetError: .*3/);
      assert.deepEqual(results, {
        same: true,
        moved: [0, true],
        cells: 10_512,
        workers: true,
        aborted: "AbortError",
        refused: "MesonetError: nodata must be an integer from -32768 to 32767; got 70000",
        died: "WorkerError: a worker ended during decodeTile: Uncaught Error: broken",
        next: 65_536,
        lost: "WorkerError: a worker ended during decodeTile: its script cannot be loaded or run",
        missing: `WorkerError: ${pages.origin}/no/such.wasm: the answer was 404`,
        closed: "WorkerError: this pool was closed",
      });
      const failed = requests.filter((request) => !request.startsWith("200 ")).map((request) => new URL(request.slice(4)).pathname);
      assert.deepEqual(failed.sort(), ["/no/such.wasm", "/no/such/worker.js"]);
    } finally {
      await browser.close();
    }
  } finally {
    pages.close();
  }
});
