// The time grid, plans and lookback: the same results as the core's own examples, and refusals.
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  MesonetError,
  capabilities,
  checkLookback,
  pickSeries,
  planGrid,
  resample,
  seriesTable,
} from "mesonet";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const minutes = (...of) => Float64Array.from(of, (minute) => minute * MINUTE);

test("positions are start, start + step, and the end itself", () => {
  const { stepMinutes, tsMs, coarsening } = planGrid({ startMs: 0, endMs: 25 * MINUTE, stepMinutes: 10 });
  assert.deepEqual([stepMinutes, coarsening], [10, undefined]);
  assert.deepEqual(tsMs, minutes(0, 10, 20, 25));
});

test("a grid that does not fit is made coarser, and says why", () => {
  const week = { startMs: 0, endMs: 7 * DAY, stepMinutes: 60 };
  assert.deepEqual(planGrid({ ...week, stations: 10_000, names: 8 }).coarsening, {
    requestedStep: 60,
    factor: 34,
    limitedBy: "cells",
    cells: 480_000,
    positions: 6,
  });
  const plan = planGrid({ startMs: 0, endMs: 2 * DAY, stepMinutes: 1, caps: { positions: 100 } });
  assert.deepEqual([plan.coarsening.factor, plan.coarsening.limitedBy], [30, "positions"]);
  assert.equal(plan.tsMs.length, plan.coarsening.positions);
});

test("each position has the latest reading at or before it, of each series its own", () => {
  const [tsMs, value] = [minutes(5, 12, 0), Float64Array.of(20.5, 21, 3)];
  const grid = { startMs: 0, endMs: 20 * MINUTE, stepMinutes: 10, maxAgeMs: 15 * MINUTE };
  const wanted = {
    stepMinutes: 10,
    tsMs: minutes(0, 10, 20),
    value: Float64Array.of(NaN, 20.5, 21, 3, 3, NaN),
    ageMs: Float64Array.of(NaN, 5 * MINUTE, 8 * MINUTE, 0, 10 * MINUTE, NaN),
    reading: Int32Array.of(-1, 0, 1, 2, 2, -1),
  };
  const offsets = Uint32Array.of(0, 2, 3);
  assert.deepEqual(resample(tsMs, value, { ...grid, offsets }), wanted);
  const table = seriesTable(tsMs, value, offsets);
  assert.equal(table.series, 2);
  assert.deepEqual(table.resample(grid), wanted);
  assert.deepEqual(table.resample(grid), wanted, "a table is kept");
  const first = resample(tsMs.slice(0, 2), value.slice(0, 2), grid);
  assert.deepEqual(first.value, wanted.value.slice(0, 3));
});

test("times may be whole minutes", () => {
  const [ts, value, offsets] = [Int32Array.of(5, 12, -2), Float64Array.of(20.5, 21, 3), Uint32Array.of(0, 2, 3)];
  const grid = { startMs: -5 * MINUTE, endMs: 20 * MINUTE, stepMinutes: 10 };
  const wanted = resample(minutes(...ts), value, { ...grid, offsets });
  assert.deepEqual(resample(ts, value, { ...grid, offsets }), wanted);
  assert.deepEqual(seriesTable(ts, value, offsets).resample(grid), wanted);
  assert.deepEqual(resample(ts.subarray(0, 2), value.subarray(0, 2), grid).reading, wanted.reading.subarray(0, 4));
});

test("a caller's arrays take the cells, however many", () => {
  // More cells than are filled at once, and series of all lengths, some with more readings than positions.
  const lengths = Array.from({ length: 9000 }, (_, which) => (which % 100 === 0 ? 200 : (which * 7) % 40));
  const offsets = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, which) => (offsets[which + 1] = offsets[which] + length));
  const ts = new Int32Array(offsets.at(-1));
  lengths.forEach((length, which) => {
    for (let at = 0; at < length; at += 1) {
      ts[offsets[which] + at] = at * (1 + (which % 5)) - 3;
    }
  });
  const value = Float64Array.from(ts, (_, at) => at / 3);
  const grid = { startMs: 0, endMs: 30 * MINUTE, stepMinutes: 15, maxAgeMs: 20 * MINUTE };
  const wanted = { value: [], ageMs: [], reading: [] };
  lengths.forEach((_, which) => {
    for (const at of [0, 15, 30]) {
      let found = -1;
      for (let reading = offsets[which]; reading < offsets[which + 1] && ts[reading] <= at; reading += 1) {
        found = reading;
      }
      found = found >= 0 && at - ts[found] <= 20 ? found : -1;
      wanted.reading.push(found);
      wanted.value.push(found < 0 ? NaN : value[found]);
      wanted.ageMs.push(found < 0 ? NaN : (at - ts[found]) * MINUTE);
    }
  });
  const cells = 3 * lengths.length;
  const out = { value: new Float64Array(cells), ageMs: new Float64Array(cells), reading: new Int32Array(cells) };
  const table = seriesTable(ts, value, offsets);
  const filled = table.resample({ ...grid, out });
  for (const column of ["value", "ageMs", "reading"]) {
    assert.equal(filled[column], out[column]);
    assert.deepEqual([...out[column]], wanted[column]);
  }
  assert.deepEqual(table.resample(grid), filled, "without arrays they are made");
  const single = table.resample({ ...grid, out: { value: new Float32Array(cells) } });
  assert.deepEqual(single, { ...filled, value: Float32Array.from(wanted.value) });
});

