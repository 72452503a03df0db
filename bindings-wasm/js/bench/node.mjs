// The benchmark in Node: `node bench/node.mjs`, or with the path of another module.
import { readFile } from "node:fs/promises";

import { load } from "mesonet/slim";

import { markdown, measure } from "./measure.mjs";

const path = process.argv[2] ?? new URL("../dist/mesonet.wasm", import.meta.url);
console.log(`Node ${process.version}`);
console.log(markdown(measure(await load(await readFile(path)))));
