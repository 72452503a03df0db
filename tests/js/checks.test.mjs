// The entry with the quality checks: loading, results, and refusals.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { MesonetError, load } from "mesonet/checks";

const wasm = await readFile(fileURLToPath(import.meta.resolve("mesonet/checks.wasm")));
await assert.rejects(load(Uint8Array.of(1, 2, 3)), WebAssembly.CompileError);
const checks = await load(wasm);
const { BaseQuality, ReasonQuality, checkStation, explain } = checks;

const HOUR_MS = 3_600_000;
const site = { lon: -135.07, lat: 60.71, altitudeM: 706 };
const air = (more = {}) => ({
  variable: "airTemperature",
  intervalType: "Instantaneous",
  intervalMinutes: 0,
  tsMs: Float64Array.of(0, HOUR_MS),
  value: Float64Array.of(-12, 140),
  ...more,
});

test("loading again gives the same", async () => {
  assert.equal(await load(), checks);
});

test("verdicts come as codes, one column of each for each series", () => {
  const humidity = air({ variable: "relativeHumidity", tsMs: Float64Array.of(0), value: Float64Array.of(NaN) });
  const { Error, Good, Missing } = BaseQuality;
  assert.deepEqual(checkStation(site, [air(), humidity]), [
    { base: Uint8Array.of(Good, Error), reason: Uint8Array.of(ReasonQuality.None, ReasonQuality.Range) },
    { base: Uint8Array.of(Missing), reason: Uint8Array.of(ReasonQuality.Missing) },
  ]);
  assert.equal(checks.worst(checkStation(site, [air()])[0].base), "Error");
});

test("there may be no series, and no readings", () => {
  assert.deepEqual(checkStation(site, []), []);
  const [{ base, reason }] = checkStation(site, [
    air({ tsMs: new Float64Array(0), value: new Float64Array(0) }),
  ]);
  assert.deepEqual([base.length, reason.length], [0, 0]);
});

test("an explanation names the check that decided and its limits", () => {
  const explanation = explain(site, [air()], 0, 1);
  assert.deepEqual(explanation.verdict, { baseQuality: "Error", reasonQuality: "Range" });
  assert.equal(explanation.decidedBy, "range");
  assert.equal(explanation.timestamp, "1970-01-01T01:00:00Z");
  const ran = explanation.checks.filter((check) => check.ran);
  assert.deepEqual(ran.map(({ check }) => check), ["value", "range", "record"]);
  assert.ok(ran[1].limits.every(({ source }) => source.length > 0));
});

test("a missing value is null in the explanation", () => {
  const explanation = explain(site, [air({ value: Float64Array.of(1, NaN) })], 0, 1);
  assert.equal(explanation.value, null);
  assert.equal(explanation.verdict.baseQuality, "Missing");
});

test("the limits that ship given as limits change nothing", () => {
  const own = checkStation(site, [air()], checks.DEFAULT_LIMITS_TOML);
  assert.deepEqual(own, checkStation(site, [air()]));
});

test("null and undefined are left out alike", () => {
  const none = { calculated: null, reportedUnit: null, bucket: null, base: null, reason: null };
  const wanted = checkStation({ ...site, altitudeM: undefined }, [air()]);
  assert.deepEqual(checkStation({ ...site, altitudeM: null }, [air(none)], null), wanted);
});

test("the properties of a series count: another unit, a bucket, the source's verdict", () => {
  const bases = (more) => [...checkStation(site, [air(more)])[0].base];
  const { Error, Good } = BaseQuality;
  assert.deepEqual(bases({ calculated: true }), [Good, Error]);
  assert.notDeepEqual(bases({ reportedUnit: "K" }), [Good, Error]);
  assert.notDeepEqual(bases({ bucket: "1" }), [Good, Error]);
  const said = { base: new Uint8Array(2).fill(Good), reason: new Uint8Array(2) };
  assert.deepEqual(bases(said), [Good, Good]);
});

