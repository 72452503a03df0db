// The page in the README, which needs no bundler, as it stands there.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { openPage, servePages } from "./browser.mjs";

test("the page of the README runs from a copy of dist", async () => {
  const readme = await readFile(new URL("../../bindings-wasm/js/README.md", import.meta.url), "utf8");
  const [[, html], ...others] = readme.matchAll(/```html\n(.*?)```/gs);
  assert.equal(others.length, 0);
  const pages = await servePages({ "/readme/index.html": html, "/favicon.ico": "" });
  // It paints at once after that.
  const isPainted = () => document.querySelector("output")?.textContent !== "";
  try {
    const { browser, page, problems, requests } = await openPage(`${pages.origin}/readme/index.html`, isPainted);
    try {
      assert.equal(await page.textContent("output"), "-36.8 °C");
      const pixels = await page.evaluate(() => [
        ...document.querySelector("canvas").getContext("2d").getImageData(0, 0, 2, 1).data,
      ]);
      assert.deepEqual(pixels, [0, 0, 255, 255, 255, 0, 0, 255]);
      assert.deepEqual(problems, []);
      assert.deepEqual(requests.filter((request) => !request.startsWith("200 ")), []);
    } finally {
      await browser.close();
    }
  } finally {
    pages.close();
  }
});
