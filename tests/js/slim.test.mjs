// Loading of the slim entry; alone in its process, because a module is loaded once.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { test } from "node:test";

import { load } from "mesonet/slim";

import { run } from "./child.mjs";

const wasm = await readFile(fileURLToPath(import.meta.resolve("mesonet/mesonet.wasm")));

test("a failed load says so and can be retried", async () => {
  await assert.rejects(load(Uint8Array.of(1, 2, 3)), WebAssembly.CompileError);
  const { worst } = await load(wasm);
  assert.equal(worst([6, 3]), "Doubtful");
});

test("in Node an address of a file is read, wherever it is", async () => {
  const folder = await mkdtemp(join(tmpdir(), "mesonet é #1 "));
  try {
    const file = join(folder, "a b.wasm");
    await writeFile(file, wasm);
    const url = pathToFileURL(file);
    const loading = 'import { load } from "mesonet/slim"; const { worst } = await load';
    const loaded = (source) =>
      run(process.execPath, ["--input-type=module", "-e", `${loading}(${source}); console.log(worst([3]))`], { cwd: import.meta.dirname });
    for (const source of [`new URL(${JSON.stringify(url)})`, JSON.stringify(url), ""]) {
      assert.equal(loaded(source), "Doubtful\n", source);
    }
    await rm(file);
    assert.throws(() => loaded(JSON.stringify(url)), /ENOENT[^]*a b\.wasm/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("loading again gives the same", async () => {
  assert.equal(await load(wasm), await load());
});