test("nothing is written if an output is refused", () => {
  const out = { value: Float64Array.of(1, 1), ageMs: Float64Array.of(1, 1), reading: Int32Array.of(1) };
  const message = "out.reading must have 2 places, one for each series and position; got 1";
  const table = seriesTable(minutes(0), Float64Array.of(5), Uint32Array.of(0, 1));
  const call = () => table.resample({ startMs: 0, endMs: MINUTE, stepMinutes: 1, out });
  assert.throws(call, { name: "MesonetError", message });
  assert.deepEqual([...out.value, ...out.ageMs], [1, 1, 1, 1]);
});

test("a reading without a value fills its position; no series gives no cells", () => {
  const grid = { startMs: 0, endMs: MINUTE, stepMinutes: 1 };
  const { value, reading } = resample(minutes(0), Float64Array.of(NaN), grid);
  assert.deepEqual([value, reading], [Float64Array.of(NaN, NaN), Int32Array.of(0, 0)]);
  const none = new Float64Array(0);
  assert.equal(resample(none, none, { ...grid, offsets: Uint32Array.of(0) }).value.length, 0);
});

test("with caps the step is made coarser, by the number of series", () => {
  const grid = { startMs: 0, endMs: 60 * MINUTE, stepMinutes: 1, caps: { cells: 10 } };
  const filled = resample(minutes(0), Float64Array.of(1), { ...grid, offsets: Uint32Array.of(0, 1, 1) });
  assert.equal(filled.stepMinutes, 15);
  assert.equal(filled.coarsening.limitedBy, "cells");
  assert.deepEqual(filled.tsMs, minutes(0, 15, 30, 45, 60));
  assert.equal(filled.value.length, 10);
});

test("the preferred series fills a position while it is current", () => {
  const grid = { startMs: 0, endMs: 3 * HOUR, stepMinutes: 60 };
  const picks = pickSeries([minutes(0), minutes(0, 60, 120, 180)], grid);
  assert.deepEqual(picks, { series: Int32Array.of(0, 0, 1, 1), reading: Int32Array.of(0, 0, 2, 3) });
  const old = pickSeries([minutes(0)], { ...grid, maxAgeMs: HOUR });
  assert.deepEqual(old, { series: Int32Array.of(0, 0, -1, -1), reading: Int32Array.of(0, 0, -1, -1) });
  assert.deepEqual(pickSeries([], grid).series, Int32Array.of(-1, -1, -1, -1));
});

