// What the facade of native grids promises beyond values.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { MesonetError, load } from "mesonet/grids";

const { nativeGrid } = await load(
  await readFile(fileURLToPath(import.meta.resolve("mesonet/grids.wasm"))),
);
const vectors = JSON.parse(
  await readFile(new URL("../vectors/native_grid.json", import.meta.url)),
);
const definitionOf = (name) => vectors.grids.find((grid) => grid.name === name).definition;
const nam = nativeGrid(definitionOf("NAM211"));

const refused = [
  [
    "half a row",
    () => nam.position({ row: 0.5, column: 0 }),
    "row must be an integer from 0 to 4294967295; got 0.5",
  ],
  [
    "a row before the first",
    () => nam.windRotation({ row: -1, column: 0 }),
    "row must be an integer from 0 to 4294967295; got -1",
  ],
  [
    "arrays of different lengths",
    () => nam.locate({ lat: new Float64Array(2), lon: new Float64Array(3) }),
    "array lengths must match; got 3 for lon, 2 for lat, 3 for row, 3 for column",
  ],
  [
    "rows and columns of different lengths",
    () => nam.position({ row: new Uint32Array(2), column: new Uint32Array(3) }),
    "array lengths must match; got 2 for row, 3 for column, 2 for lon, 2 for lat",
  ],
  [
    "an array of cells, one of them off the grid",
    () => nam.position({ row: Uint32Array.of(0, 65), column: Uint32Array.of(0, 0) }),
    "row 65, column 0 is not on the grid; allowed are rows 0 to 64 and columns 0 to 92",
  ],
  [
    "no number",
    () => nam.nearest({ lat: NaN, lon: 0 }),
    "latitude must be from -90 to 90; got NaN",
  ],
  [
    "an array as a definition",
    () => nativeGrid([]),
    "rows of a grid must be a whole number that is not negative; got nothing",
  ],
];
for (const [name, call, message] of refused) {
  test(`refused: ${name}`, () => {
    assert.throws(call, (error) => error instanceof MesonetError && error.message === message);
  });
}

const wrongClass = [
  [() => nativeGrid(null), "definition must be an object; got null"],
  [() => nam.locate(43), "position must be an object; got number"],
  [() => nam.locate({ lon: -79 }), "lat must be a number; got undefined"],
  [() => nam.nearest({ lat: [43], lon: [0] }), "lon must be a Float64Array; got Array"],
  [
    () => nam.position({ row: new Float64Array(1), column: new Float64Array(1) }),
    "row must be a Uint32Array; got Float64Array",
  ],
];
for (const [call, message] of wrongClass) {
  test(`a wrong class: ${message}`, () => {
    assert.throws(call, (error) => error instanceof TypeError && error.message === message);
  });
}

test("whole grids are their cells", () => {
  const [{ lat, lon }, { cos, sin }] = [nam.positions(), nam.windRotations()];
  const cells = nam.rows * nam.columns;
  const row = Uint32Array.from({ length: cells }, (_, cell) => Math.floor(cell / nam.columns));
  const column = Uint32Array.from({ length: cells }, (_, cell) => cell % nam.columns);
  assert.deepEqual(nam.position({ row, column }), { lat, lon });
  assert.deepEqual(nam.windRotation({ row, column }), { cos, sin });
  assert.equal(lat.length, cells);
});

test("cells come back from their positions, and other members are ignored", () => {
  const hrdps = nativeGrid({ ...definitionOf("HRDPS"), ny: 1290, nx: 2540, corners: [] });
  const cells = { row: Uint32Array.of(0, 700, 1289), column: Uint32Array.of(0, 1300, 2539) };
  assert.deepEqual(hrdps.nearest(hrdps.position(cells)), cells);
});

test("positions beyond the grid are NaN, and so are those with NaN", () => {
  const at = { lat: Float64Array.of(43.7, 48.9, NaN), lon: Float64Array.of(-79.4, 2.4, 0) };
  const { row, column } = nam.locate(at);
  assert.deepEqual([...row].map(Number.isNaN), [false, true, true]);
  assert.deepEqual([...column].map(Number.isNaN), [false, true, true]);
  assert.equal(nam.locate({ lat: 43.7, lon: -79.4 }).row, row[0]);
});

test("a grid does not change", () => {
  assert.throws(() => {
    nam.rows = 1;
  }, TypeError);
  assert.throws(() => {
    nam.firstXy[0] = 1;
  }, TypeError);
});
