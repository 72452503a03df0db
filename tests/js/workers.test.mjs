// The pool of workers on threads of Node: results, queue, aborts, transfers, and workers that die.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { after, test } from "node:test";
import { Worker } from "node:worker_threads";

import { decodeTile, resample, tileColours } from "mesonet";
import { load as loadGrids } from "mesonet/grids";
import { MesonetError, WorkerError, workerPool } from "mesonet/workers";

import { run } from "./child.mjs";

const wasmOf = (name) => readFile(fileURLToPath(import.meta.resolve(`mesonet/${name}.wasm`)));
const [mesonet, grids] = [await wasmOf("mesonet"), await wasmOf("grids")];
const SCRIPT = new URL(import.meta.resolve("mesonet/worker"));

const encoding = { scale: 0.5, offset: -10, nodata: -32768 };
const stops = [
  { value: 0, rgba: [0, 0, 255, 255] },
  { value: 100, rgba: [255, 0, 0, 255] },
];
const tile = new Uint8Array(Int16Array.from({ length: 4096 }, (_, at) => (at % 7 ? at : -32768)).buffer);
const globe = {
  ...{ rows: 73, columns: 144, projection: "lat_lon", first_lon: 0, first_lat: 90 },
  ...{ column_step: 2.5, row_step: -2.5, grid_relative_winds: false },
};

const pool = workerPool({ workers: 2, mesonet, grids });
after(() => pool.close());

test("tiles, time grids and model grids are those of the calling thread", async () => {
  const colours = tileColours(encoding, stops);
  const wanted = { values: decodeTile(tile, encoding), pixels: colours.paint(tile) };
  const tsMs = Float64Array.of(0, 60_000, 0);
  const value = Float64Array.of(1, 2, NaN);
  const grid = { startMs: 0, endMs: 120_000, stepMinutes: 1, maxAgeMs: 60_000, offsets: Uint32Array.of(0, 2, 3) };
  const { nativeGrid } = await loadGrids(grids);
  const at = { lon: Float64Array.of(-75, NaN), lat: Float64Array.of(45, 0) };
  for (let round = 0; round < 3; round += 1) {
    const all = await Promise.all([
      pool.decodeTile(tile, encoding),
      pool.paintTile(tile, encoding, stops),
      pool.resample(tsMs, value, grid),
      pool.resample(Int32Array.of(0, 1, 0), value, grid),
      pool.locate(globe, at),
      pool.positions(globe),
      pool.windRotations(globe),
    ]);
    assert.deepEqual(all, [
      wanted.values,
      wanted.pixels,
      resample(tsMs, value, grid),
      resample(tsMs, value, grid),
      nativeGrid(globe).locate(at),
      nativeGrid(globe).positions(),
      nativeGrid(globe).windRotations(),
    ]);
  }
});

test("a small part of a large buffer, Node's buffers and buffers alone are tiles", async () => {
  const part = tile.subarray(2, 4);
  for (const given of [part, Buffer.from(part), new Uint8Array(part).buffer]) {
    for (const transfer of [false, true]) {
      assert.deepEqual(await pool.decodeTile(given, encoding, { transfer }), decodeTile(part, encoding));
      if (given instanceof ArrayBuffer && transfer) {
        assert.equal(given.byteLength, 0);
      }
    }
  }
});

test("arrays are those of the call: what is written later does not count", async () => {
  const bytes = new Uint8Array([2, 0]);
  const waits = [pool.decodeTile(bytes, encoding), pool.decodeTile(bytes, encoding), pool.decodeTile(bytes, encoding)];
  bytes.fill(9);
  assert.deepEqual(await Promise.all(waits), [Float64Array.of(-9), Float64Array.of(-9), Float64Array.of(-9)]);
});

test("transferred arrays are empty from the call on; shared ones are copied", async () => {
  const moved = new Uint8Array(tile);
  const waits = pool.decodeTile(moved, encoding, { transfer: true });
  assert.equal(moved.byteLength, 0);
  assert.equal((await waits).length, 4096);
  const shared = new Uint8Array(new SharedArrayBuffer(2));
  assert.deepEqual(await pool.decodeTile(shared, encoding, { transfer: true }), Float64Array.of(-10));
  await assert.rejects(pool.decodeTile(moved, encoding), { name: "TypeError", message: /tile has lost its content/ });
});

test("many tasks wait in one queue, and each gets its own answer", async () => {
  const one = (raw) => new Uint8Array(Int16Array.of(raw).buffer);
  const many = Array.from({ length: 200 }, (_, raw) => pool.decodeTile(one(raw), encoding));
  assert.deepEqual((await Promise.all(many)).map(([value]) => value), many.map((_, raw) => raw * 0.5 - 10));
});

