// What engines without a page run: the vectors, and a pool of workers. Prints the results as JSON.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import { workerPool } from "mesonet/workers";

import { runVectors } from "./run_vectors.mjs";

const beside = (path) => readFileSync(new URL(path, import.meta.url));
const ran = await runVectors({
  vectors: (name) => JSON.parse(beside(`../vectors/${name}`)),
  content: (path) => new Uint8Array(gunzipSync(beside(`../data/${path}`))),
});

const encoding = { scale: 0.5, offset: 0, nodata: 0 };
const globe = {
  ...{ rows: 73, columns: 144, projection: "lat_lon", first_lon: 0, first_lat: 90 },
  ...{ column_step: 2.5, row_step: -2.5, grid_relative_winds: false },
};
const pool = workerPool({ workers: 2 });
const [[half], { length }, { lat }] = await Promise.all([
  pool.decodeTile(new Uint8Array([1, 0]), encoding),
  pool.decodeTile(new Uint8Array(2 * 65_536), encoding, { transfer: true }),
  pool.positions(globe),
]);
const refused = await pool.decodeTile(new Uint8Array(3), encoding).catch(({ name, message }) => `${name}: ${message}`);
pool.close();
console.log(JSON.stringify({ ran, worked: [half, length, lat.length], refused }));
