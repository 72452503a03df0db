// What the facade promises beyond values: every argument is checked before WebAssembly coerces it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";

import * as mesonet from "mesonet";

const { BaseQuality, MesonetError, decodeTile, distinctWorstFirst, encodeTile, rotateWind, worst } =
  mesonet;
const { GHCNH_CHECKS, ISD, MADIS, QARTOD, convert, dewPointC, resolveUnit, toCanonical, windAt10m } = mesonet;
const plain = { scale: 1, offset: 0, nodata: -32768 };
const NO_CODE = "is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)";

const refused = [
  ["a code above bytes", () => worst([70000]), `70000 ${NO_CODE}`],
  ["a code below bytes", () => worst([-1]), `-1 ${NO_CODE}`],
  ["half a code", () => worst([2.5]), `2.5 ${NO_CODE}`],
  ["no number", () => distinctWorstFirst([NaN]), `NaN ${NO_CODE}`],
  ["the greatest wrong byte", () => worst(Uint8Array.of(9, 12)), `12 ${NO_CODE}`],
  [
    "a name that every object has",
    () => worst(["constructor"]),
    '"constructor" is not a quality name; allowed are Suppressed, Missing, Error, Doubtful, ' +
      "Inconsistent, Instrumentation, Good, Unknown",
  ],
  [
    "nodata that would wrap",
    () => decodeTile(new Uint8Array(2), { ...plain, nodata: 70000 }),
    "nodata must be an integer from -32768 to 32767; got 70000",
  ],
  [
    "nodata that would be cut",
    () => encodeTile(new Float64Array(1), { ...plain, nodata: 0.5 }),
    "nodata must be an integer from -32768 to 32767; got 0.5",
  ],
  [
    "winds of different lengths",
    () => rotateWind({ cos: 1, sin: 0 }, new Float64Array(2), new Float64Array(3)),
    "array lengths must match; got 2 for u, 3 for v",
  ],
  [
    "factors of another length",
    () =>
      rotateWind(
        { cos: new Float64Array(1), sin: new Float64Array(2) },
        new Float64Array(2),
        new Float64Array(2),
      ),
    "array lengths must match; got 2 for u, 2 for v, 1 for cos, 2 for sin",
  ],
  [
    "columns of different lengths",
    () => dewPointC(new Float64Array(2), new Float64Array(3)),
    "array lengths must match; got 2 for air_temperature_c, 3 for relative_humidity_pct, 2 for out",
  ],
  [
    "a unit that may be two",
    () => convert(1, "C", "K"),
    '"C" is ambiguous; it may stand for °C (degree Celsius) or C (coulomb)',
  ],
  [
    "units of two dimensions, and no value",
    () => convert(new Float32Array(0), "kt", "hPa"),
    "kt (knot) measures speed, hPa (hectopascal) pressure; allowed are two units of one dimension",
  ],
  [
    "no vocabulary",
    () => resolveUnit("kt", "SWOB"),
    '"SWOB" is not a vocabulary; allowed are swob, wmo, ucum, cf, metar, plain',
  ],
  [
    "a flag that would wrap",
    () => QARTOD.quality(2 ** 32 + 4),
    "flag must be an integer from -2147483648 to 2147483647; got 4294967300",
  ],
  ["a flag of two letters", () => MADIS.quality("VX"), 'flag must be one letter; got "VX"'],
];
for (const [name, call, message] of refused) {
  test(`refused: ${name}`, () => {
    assert.throws(call, (error) => {
      assert.ok(error instanceof MesonetError && error instanceof RangeError);
      assert.equal(error.name, "MesonetError");
      assert.equal(error.message, message);
      return true;
    });
  });
}

const wrongClass = [
  ["codes as text", () => worst("Good"), "codes must be a Uint8Array or iterable; got string"],
  ["no codes", () => worst(null), "codes must be a Uint8Array or iterable; got null"],
  ["a code that is neither", () => worst([true]), "a quality code is a number or a name; got boolean"],
  [
    "a tile of floats",
    () => decodeTile(new Float32Array(2), plain),
    "tile must be a Uint8Array, an ArrayBuffer or an Int16Array; got Float32Array",
  ],
  [
    "a tile of plain numbers",
    () => decodeTile([1, 2], plain),
    "tile must be a Uint8Array, an ArrayBuffer or an Int16Array; got Array",
  ],
  [
    "an object that only claims to be a tile",
    () => decodeTile({ [Symbol.toStringTag]: "Int16Array", length: 2 }, plain),
    "tile must be a Uint8Array, an ArrayBuffer or an Int16Array; got Int16Array",
  ],
  [
    "an object that only claims to be a buffer",
    () => decodeTile({ [Symbol.toStringTag]: "ArrayBuffer", byteLength: 2 }, plain),
    "tile must be a Uint8Array, an ArrayBuffer or an Int16Array; got ArrayBuffer",
  ],
  ["no encoding", () => decodeTile(new Uint8Array(2)), "encoding must be an object; got undefined"],
  [
    "an encoding without nodata",
    () => decodeTile(new Uint8Array(2), { scale: 1, offset: 0 }),
    "nodata must be a number; got undefined",
  ],
  [
    "a scale as text",
    () => decodeTile(new Uint8Array(2), { ...plain, scale: "1" }),
    "scale must be a number; got string",
  ],
  [
    "values of half precision",
    () => encodeTile(new Float32Array(1), plain),
    "values must be a Float64Array; got Float32Array",
  ],
  ["one component", () => rotateWind({ cos: 1, sin: 0 }, 1), "v must be a number; got undefined"],
  [
    "a component and an array",
    () => rotateWind({ cos: 1, sin: 0 }, new Float64Array(1), 1),
    "v must be a Float64Array; got number",
  ],
  [
    "one factor and an array",
    () => rotateWind({ cos: new Float64Array(1), sin: 0 }, new Float64Array(1), new Float64Array(1)),
    "sin must be a Float64Array; got number",
  ],
  [
    "a temperature as text",
    () => dewPointC("20", 50),
    "airTemperatureC must be a number or a Float64Array; got string",
  ],
  [
    "a missing input",
    () => windAt10m(new Float64Array(1), 4),
    "roughnessM must be a number or a Float64Array; got undefined",
  ],
  [
    "values of integers",
    () => convert(new Int16Array(1), "kt", "km/h"),
    "values must be a number, a Float64Array or a Float32Array; got Int16Array",
  ],
  ["a unit that is not a string", () => convert(1, 7, "km/h"), "from must be a string; got number"],
  [
    "an option that is not a boolean",
    () => convert(1, "kt", "km/h", { liquidWater: 1 }),
    "liquidWater must be a boolean; got number",
  ],
  [
    "values of single precision to store",
    () => toCanonical("windSpeed", new Float32Array(1), "kt"),
    "values must be a number or a Float64Array; got Float32Array",
  ],
  ["a letter for a number", () => QARTOD.quality("4"), "flag must be a number; got string"],
  ["a number for a letter", () => ISD.quality(4), "flag must be a string; got number"],
  ["no rotation", () => rotateWind(undefined, 1, 2), "rotation must be an object; got undefined"],
];
for (const [name, call, message] of wrongClass) {
  test(`wrong class: ${name}`, () => {
    assert.throws(call, { name: "TypeError", message });
  });
}

