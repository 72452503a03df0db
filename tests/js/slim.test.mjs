// Loading of the slim entry; alone in its process, because a module is loaded once.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { load } from "mesonet/slim";

const wasm = await readFile(fileURLToPath(import.meta.resolve("mesonet/mesonet.wasm")));

test("a failed load says so and can be retried", async () => {
  await assert.rejects(load(Uint8Array.of(1, 2, 3)), WebAssembly.CompileError);
  const { worst } = await load(wasm);
  assert.equal(worst([6, 3]), "Doubtful");
});

test("loading again gives the same", async () => {
  assert.equal(await load(wasm), await load());
});
