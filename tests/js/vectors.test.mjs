// The golden vectors in Node, through both entries of the package.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import * as slim from "mesonet/slim";

import { RUNNERS, casesOf } from "./vectors.mjs";

const wasm = await readFile(fileURLToPath(import.meta.resolve("mesonet/mesonet.wasm")));
// The slim entry first: after the inlined one it would find the module loaded already.
const entries = { slim: { ...slim, ...(await slim.load(wasm)) }, inlined: await import("mesonet") };

for (const [entry, mesonet] of Object.entries(entries)) {
  for (const [name, run] of Object.entries(RUNNERS)) {
    test(`${name}, ${entry}`, async () => {
      const file = JSON.parse(await readFile(new URL(`../vectors/${name}`, import.meta.url)));
      const wanted = casesOf(file);
      assert.ok(wanted > 0);
      assert.equal(run(mesonet, file), wanted);
    });
  }
}
