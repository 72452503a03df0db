// The benchmark in Node: `node bench/node.mjs [--write|--json]`.
import { readFile } from "node:fs/promises";

import { load as loadGrids } from "mesonet/grids";
import { load } from "mesonet/slim";
import { workerPool } from "mesonet/workers";

import { markdown, measure, measurePool } from "./measure.mjs";
import { CPU_MEDIAN, asJson, report } from "./report.mjs";

const wasmOf = (name) => readFile(new URL(`../dist/${name}.wasm`, import.meta.url));
const [mesonet, grids] = [await wasmOf("mesonet"), await wasmOf("grids")];
const loaded = await load(mesonet);
if (asJson) {
  // Without the workers: a pool takes more processor time, and less of the page's.
  console.log(JSON.stringify(measure(loaded, CPU_MEDIAN)));
} else {
  const rows = measure(loaded);
  const pool = workerPool({ workers: 2, mesonet, grids });
  const ofPool = await measurePool(loaded, await loadGrids(grids), pool);
  pool.close();
  await report("node.mjs", markdown(`Node ${process.version}`, rows, ofPool, pool.workers));
}
