// The pool of workers in Chromium.
import assert from "node:assert/strict";
import { test } from "node:test";

import { openPage, servePages } from "./browser.mjs";
import { assertWorked } from "./worked.mjs";

test("web workers give what the page would compute, and their ends are errors", async () => {
  const pages = await servePages({ "/dies.mjs": "onmessage = () => { throw new Error('broken'); };" });
  try {
    const { browser, page, requests } = await openPage(`${pages.origin}/page/workers.html`);
    try {
      assertWorked(await page.evaluate(() => window.results), pages.origin);
      const failed = requests.filter((request) => !request.startsWith("200 ")).map((request) => new URL(request.slice(4)).pathname);
      assert.deepEqual(failed.sort(), ["/no/such.wasm", "/no/such/worker.js"]);
    } finally {
      await browser.close();
    }
  } finally {
    pages.close();
  }
});
