// The package in a real browser: Chromium runs the vectors through all entries and draws a tile.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openPage, screenshot, servePages } from "./browser.mjs";
import { RUNS } from "./run_vectors.mjs";

// A tile of 256 × 256: raw rises by 2 per column and 1 per row; a disc in the middle has no value.
const encoding = { scale: 0.01, offset: 273.15, nodata: -32768 };
const SIZE = 256;
const inDisc = (row, column) => Math.hypot(row - 127.5, column - 127.5) < 40;
const rawAt = (row, column) => (inDisc(row, column) ? encoding.nodata : 2 * column + row - 400);
const tile = Buffer.alloc(SIZE * SIZE * 2);
let present = 0;
for (let row = 0; row < SIZE; row += 1) {
  for (let column = 0; column < SIZE; column += 1) {
    tile.writeInt16LE(rawAt(row, column), 2 * (row * SIZE + column));
    present += inDisc(row, column) ? 0 : 1;
  }
}

let pages;
let opened;
let page;

before(async () => {
  pages = await servePages({
    "/tile.bin": tile,
    "/tile.json": JSON.stringify({ encoding }),
    "/openapi/v1.json": JSON.stringify({ openapi: "3.1.0" }),
  });
  opened = await openPage(`${pages.origin}/page/index.html`);
  page = opened.page;
  await screenshot(page, "browser");
});

after(async () => {
  await opened?.browser.close();
  pages.close();
});

test("the page runs without errors, and everything that it loads succeeds", async () => {
  assert.equal((await page.evaluate(() => window.results)).error, undefined);
  assert.deepEqual(opened.problems, []);
  assert.deepEqual(opened.requests.filter((request) => !request.startsWith("200 ")), []);
});

test("the checks of neighbours run, and the client asks", async () => {
  const { verdict, openapi } = await page.evaluate(() => window.results);
  assert.deepEqual([verdict, openapi], [2, "3.1.0"]);
});

test("the entries slim, checks, network, grids, alerts, metar and report load their WebAssembly from the files beside them", () => {
  for (const name of ["mesonet", "checks", "network", "grids", "alerts", "metar", "report"]) {
    const file = `/mesonet/${name}.wasm`;
    assert.equal(opened.requests.filter((request) => request.endsWith(file)).length, 1, file);
  }
});

test("all entries run every case of the vectors", async () => {
  const { ran } = await page.evaluate(() => window.results);
  assert.equal(Object.keys(ran).length, RUNS);
  for (const [name, count] of Object.entries(ran)) {
    assert.equal(count.ran, count.cases, name);
    assert.ok(count.ran > 0, name);
  }
});

test("a tile from the wire has its values", async () => {
  const { values } = await page.evaluate(() => window.results);
  const value = (row, column) => rawAt(row, column) * encoding.scale + encoding.offset;
  assert.deepEqual(values, {
    count: SIZE * SIZE,
    present,
    first: value(0, 0),
    last: value(SIZE - 1, SIZE - 1),
  });
});

test("the canvas shows the tile", async () => {
  const pixel = (row, column) =>
    page.evaluate(
      ([x, y]) => [...document.querySelector("canvas").getContext("2d").getImageData(x, y, 1, 1).data],
      [column, row],
    );
  const [least, span] = [rawAt(0, 0), rawAt(SIZE - 1, SIZE - 1) - rawAt(0, 0)];
  for (const [row, column] of [[0, 0], [255, 255], [0, 255], [255, 0], [20, 200], [127, 87]]) {
    const heat = (rawAt(row, column) - least) / span;
    const wanted = [Math.round(255 * heat), 0, Math.round(255 * (1 - heat)), 255];
    const got = await pixel(row, column);
    got.forEach((part, at) =>
      assert.ok(Math.abs(part - wanted[at]) <= 1, `row ${row}, column ${column}: ${got}, ${wanted}`),
    );
  }
  assert.deepEqual(await pixel(127, 127), [0, 0, 0, 0]);
  assert.deepEqual(await pixel(127, 89), [0, 0, 0, 0]);
});
