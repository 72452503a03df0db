// Colours of values and tiles, and rooms in the memory of WebAssembly.
import assert from "node:assert/strict";
import { test } from "node:test";

import { MesonetError, colours, decodeTile, tileColours, tileRoom } from "mesonet";

const encoding = { scale: 0.01, offset: 273.15, nodata: -32768 };
const stops = [
  { value: 253.15, rgba: [10, 200, 0, 255] },
  { value: 273.15, rgba: [20, 100, 0, 0] },
  { value: 273.15, rgba: [0, 0, 255, 128] },
  { value: 293.15, rgba: [255, 0, 0, 255] },
];
const allRaw = new Uint8Array(Uint16Array.from({ length: 65536 }, (_, raw) => raw).buffer);

test("colours are mixed between stops, those of the ends beyond, transparent for NaN", () => {
  const values = Float64Array.of(-Infinity, 253.15, 258.15, 273.15, 283.15, 400, NaN);
  assert.deepEqual([...colours(values, stops)], [
    ...[10, 200, 0, 255],
    ...[10, 200, 0, 255],
    ...[12, 175, 0, 191],
    ...[0, 0, 255, 128],
    ...[128, 0, 128, 192],
    ...[255, 0, 0, 255],
    ...[0, 0, 0, 0],
  ]);
});

test("a tile is painted with the colours of its values, all 65536 of them", () => {
  const table = tileColours(encoding, stops);
  const wanted = colours(decodeTile(allRaw, encoding), stops);
  const pixels = table.paint(allRaw);
  assert.ok(pixels instanceof Uint8ClampedArray);
  assert.deepEqual(pixels, wanted);
  assert.deepEqual(table.paint(allRaw.buffer), wanted);
  assert.deepEqual(table.paint(new Uint8Array(0)), new Uint8ClampedArray(0));
});

test("a room gives the same without copies, tile after tile", () => {
  const [room, table] = [tileRoom(65536), tileColours(encoding, stops)];
  const wanted = { values: decodeTile(allRaw, encoding), pixels: table.paint(allRaw) };
  for (let tile = 0; tile < 2; tile += 1) {
    room.bytes.set(allRaw);
    assert.deepEqual(room.decode(encoding).slice(), wanted.values);
    assert.deepEqual(room.paint(table).slice(), wanted.pixels);
    assert.deepEqual(room.bytes.slice(), allRaw);
  }
  // Another room makes the memory grow; asked for anew, the arrays are there.
  const other = tileRoom(2 ** 22);
  other.bytes.fill(1);
  assert.deepEqual(room.bytes.slice(), allRaw);
  for (const one of [room, other, table]) {
    one.free();
  }
});

test("what was freed says so", () => {
  const [room, table] = [tileRoom(1), tileColours(encoding, stops)];
  table.free();
  assert.throws(() => table.paint(allRaw), { name: "MesonetError", message: "this table of colours was freed" });
  assert.throws(() => room.paint(table), { name: "MesonetError", message: "this table of colours was freed" });
  room.free();
  assert.throws(() => room.bytes, { name: "MesonetError", message: "this room was freed" });
  assert.throws(() => room.decode(encoding), { name: "MesonetError", message: "this room was freed" });
});

const stop = (more) => [{ value: 0, rgba: [0, 0, 0, 0], ...more }];
const refused = [
  [() => colours(new Float64Array(1), []), "a scale of colours needs at least one stop; got none"],
  [() => tileColours(encoding, [stops[3], stops[0]]), "stops must ascend; stop 1 is less than the one before"],
  [() => tileColours(encoding, stop({ value: NaN })), "stops must be finite; stop 0 is NaN"],
  [
    () => tileColours(encoding, stop({ rgba: [0, 0, 256, 0] })),
    "stop 0: rgba must be an integer from 0 to 255; got 256",
  ],
  [() => tileColours(encoding, stop({ rgba: [0, -1, 0, 0] })), "stop 0: rgba must be an integer from 0 to 255; got -1"],
  [() => tileColours(encoding, stop({ rgba: [0, 0.5, 0, 0] })), "stop 0: rgba must be an integer from 0 to 255; got 0.5"],
  [() => tileColours(encoding, stop({ rgba: [0, 0, 0] })), "stop 0: rgba must be four numbers; got 3"],
  [() => tileColours({ ...encoding, scale: 0 }, stops), "scale must be finite and not 0; got 0"],
  [() => tileColours(encoding, stops).paint(new Uint8Array(3)), "a tile is pairs of bytes; got 3 bytes"],
  [() => tileRoom(-1), "values must be an integer from 0 to 134217728; got -1"],
  [() => tileRoom(1.5), "values must be an integer from 0 to 134217728; got 1.5"],
  [() => tileRoom(2 ** 32), "values must be an integer from 0 to 134217728; got 4294967296"],
];
for (const [call, message] of refused) {
  test(`refused: ${message}`, () => {
    assert.throws(call, (error) => error instanceof MesonetError && error.message === message);
  });
}

/** An array whose buffer was transferred away. */
function detached(array) {
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}
const table = tileColours(encoding, stops);
const lost = "has lost its content: its buffer was transferred";
const wrongClass = [
  [() => table.paint(new Uint8ClampedArray(2)), "tile must be a Uint8Array or an ArrayBuffer; got Uint8ClampedArray"],
  [() => table.paint(new Int16Array(2)), "tile must be a Uint8Array or an ArrayBuffer; got Int16Array"],
  [() => table.paint([1, 2]), "tile must be a Uint8Array or an ArrayBuffer; got Array"],
  [() => table.paint(detached(new Uint8Array(2))), `tile ${lost}`],
  [() => table.paint(detached(new Uint8Array(2)).buffer), `tile ${lost}`],
  [() => decodeTile(detached(new Uint8Array(2)), encoding), `tile ${lost}`],
  [() => decodeTile(detached(new Int16Array(2)), encoding), `tile ${lost}`],
  [() => colours(detached(new Float64Array(2)), stops), `values ${lost}`],
  [() => colours(new Float32Array(1), stops), "values must be a Float64Array; got Float32Array"],
  [() => colours(new Float64Array(1), { 0: [0, 0, 0, 0] }), "stops must be an array; got Object"],
  [() => colours(new Float64Array(1), [[0, 0, 0, 0]]), "stop 0: value must be a number; got undefined"],
  [() => colours(new Float64Array(1), stop({ value: 1n })), "stop 0: value must be a number; got bigint"],
  [() => colours(new Float64Array(1), stop({ rgba: "red" })), "stop 0: rgba must be an array; got string"],
  [() => tileRoom(1n), "values must be a number; got bigint"],
  [() => tileRoom(1).paint({ paint() {} }), "colours must be made by tileColours; got Object"],
];
for (const [call, message] of wrongClass) {
  test(`a wrong class: ${message}`, () => {
    assert.throws(call, { name: "TypeError", message });
  });
}

test("refused: an array that is too long for the memory", () => {
  // Never touched, so it takes no memory.
  const long = new Uint8Array(2 ** 30 + 2);
  const message = "tile must have at most 1073741824 bytes; got 1073741826";
  assert.throws(() => decodeTile(long, encoding), { name: "MesonetError", message });
  assert.throws(() => table.paint(long), { name: "MesonetError", message });
});
