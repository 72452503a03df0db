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

/** Longer than what passes through the memory of WebAssembly at once, with a rest behind whole vectors. */
const long = new Uint8Array(Uint16Array.from({ length: 3 * 65536 + 5 }, (_, at) => at).buffer);

test("a caller's arrays take the values and the pixels, and are what comes back", () => {
  const values = Float64Array.from(new Int16Array(long.buffer), (raw) =>
    raw === encoding.nodata ? NaN : raw * encoding.scale + encoding.offset,
  );
  const kept = new Float64Array(values.length + 2).fill(7);
  const out = kept.subarray(1, -1);
  assert.equal(decodeTile(long, encoding, { out }), out);
  assert.deepEqual(out, values);
  assert.deepEqual([kept[0], kept.at(-1)], [7, 7], "nothing is written beside it");
  assert.deepEqual(decodeTile(new Int16Array(long.buffer), encoding), values);
  assert.deepEqual(decodeTile(long, encoding, { out: undefined }), values);

  const table = tileColours(encoding, stops);
  const wanted = table.paint(long);
  assert.deepEqual(wanted, colours(values, stops));
  for (const pixels of [new Uint8ClampedArray(wanted.length), new Uint8Array(wanted.length)]) {
    assert.equal(table.paint(long, { out: pixels }), pixels);
    assert.deepEqual(new Uint8ClampedArray(pixels), wanted);
  }
  table.free();
});

test("values in single precision are those of double precision, rounded once", () => {
  const others = [{ scale: 0.1, offset: -1e-9, nodata: 0 }, { scale: -3e37, offset: 1, nodata: 32767 }];
  for (const of of [encoding, ...others]) {
    const wanted = Float32Array.from(decodeTile(long, of));
    const out = new Float32Array(wanted.length);
    assert.equal(decodeTile(long, of, { out }), out);
    assert.deepEqual(out, wanted);
    const room = tileRoom(wanted.length);
    room.bytes.set(long);
    assert.deepEqual(room.decodeFloat32(of).slice(), wanted);
    assert.deepEqual(room.decode(of).slice(), decodeTile(long, of));
    room.free();
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

const kept = Float64Array.of(1, 2);
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
  [
    () => decodeTile(new Uint8Array(4), encoding, { out: new Float64Array(3) }),
    "out must have 2 places, one for each value of the tile; got 3",
  ],
  [
    () => tileColours(encoding, stops).paint(new Uint8Array(4), { out: new Uint8ClampedArray(4) }),
    "out must have 8 places, four for each value of the tile; got 4",
  ],
  [
    () => decodeTile(new Uint8Array(kept.buffer, 4, 4), encoding, { out: kept }),
    "out must not share memory with the tile",
  ],
  [() => decodeTile(new Uint8Array(3), encoding, { out: kept }), "a tile is pairs of bytes; got 3 bytes"],
  [
    () => decodeTile(new Uint8Array(4), { ...encoding, scale: 0 }, { out: kept }),
    "scale must be finite and not 0; got 0",
  ],
  [() => decodeTile(new Uint8Array(0), { ...encoding, offset: NaN }), "offset must be finite; got NaN"],
  [() => tileRoom(-1), "values must be an integer from 0 to 134217728; got -1"],
  [() => tileRoom(1.5), "values must be an integer from 0 to 134217728; got 1.5"],
  [() => tileRoom(2 ** 32), "values must be an integer from 0 to 134217728; got 4294967296"],
];
for (const [call, message] of refused) {
  test(`refused: ${message}`, () => {
    assert.throws(call, (error) => error instanceof MesonetError && error.message === message);
    assert.deepEqual([...kept], [1, 2], "nothing was written");
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
  [
    () => decodeTile(new Uint8Array(4), encoding, { out: new Int16Array(2) }),
    "out must be a Float64Array or a Float32Array; got Int16Array",
  ],
  [
    () => decodeTile(new Uint8Array(4), encoding, { out: [0, 0] }),
    "out must be a Float64Array or a Float32Array; got Array",
  ],
  [() => decodeTile(new Uint8Array(4), encoding, null), "options must be an object; got null"],
  [() => decodeTile(new Uint8Array(2), encoding, { out: detached(new Float64Array(1)) }), `out ${lost}`],
  [
    () => table.paint(new Uint8Array(2), { out: new Float32Array(4) }),
    "out must be a Uint8ClampedArray or a Uint8Array; got Float32Array",
  ],
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