const check = (more) => () => checkStation(site, [air(more)]);
const refused = [
  ["no latitude", () => checkStation({ lon: 0, lat: NaN }, []), "latitude must be from -90 to 90; got NaN"],
  [
    "times that do not ascend",
    check({ tsMs: Float64Array.of(0, 0) }),
    "series 0: times must ascend; reading 1 is not later than the one before",
  ],
  [
    "parts of a millisecond",
    check({ tsMs: Float64Array.of(0, 0.5) }),
    "series 0: tsMs must be whole milliseconds; reading 1 is 0.5",
  ],
  [
    "no time",
    check({ tsMs: Float64Array.of(NaN, 0) }),
    "series 0: tsMs must be whole milliseconds; reading 0 is NaN",
  ],
  [
    "columns of different lengths",
    check({ value: Float64Array.of(1) }),
    "series 0: array lengths must match; got 2 for times, 1 for values",
  ],
  [
    "no code",
    check({ base: Uint8Array.of(6, 9), reason: new Uint8Array(2) }),
    "9 is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)",
  ],
  [
    "codes of different lengths",
    check({ base: Uint8Array.of(6, 6), reason: new Uint8Array(1) }),
    "array lengths must match; got 2 for base codes, 1 for reason codes",
  ],
  [
    "minutes that would wrap",
    check({ intervalMinutes: 2 ** 32 }),
    "series 0: intervalMinutes must be an integer from -2147483648 to 2147483647; got 4294967296",
  ],
  [
    "a reading that is not there",
    () => explain(site, [air()], 0, 2),
    "reading 2 of series 0 is not among the readings given",
  ],
  [
    "a reading before the first",
    () => explain(site, [air()], 0, -1),
    "whichReading must be an integer from 0 to 4294967295; got -1",
  ],
];
for (const [name, call, message] of refused) {
  test(`refused: ${name}`, () => {
    assert.throws(call, (error) => {
      assert.ok(error instanceof MesonetError);
      assert.equal(error.message, message);
      return true;
    });
  });
}

test("refused: unknown names", () => {
  assert.throws(check({ variable: "wind" }), MesonetError);
  assert.throws(check({ intervalType: "average" }), MesonetError);
});

const wrongClass = [
  ["no site", () => checkStation(undefined, []), "site must be an object; got undefined"],
  ["a place as text", () => checkStation({ lon: "0", lat: 0 }, []), "lon must be a number; got string"],
  [
    "an altitude as text",
    () => checkStation({ ...site, altitudeM: "706" }, []),
    "altitudeM must be a number; got string",
  ],
  ["one series alone", () => checkStation(site, air()), "series must be an array; got Object"],
  ["a gap", () => checkStation(site, [air(), , air()]), "series 1 must be an object; got undefined"],
  ["no variable", check({ variable: 3 }), "series 0: variable must be a string; got number"],
  [
    "times of 64 bits",
    check({ tsMs: new BigInt64Array(2) }),
    "series 0: tsMs must be a Float64Array; got BigInt64Array",
  ],
  ["plain values", check({ value: [1, 2] }), "series 0: value must be a Float64Array; got Array"],
  ["a flag", check({ calculated: 1 }), "series 0: calculated must be a boolean; got number"],
  ["half a verdict", check({ base: new Uint8Array(2) }), "series 0: base and reason go together; got only one"],
  [
    "plain codes",
    check({ base: [6, 6], reason: new Uint8Array(2) }),
    "series 0: base must be a Uint8Array; got Array",
  ],
  ["limits as an object", () => checkStation(site, [], {}), "limitsToml must be a string; got Object"],
  ["no reading", () => explain(site, [air()], 0), "whichReading must be a number; got undefined"],
];
for (const [name, call, message] of wrongClass) {
  test(`wrong class: ${name}`, () => {
    assert.throws(call, { name: "TypeError", message });
  });
}

test("results outlive later calls and growth of the memory", () => {
  const [first] = checkStation(site, [air()]);
  const length = 500_000;
  const tsMs = Float64Array.from({ length }, (_, at) => at * 60_000);
  const [{ base }] = checkStation(site, [air({ tsMs, value: new Float64Array(length) })]);
  assert.equal(base.length, length);
  assert.deepEqual(first.base, Uint8Array.of(BaseQuality.Good, BaseQuality.Error));
});