test("numbers that differ only in kind are not one scale", async () => {
  const definition = { ...globe, rows: "73" };
  await pool.positions(globe);
  await assert.rejects(pool.positions(definition), MesonetError);
  await assert.rejects(pool.positions({ ...globe, first_lat: NaN }), MesonetError);
  const painted = await pool.paintTile(new Uint8Array(2), { ...encoding, offset: 0 }, stops);
  assert.deepEqual([...painted], [0, 0, 255, 255]);
});

test("more scales than are kept", async () => {
  for (let offset = 0; offset < 20; offset += 1) {
    const [red] = await pool.paintTile(new Uint8Array(2), { scale: 1, offset, nodata: -1 }, stops);
    assert.equal(red, Math.round(2.55 * offset));
  }
});

const abortError = { name: "AbortError" };

test("a signal that has ended starts nothing; one that ends takes the task from the queue", async () => {
  await assert.rejects(pool.decodeTile(tile, encoding, { signal: AbortSignal.abort() }), abortError);
  const single = workerPool({ workers: 1, mesonet });
  const aborts = new AbortController();
  const [first, waits, last] = [{}, { signal: aborts.signal }, {}].map((options) => single.decodeTile(tile, encoding, options));
  const rejected = assert.rejects(waits, { message: "no longer wanted" });
  aborts.abort(new Error("no longer wanted"));
  await rejected;
  assert.deepEqual([(await first).length, (await last).length], [4096, 4096]);
  single.close();
});

test("a signal that ends while the task runs rejects at once, and the worker goes on", async () => {
  const single = workerPool({ workers: 1, mesonet, grids });
  await single.decodeTile(tile, encoding);
  const large = new Uint8Array(2 ** 24);
  const aborts = new AbortController();
  const runs = single.decodeTile(large, encoding, { signal: aborts.signal, transfer: true });
  await new Promise((started) => setTimeout(started, 1));
  aborts.abort();
  await assert.rejects(runs, abortError);
  assert.equal((await single.decodeTile(tile, encoding)).length, 4096);
  single.close();
});

