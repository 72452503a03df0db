// The model service and the package: the same cells, rotations and values, from a running server.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";

import { decodeTile, rotateWind } from "mesonet";
import { MesonetError, load } from "mesonet/grids";

import { latOf, lonOf } from "./map.mjs";
import { between, client } from "./model_client.mjs";
import { startServer } from "./server.mjs";

const SIDE = 256;
const RUNS = { nam211: "20180917T000000Z", safrica: "20100308T120000Z" };
// Out of 64 places spread over the box of each grid.
const COUNTS = { nam211: { on: 47, beyond: 17 }, safrica: { on: 44, beyond: 20 } };
const { nativeGrid } = await load(
  await readFile(fileURLToPath(import.meta.resolve("mesonet/grids.wasm"))),
);

let server;
let json;

before(async () => {
  server = await startServer();
  json = client(server.origin);
});

after(() => server?.stop());

for (const model of Object.keys(RUNS)) {
  test(`the library finds the cells of ${model} that the service finds`, async () => {
    const grid = nativeGrid(await json(`/models/${model}/grid`));
    const { minLat, maxLat, minLon, maxLon } = (await json("/models/coverage")).models[model].bounds;
    const found = { on: 0, beyond: 0 };
    for (let i = 0; i < 8; i += 1) {
      for (let j = 0; j < 8; j += 1) {
        const lat = minLat + ((maxLat - minLat) * (i + 0.3)) / 8;
        const lon = minLon + ((maxLon - minLon) * (j + 0.6)) / 8;
        const path = `/models/${model}/locate?lat=${lat}&lon=${lon}`;
        const place = grid.locate({ lat, lon });
        if (Number.isNaN(place.row)) {
          const refusal = await json(path, 400);
          const refused = (error) => error instanceof MesonetError && error.message === refusal;
          assert.throws(() => grid.nearest({ lat, lon }), refused);
          found.beyond += 1;
          continue;
        }
        // To the bit: JSON has all digits of a number.
        const { run, distance_km, ...got } = await json(path);
        const { row, column } = grid.nearest({ lat, lon });
        assert.deepEqual(got, {
          row,
          col: column,
          ...grid.position({ row, column }),
          fractional_row: place.row,
          fractional_col: place.column,
          wind_rotation: grid.windRotation({ row, column }),
        });
        assert.equal(run, RUNS[model]);
        assert.ok(distance_km >= 0 && distance_km < 81.3 * Math.SQRT1_2 * 1.1, `${distance_km}`);
        found.on += 1;
      }
    }
    assert.deepEqual(found, COUNTS[model]);
  });
}

/** A tile of NAM as the package decodes it, and where its pixels lie on the grid. */
async function tileOf(name, { z, x, y, level }) {
  const { products } = await json("/models/nam211/products");
  const { encoding, levels_hpa } = products.find((product) => product.name === name);
  const query = `run=${RUNS.nam211}&hour=0${levels_hpa ? `&level=${level}` : ""}`;
  const path = `/models/nam211/products/${name}/data/${z}/${x}/${y}?${query}`;
  const response = await fetch(server.origin + path);
  assert.equal(response.status, 200);
  const values = decodeTile(await response.arrayBuffer(), encoding);
  assert.equal(values.length, SIDE * SIDE);
  const placeOf = (row, column) => ({ lat: latOf(y * SIDE + row, z), lon: lonOf(x * SIDE + column, z) });
  return { values, placeOf, step: encoding.scale };
}

/** Returns the values of one cell at the first hour, by field. */
async function cellOf({ row, column }, fields, level) {
  const query = `run=${RUNS.nam211}&hour=0&row=${row}&col=${column}&fields=${fields}&level=${level}`;
  const answer = await json(`/models/nam211/point?${query}`);
  const values = fields.map((name) => answer.fields[name].value ?? answer.fields[name].values[0]);
  return { values, rotation: answer.wind_rotation };
}

const PIXELS = [[0, 0], [255, 255], [17, 200], [128, 90], [200, 31]];

test("a tile of temperature is what lies between the cells", async () => {
  const grid = nativeGrid(await json("/models/nam211/grid"));
  const { values, placeOf, step } = await tileOf("temperature", { z: 4, x: 4, y: 5, level: 6 });
  for (const [row, column] of PIXELS) {
    const wanted = await between(grid, placeOf(row, column), async (cell) => {
      return (await cellOf(cell, ["temperature"], 6)).values[0];
    });
    assert.ok(Math.abs(values[row * SIDE + column] - wanted) <= 0.5000001 * step, `${row} ${column}`);
  }
});

test("a tile of a wind is what lies between winds that the package turned", async () => {
  const grid = nativeGrid(await json("/models/nam211/grid"));
  const { values, placeOf, step } = await tileOf("v_wind_10m", { z: 4, x: 4, y: 5 });
  let turned = 0;
  for (const [row, column] of PIXELS) {
    const wanted = await between(grid, placeOf(row, column), async (cell) => {
      const { values: [u, v], rotation } = await cellOf(cell, ["u_wind_10m", "v_wind_10m"], 0);
      assert.deepEqual(rotation, grid.windRotation(cell));
      const earth = rotateWind(rotation, u, v);
      turned = Math.max(turned, Math.abs(earth.v - v));
      return earth.v;
    });
    assert.ok(Math.abs(values[row * SIDE + column] - wanted) <= 0.5000001 * step, `${row} ${column}`);
  }
  assert.ok(turned > 10 * step, `${turned}`);
});

test("a cached tile is not sent again", async () => {
  const path = `/models/nam211/products/temperature_2m/data/4/4/5?run=${RUNS.nam211}&hour=0`;
  const first = await fetch(server.origin + path);
  assert.equal((await first.arrayBuffer()).byteLength, 2 * SIDE * SIDE);
  const headers = { "if-none-match": first.headers.get("etag") };
  const again = await fetch(server.origin + path, { headers });
  assert.deepEqual([again.status, await again.text()], [304, ""]);
});
