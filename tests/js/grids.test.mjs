// What the facade of native grids promises beyond values.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { FileSystemStore } from "@zarrita/storage";
import { MesonetError, load } from "mesonet/grids";
import * as zarr from "zarrita";

const { Blocks, nativeGrid } = await load(
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

const run = (form) => new URL(`../data/model_grids/${form}/nam211/20180917T000000Z`, import.meta.url).pathname;

test("zarrita reads a model run, and finds the values of its plain form", async () => {
  zarr.registry.set(Blocks.codecName, async () => Blocks);
  for (const name of ["u", "v", "prmsl"]) {
    const [ours, plain] = await Promise.all(
      ["store", "version_3"].map(async (form) => {
        const array = await zarr.open(zarr.root(new FileSystemStore(run(form))).resolve(name), { kind: "array" });
        return zarr.get(array);
      }),
    );
    assert.equal(ours.data.length > 6000, true, name);
    assert.deepEqual([...ours.shape], [...plain.shape]);
    assert.deepEqual(ours.data, plain.data, name);
    // One row: the chunks of the others are not read.
    const array = await zarr.open(zarr.root(new FileSystemStore(run("store"))).resolve(name), { kind: "array" });
    const before = ours.shape.slice(0, -2).map(() => 0);
    const row = await zarr.get(array, [...before, 40, null]);
    assert.deepEqual(row.data, ours.data.slice(40 * 93, 41 * 93));
  }
});

const chunk = { dataType: "int16", shape: [1, 16, 32] };
const refusedByCodec = [
  ["a configuration", () => Blocks.fromConfig({ level: 3 }, chunk), "mesonet.blocks has no configuration; got level"],
  ["other numbers", () => Blocks.fromConfig({}, { ...chunk, dataType: "float32" }), "mesonet.blocks takes arrays of int16; got float32"],
  ["one axis", () => Blocks.fromConfig({}, { ...chunk, shape: [16] }), "mesonet.blocks takes arrays of two or more axes; got 1"],
  [
    "a number of rows that is not a multiple of 16",
    () => Blocks.fromConfig({}, { ...chunk, shape: [2, 10, 16] }).decode(new Uint8Array(9)),
    "invalid chunk of 2 × 10 × 16: rows and columns must be multiples of 16, with 1 to 256 planes and at most 67108864 values",
  ],
  ["no bytes", () => Blocks.fromConfig({}, chunk).decode(new Uint8Array()), "the bytes are not a chunk of mesonet.blocks of this shape"],
  ["bytes of another kind", () => Blocks.fromConfig(undefined, chunk).decode(new Uint8Array(64).fill(1)), "the bytes are not a chunk of mesonet.blocks of this shape"],
  ["writing", () => Blocks.fromConfig({}, chunk).encode(), "mesonet.blocks is only read here; the server and the wheel write it"],
];
for (const [name, call, message] of refusedByCodec) {
  test(`the codec refuses ${name}`, () => {
    assert.throws(call, (error) => error instanceof MesonetError && error.message === message);
  });
}
