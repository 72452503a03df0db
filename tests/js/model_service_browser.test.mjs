// A map of a model in a real browser: a page from another origin than the service paints its tiles
// and asks for values.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";

import { load } from "mesonet/grids";

import { openPage, screenshot, servePages } from "./browser.mjs";
import { colourOf, columnOf, latOf, lonOf, rowOf } from "./map.mjs";
import { between, client } from "./model_client.mjs";
import { startServer } from "./server.mjs";

const [ZOOM, SIDE] = [3, 256];
const RUN = "20180917T000000Z";
// Tiles 0 to 2 from the west and 2 to 3 from the north.
const [LEFT, TOP, WIDTH, HEIGHT] = [0, 2 * SIDE, 3 * SIDE, 2 * SIDE];
const { nativeGrid } = await load(
  await readFile(fileURLToPath(import.meta.resolve("mesonet/grids.wasm"))),
);

let pages;
let server;
let opened;
let page;
let json;
let grid;

before(async () => {
  pages = await servePages();
  server = await startServer("--cors-origins", pages.origin);
  pages.sources.push(server.origin);
  json = client(server.origin);
  grid = nativeGrid(await json("/models/nam211/grid"));
  opened = await openPage(`${pages.origin}/page/models.html?api=${server.origin}`);
  page = opened.page;
});

after(async () => {
  await opened?.browser.close();
  await server?.stop();
  pages.close();
});

const placeOf = ({ x, y }) => ({ lat: latOf(TOP + y, ZOOM), lon: lonOf(LEFT + x, ZOOM) });
const pixelOf = ({ lat, lon }) => ({ x: columnOf(lon, ZOOM) - LEFT, y: rowOf(lat, ZOOM) - TOP });
const temperatureOf = async (where) => {
  const query = `run=${RUN}&hour=0&fields=temperature_2m&${new URLSearchParams(where)}`;
  const { row, col, fields } = await json(`/models/nam211/point?${query}`);
  return { row, col, kelvin: fields.temperature_2m.value };
};
const click = async (position, text) => {
  await page.locator("canvas").click({ position });
  await page.waitForFunction((wanted) => document.querySelector("output").textContent === wanted, text);
};

test("the page runs without errors, and paints six tiles", async () => {
  const { error, left, top, tiles } = await page.evaluate(() => window.results);
  assert.equal(error, undefined);
  assert.deepEqual({ left, top, tiles }, { left: LEFT / SIDE, top: TOP / SIDE, tiles: 6 });
  assert.deepEqual(opened.problems, []);
  assert.deepEqual(opened.requests.filter((request) => !request.startsWith("200 ")), []);
  assert.equal(opened.requests.filter((request) => request.includes("/data/3/")).length, 6);
});

test("the pixels between the centres of the cells are painted, and no others", async () => {
  const wanted = Array.from({ length: HEIGHT }, (_, y) => {
    const at = { lat: new Float64Array(WIDTH), lon: new Float64Array(WIDTH) };
    for (let x = 0; x < WIDTH; x += 1) {
      ({ lat: at.lat[x], lon: at.lon[x] } = placeOf({ x, y }));
    }
    const { row, column } = grid.locate(at);
    const within = (place, last) => place >= 0 && place <= last;
    return row.filter((_, x) => within(row[x], grid.rows - 1) && within(column[x], grid.columns - 1))
      .length;
  });
  const painted = await page.evaluate(([width, height]) => {
    const { data } = document.querySelector("canvas").getContext("2d").getImageData(0, 0, width, height);
    return Array.from({ length: height }, (_, y) => {
      let count = 0;
      for (let x = 0; x < width; x += 1) {
        count += data[4 * (y * width + x) + 3] === 255 ? 1 : 0;
      }
      return count;
    });
  }, [WIDTH, HEIGHT]);
  assert.deepEqual(painted, wanted);
  assert.equal(painted.reduce((sum, count) => sum + count), 165_521);
});

test("the colours are those of the values of points", async () => {
  const colours = new Set();
  for (const [row, column] of [[37, 68], [32, 46], [10, 20], [58, 30], [20, 70], [45, 5]]) {
    const { x, y } = pixelOf(grid.position({ row, column }));
    const kelvin = await between(grid, placeOf({ x, y }), async (cell) => {
      return (await temperatureOf({ row: cell.row, col: cell.column })).kelvin;
    });
    const got = await page.evaluate(
      ([x, y]) => [...document.querySelector("canvas").getContext("2d").getImageData(x, y, 1, 1).data],
      [x, y],
    );
    const wanted = colourOf(kelvin);
    got.forEach((part, channel) =>
      assert.ok(Math.abs(part - wanted[channel]) <= 1, `row ${row}, column ${column}: ${got}, ${wanted}`),
    );
    colours.add(String(got));
  }
  assert.ok(colours.size > 4, [...colours].join("; "));
});

test("a click shows the value of the cell, or why there is none", async () => {
  for (const place of [{ lat: 43.7, lon: -79.4 }, { lat: 19.4, lon: -99.1 }]) {
    const pixel = pixelOf(place);
    const { row, col, kelvin } = await temperatureOf(placeOf(pixel));
    await click(pixel, `row ${row}, column ${col}: ${kelvin} K`);
  }
  await screenshot(page, "models");
  const beyond = { x: 5, y: HEIGHT - 5 };
  const { lat, lon } = placeOf(beyond);
  await click(beyond, await json(`/models/nam211/locate?lat=${lat}&lon=${lon}`, 400));
});