test("a closed pool rejects what waits and what comes", async () => {
  const single = workerPool({ workers: 1, mesonet });
  const waits = [single.decodeTile(tile, encoding), single.decodeTile(tile, encoding)];
  setTimeout(single.close, 0);
  const closed = { name: "WorkerError", message: "this pool was closed" };
  await Promise.all(waits.map((one) => assert.rejects(one, closed)));
  await assert.rejects(single.decodeTile(tile, encoding), closed);
  single[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
});

test("a signal and closing end what waits for a module that never comes", async (context) => {
  context.mock.method(globalThis, "fetch", () => new Promise(() => {}));
  const slow = workerPool({ workers: 1, mesonet: "http://127.0.0.1/mesonet.wasm" });
  const aborts = new AbortController();
  const waits = [slow.decodeTile(tile, encoding, { signal: aborts.signal }), slow.decodeTile(tile, encoding)];
  aborts.abort();
  await assert.rejects(waits[0], abortError);
  slow.close();
  await assert.rejects(waits[1], { name: "WorkerError", message: "this pool was closed" });
});

test("what cannot be sent is an error of its task, and keeps no worker", async () => {
  const single = workerPool({ workers: 1, mesonet, grids });
  const lost = { name: "WorkerError", message: /^a worker cannot be given a task: .*could not be cloned/ };
  await assert.rejects(single.positions({ ...globe, made: () => {} }), lost);
  assert.equal((await single.positions(globe)).lat.length, 73 * 144);
  const kept = new Uint8Array(tile);
  single.close();
  await assert.rejects(single.decodeTile(kept, encoding, { transfer: true }), WorkerError);
  assert.equal(kept.length, tile.length, "a closed pool takes nothing");
});

/** A pool whose first worker runs this code; the others are sound. */
function dying(code) {
  let made = 0;
  const worker = () => {
    made += 1;
    return made === 1 ? new Worker(code, { eval: true }) : new Worker(SCRIPT);
  };
  return [workerPool({ workers: 1, mesonet, worker }), () => made];
}
const deaths = {
  "ends itself": [
    'require("node:worker_threads").parentPort.on("message", () => process.exit(3))',
    /^a worker ended during decodeTile: it ended with 3$/,
  ],
  throws: [
    'require("node:worker_threads").parentPort.on("message", () => { throw new Error("broken") })',
    /^a worker ended during decodeTile: Error: broken$/,
  ],
  "has a trap": [
    'require("node:worker_threads").parentPort.on("message", () => require("node:worker_threads").parentPort.postMessage({ error: { name: "RuntimeError", message: "unreachable" } }))',
    /^RuntimeError: unreachable$/,
  ],
};
for (const [how, [code, message]] of Object.entries(deaths)) {
  test(`a worker that ${how} rejects its task, and the next gets another worker`, async () => {
    const [single, made] = dying(code);
    const [lost, next] = [single.decodeTile(tile, encoding), single.decodeTile(tile, encoding)];
    await assert.rejects(lost, (error) => {
      assert.ok(error instanceof WorkerError, String(error));
      assert.match(error.message, message);
      return true;
    });
    assert.equal((await next).length, 4096);
    assert.equal(made(), 2);
    single.close();
  });
}

test("a worker that cannot be made is an error of the task", async () => {
  const worker = () => {
    throw new Error("no more threads");
  };
  const none = workerPool({ worker, mesonet });
  await assert.rejects(none.decodeTile(tile, encoding), {
    name: "WorkerError",
    message: "a worker cannot be given a task: no more threads",
  });
  const lost = workerPool({ mesonet, worker: () => new Worker(new URL("file:///no/such/worker.js")) });
  await assert.rejects(lost.decodeTile(tile, encoding), { name: "WorkerError", message: /Cannot find module/ });
});

test("a module that cannot be loaded is tried again", async () => {
  const broken = workerPool({ workers: 1, mesonet: Uint8Array.of(1, 2), grids });
  await assert.rejects(broken.decodeTile(tile, encoding), WebAssembly.CompileError);
  await assert.rejects(broken.decodeTile(tile, encoding), WebAssembly.CompileError);
  assert.equal((await broken.positions(globe)).lat.length, 73 * 144);
  // A module that is another's.
  const other = workerPool({ workers: 1, mesonet: grids });
  await assert.rejects(other.decodeTile(tile, encoding), WorkerError);
  await assert.rejects(other.decodeTile(tile, encoding), WorkerError);
  broken.close();
  other.close();
});

test("a program ends by itself while the workers are idle", () => {
  const program = `
    import { workerPool } from "mesonet/workers";
    const values = await workerPool().decodeTile(new Uint8Array([2, 0]), ${JSON.stringify(encoding)});
    console.log(values);`;
  const printed = run(process.execPath, ["--input-type=module", "-e", program], { cwd: import.meta.dirname, timeout: 30_000 });
  assert.equal(printed, "Float64Array(1) [ -9 ]\n");
});

const refused = [
  [() => pool.decodeTile(new Uint8Array(3), encoding), MesonetError, /3 bytes|even/],
  [() => pool.decodeTile(tile, { ...encoding, scale: 0 }), MesonetError, /scale/],
  [() => pool.decodeTile(tile, { ...encoding, nodata: 70_000 }), MesonetError, "nodata must be an integer from -32768 to 32767; got 70000"],
  [() => pool.decodeTile("tile", encoding), TypeError, "tile must be a Uint8Array or an ArrayBuffer; got string"],
  [() => pool.paintTile(tile, encoding, []), MesonetError, /stop/],
  [() => pool.paintTile(tile, encoding, [{ value: 0, rgba: [0, 0, 0, 256] }]), MesonetError, /rgba must be an integer/],
  [() => pool.resample([0], new Float64Array(1), {}), TypeError, "ts must be a Float64Array of milliseconds or an Int32Array of minutes; got Array"],
  [() => pool.resample(new Float64Array(1), new Float64Array(1), { startMs: 0.5, endMs: 1, stepMinutes: 1 }), MesonetError, "startMs must be whole milliseconds; got 0.5"],
  [() => pool.resample(new Float64Array(1), new Float64Array(1), { startMs: 0n }), TypeError, "startMs must be a number; got bigint"],
  [() => pool.locate(globe, { lon: 0, lat: 0 }), TypeError, "lon must be a Float64Array; got number"],
  [() => pool.positions(null), TypeError, "definition must be an object; got null"],
  [() => pool.decodeTile(tile, encoding, { signal: 1 }), TypeError, "signal must be an AbortSignal; got number"],
  [() => pool.decodeTile(tile, encoding, { transfer: 1 }), TypeError, "transfer must be a boolean; got number"],
  [() => pool.decodeTile(tile, encoding, null), TypeError, "options must be an object; got null"],
  [async () => workerPool({ workers: 0 }), MesonetError, "workers must be an integer from 1 to 64; got 0"],
  [async () => workerPool({ workers: 1.5 }), MesonetError, "workers must be an integer from 1 to 64; got 1.5"],
  [async () => workerPool({ worker: SCRIPT }), TypeError, /worker must be a function; got/],
];
for (const [at, [call, class_, message]] of refused.entries()) {
  test(`refused ${at}: ${message}`, async () => {
    await assert.rejects(call(), (error) => {
      assert.ok(error instanceof class_, String(error));
      assert[typeof message === "string" ? "equal" : "match"](error.message, message);
      return true;
    });
  });
}
