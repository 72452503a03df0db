// The pool of workers in a page: results, transfers, aborts, and workers that die or cannot be loaded.
import { load } from "mesonet/slim";
import { workerPool } from "mesonet/workers";

import { report } from "/page/report.mjs";

const encoding = { scale: 0.5, offset: -10, nodata: -32768 };
const stops = [
  { value: 0, rgba: [0, 0, 255, 255] },
  { value: 100, rgba: [255, 0, 0, 255] },
];
const globe = {
  ...{ rows: 73, columns: 144, projection: "lat_lon", first_lon: 0, first_lat: 90 },
  ...{ column_step: 2.5, row_step: -2.5, grid_relative_winds: false },
};
const tile = new Uint8Array(Int16Array.from({ length: 65_536 }, (_, at) => at % 997).buffer);
const same = (one, other) => one.length === other.length && one.every((value, at) => Object.is(value, other[at]));
const refusal = (promise) =>
  promise.then(
    () => "it was not refused",
    ({ name, message }) => `${name}: ${message}`,
  );

async function run() {
  const { decodeTile, tileColours } = await load();
  const [values, pixels] = [decodeTile(tile, encoding), tileColours(encoding, stops).paint(tile)];
  const pool = workerPool({ workers: 2 });
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      at % 2 ? pool.decodeTile(tile, encoding) : pool.paintTile(tile, encoding, stops),
    ),
  );
  const moved = new Uint8Array(tile);
  const waits = pool.paintTile(moved, encoding, stops, { transfer: true });
  const left = moved.byteLength;
  const aborts = new AbortController();
  const aborted = pool.decodeTile(tile, encoding, { signal: aborts.signal });
  aborts.abort();

  let made = 0;
  const dying = workerPool({
    workers: 1,
    worker: () => new Worker((made += 1) === 1 ? "/dies.mjs" : "/mesonet/worker.js", { type: "module" }),
  });
  const lost = workerPool({ worker: () => new Worker("/no/such/worker.js", { type: "module" }) });
  const results = {
    same: all.every((of, at) => same(of, at % 2 ? values : pixels)),
    moved: [left, same(await waits, pixels)],
    cells: (await pool.positions(globe)).lon.length,
    workers: workerPool().workers >= 1,
    aborted: (await refusal(aborted)).split(":")[0],
    refused: await refusal(pool.decodeTile(tile, { ...encoding, nodata: 70_000 })),
    odd: await refusal(pool.decodeTile(new Uint8Array(3), encoding)),
    died: await refusal(dying.decodeTile(tile, encoding)),
    next: (await dying.decodeTile(tile, encoding)).length,
    lost: await refusal(lost.decodeTile(tile, encoding)),
    missing: await refusal(workerPool({ mesonet: "/no/such.wasm" }).decodeTile(tile, encoding)),
  };
  pool.close();
  dying.close();
  return { ...results, closed: await refusal(pool.positions(globe)) };
}

await report(await run().catch((error) => ({ error: String(error?.stack ?? error) })));