test("a table that was freed says so, and freeing it again does nothing", () => {
  const table = seriesTable(minutes(0), Float64Array.of(1), Uint32Array.of(0, 1));
  table[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
  table.free();
  const run = () => table.resample({ startMs: 0, endMs: MINUTE, stepMinutes: 1 });
  assert.throws(run, { name: "MesonetError", message: "this table of series was freed" });
});

test("capabilities are those that the service answers", () => {
  const { products, limits } = capabilities();
  assert.deepEqual(products["historical.bulk"], {
    allowed: false,
    requires: "commercial",
    requiresStanding: "none",
  });
  assert.equal(products["stations.map"].allowed, true);
  assert.deepEqual(limits, { maxWindowMs: 7 * DAY, maxReachMs: 7 * DAY });
  assert.deepEqual(capabilities("commercial").limits, { maxWindowMs: null, maxReachMs: null });
  // What is not reserved for staff needs the plan of everybody.
  assert.equal(capabilities("none", { staff: true }).products["historical.bulk"].allowed, false);
});

test("a window within the lookback passes, one hour of grace included", () => {
  checkLookback(-7 * DAY, 0, "free", 0);
  checkLookback(-2 * DAY, -DAY, "none", 6 * DAY + HOUR);
  checkLookback(-36_500 * DAY, 0, "commercial", 0);
  checkLookback(Date.now() - DAY, Date.now());
});

const grid = { startMs: 0, endMs: MINUTE, stepMinutes: 1 };
const one = [minutes(0), Float64Array.of(1)];
const refused = [
  [
    "a window beyond the lookback",
    () => checkLookback(0, 31 * DAY, "free", 31 * DAY),
    "the window is 31 d long; the limit maxWindowMs of plan free is 7 d",
  ],
  [
    "no plan",
    () => capabilities("gold"),
    '"gold" is not a plan; allowed are none, free, pro, commercial',
  ],
  [
    "a start that is not before the end",
    () => planGrid({ startMs: DAY, endMs: 0, stepMinutes: 60 }),
    "start must be before end; got start 1970-01-02T00:00:00Z and end 1970-01-01T00:00:00Z",
  ],
  [
    "half a minute",
    () => planGrid({ ...grid, stepMinutes: 0.5 }),
    "stepMinutes must be an integer from 1 to 2147483647; got 0.5",
  ],
  [
    "no minute",
    () => planGrid({ ...grid, stepMinutes: NaN }),
    "stepMinutes must be an integer from 1 to 2147483647; got NaN",
  ],
  ["part of a millisecond", () => planGrid({ ...grid, startMs: 0.5 }), "startMs must be whole milliseconds; got 0.5"],
  ["no time", () => planGrid({ ...grid, endMs: NaN }), "endMs must be whole milliseconds; got NaN"],
  [
    "a time beyond what numbers hold",
    () => planGrid({ ...grid, endMs: 2 ** 53 }),
    "endMs must be whole milliseconds; got 9007199254740992",
  ],
  [
    "a negative number of stations",
    () => planGrid({ ...grid, stations: -1 }),
    "stations must be an integer from 0 to 4294967295; got -1",
  ],
  ["a negative age", () => resample(...one, { ...grid, maxAgeMs: -1 }), "maxAgeMs must not be negative; got -1"],
  [
    "columns of different lengths",
    () => resample(minutes(0, 1), Float64Array.of(1), grid),
    "lengths must match: got 2 for times, 1 for values",
  ],
  [
    "times that descend",
    () => resample(minutes(5, 0), Float64Array.of(1, 2), grid),
    "times must ascend within a series; reading 1 of series 0 is earlier than the one before",
  ],
  [
    "a time that is part of a millisecond",
    () => resample(Float64Array.of(0, 0.5), Float64Array.of(1, 2), grid),
    "tsMs must be whole milliseconds; reading 1 is 0.5",
  ],
  [
    "a time that is none",
    () => resample(Float64Array.of(NaN), Float64Array.of(1), grid),
    "tsMs must be whole milliseconds; reading 0 is NaN",
  ],
  [
    "an infinite time",
    () => resample(Float64Array.of(Infinity), Float64Array.of(1), grid),
    "tsMs must be whole milliseconds; reading 0 is inf",
  ],
  [
    "offsets that leave readings out",
    () => resample(...one, { ...grid, offsets: Uint32Array.of(0, 0) }),
    "offsets must ascend from 0 to the number of readings, 1; offset 1 is 0",
  ],
  [
    "no offset",
    () => seriesTable(...one, new Uint32Array(0)),
    "offsets must hold at least the 0 at which the first series begins",
  ],
  [
    "candidates that descend",
    () => pickSeries([minutes(0), minutes(1, 0)], grid),
    "times must ascend; those of candidate 1 do not",
  ],
  [
    "more cells than there is memory for",
    () => planGrid({ startMs: 0, endMs: 2 ** 52, stepMinutes: 1, caps: { cells: 2 ** 32 - 1, positions: 2 ** 32 - 1 } }),
    "no memory is left for 4169999656 cells",
  ],
];
for (const [name, call, message] of refused) {
  test(`refused: ${name}`, () => {
    assert.throws(call, (error) => {
      assert.ok(error instanceof MesonetError, String(error));
      assert.equal(error.message, message);
      return true;
    });
  });
}

const wrongClass = [
  [() => planGrid(), "options must be an object; got undefined"],
  [() => planGrid({ ...grid, startMs: 0n }), "startMs must be a number; got bigint"],
  [() => planGrid({ ...grid, endMs: "1970-01-02" }), "endMs must be a number; got string"],
  [
    () => resample(new BigInt64Array(1), one[1], grid),
    "ts must be a Float64Array of milliseconds or an Int32Array of minutes; got BigInt64Array",
  ],
  [
    () => resample(...one, { ...grid, out: { value: new Int32Array(2) } }),
    "out.value must be a Float64Array or a Float32Array; got Int32Array",
  ],
  [
    () => resample(...one, { ...grid, out: { ageMs: new Int32Array(2) } }),
    "out.ageMs must be a Float64Array; got Int32Array",
  ],
  [() => resample(...one, { ...grid, out: 1 }), "out must be an object; got number"],
  [() => resample(one[0], new Float32Array(1), grid), "value must be a Float64Array; got Float32Array"],
  [() => resample(...one, { ...grid, offsets: [0, 1] }), "offsets must be a Uint32Array; got Array"],
  [() => resample(...one, { ...grid, offsets: Int32Array.of(0, 1) }), "offsets must be a Uint32Array; got Int32Array"],
  [() => pickSeries(one[0], grid), "candidates must be an array; got Float64Array"],
  [() => pickSeries([one[0], , one[0]], grid), "candidate 1 must be a Float64Array; got undefined"],
  [() => checkLookback(0, 1, 2), "plan must be a string; got number"],
  [() => capabilities("pro", { staff: 1 }), "staff must be a boolean; got number"],
];
for (const [call, message] of wrongClass) {
  test(`a wrong class: ${message}`, () => {
    assert.throws(call, { name: "TypeError", message });
  });
}
