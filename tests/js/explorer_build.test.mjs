// The built copy of the explorer is that of its source.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompressSync } from "node:zlib";

const WEB = fileURLToPath(new URL("../../server-example/web/", import.meta.url));
const run = promisify(execFile);

/** The content of a file: how small Brotli makes it depends on the version of Node.js. */
async function unpacked(file) {
  const bytes = await readFile(file);
  return (file.endsWith(".br") ? brotliDecompressSync(bytes) : bytes).toString("base64");
}

/** Names and content of the files of a folder. The library is WebAssembly, whose bytes depend on the compiler. */
async function files(folder) {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".wasm.br"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  return Object.fromEntries(await Promise.all(names.sort().map(async (name) => [name, await unpacked(join(folder, name))])));
}

test("the types of the explorer are sound and its built copy is up to date", async () => {
  await run("npx", ["tsc"], { cwd: WEB });
  const folder = await mkdtemp(join(tmpdir(), "explorer-"));
  try {
    await run("npx", ["vite", "build", "--outDir", folder, "--emptyOutDir"], { cwd: WEB });
    const [made, kept] = [await files(folder), await files(join(WEB, "dist"))];
    const repair = "run `npm ci && npm run build` in server-example/web";
    assert.deepEqual(Object.keys(kept), Object.keys(made), repair);
    for (const name of Object.keys(made)) assert.ok(kept[name] === made[name], `${name}: ${repair}`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