test("codes come as bytes, numbers, names or any iterable", () => {
  const given = [
    Uint8Array.of(6, 3),
    Buffer.from([6, 3]),
    new Uint8ClampedArray([6, 3]),
    [6, "Doubtful"],
    new Set(["Good", "Doubtful"]),
    (function* () {
      yield BaseQuality.Good;
      yield BaseQuality.Doubtful;
    })(),
  ];
  for (const codes of given) {
    assert.equal(worst(codes), "Doubtful");
  }
});

test("every set of codes has the worst and the distinct ones of the ranking, in any order", () => {
  const names = Object.keys(BaseQuality);
  for (let set = 0; set < 2 ** names.length; set += 1) {
    const distinct = names.filter((_, code) => set & (1 << code));
    const codes = distinct.map((name) => BaseQuality[name]);
    for (const given of [Uint8Array.from(codes), codes.toReversed(), [...distinct, ...codes]]) {
      assert.equal(worst(given), distinct[0] ?? "Unknown");
      assert.deepEqual(distinctWorstFirst(given), distinct);
    }
  }
});

test("arrays of other frames are arrays", () => {
  const tile = runInNewContext("Int16Array.of(1, -32768)");
  assert.deepEqual(decodeTile(tile, plain), Float64Array.of(1, NaN));
});

test("buffers of other frames are buffers", () => {
  const tile = runInNewContext("Int16Array.of(1, 2).buffer");
  assert.deepEqual(decodeTile(tile, plain), Float64Array.of(1, 2));
});

test("a part of a buffer is only that part", () => {
  const bytes = Uint8Array.of(9, 9, 1, 0, 2, 0, 9).subarray(2, 6);
  assert.deepEqual(decodeTile(bytes, plain), Float64Array.of(1, 2));
});

test("arguments are not changed", () => {
  const [u, v] = [Float64Array.of(3), Float64Array.of(10)];
  const wind = rotateWind({ cos: 0, sin: 1 }, u, v);
  assert.deepEqual([wind.u[0], wind.v[0], u[0], v[0]], [10, -3, 3, 10]);
});

test("units are converted in a copy", () => {
  const speeds = Float64Array.of(7, NaN);
  assert.deepEqual(convert(speeds, "kt", "km/h"), Float64Array.of(12.964, NaN));
  assert.deepEqual(toCanonical("windSpeed", speeds, "kt").values, Float64Array.of(12.964, NaN));
  assert.deepEqual(speeds, Float64Array.of(7, NaN));
});

test("a number counts for every place of the arrays", () => {
  const winds = windAt10m(Float64Array.of(12.964, 36, 36), Float64Array.of(10, 4, 0), 0.0002);
  assert.deepEqual(winds.map((wind) => Math.round(wind * 1000)), Float64Array.of(12964, 39331, NaN));
  assert.equal(windAt10m(12.964, 10, 0.03), 12.964);
  assert.deepEqual(windAt10m(new Float64Array(0), 10, 0.03), new Float64Array(0));
});

test("verdicts without a flag in a scheme are undefined", () => {
  assert.equal(QARTOD.flag("Suppressed"), undefined);
  assert.deepEqual(MADIS.quality("v"), { base: "Unknown", reason: "Unknown" });
  assert.deepEqual(ISD.quality("3"), { base: "Error", reason: "Unknown" });
  assert.deepEqual(GHCNH_CHECKS.quality("z"), { base: "Inconsistent", reason: "Unknown" });
  assert.equal(GHCNH_CHECKS.flag("Good"), undefined);
});

test("tables of codes cannot be changed", () => {
  assert.throws(() => {
    BaseQuality.Good = 0;
  }, TypeError);
});

test("results outlive later calls and growth of the memory", () => {
  const first = decodeTile(Int16Array.of(1, 2), plain);
  decodeTile(new Int16Array(4_000_000), plain);
  assert.deepEqual(first, Float64Array.of(1, 2));
});
