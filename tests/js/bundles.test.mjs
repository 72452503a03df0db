// The package through the bundlers that pages are made with, run in Chromium, and by `require`.
import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";

import * as esbuild from "esbuild";
import * as vite from "vite";
import webpack from "webpack";

import { openPage, servePages } from "./browser.mjs";
import { run } from "./child.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const entry = join(here, "bundled/entry.mjs");
const package_ = fileURLToPath(new URL("../../bindings-wasm/js/", import.meta.url));

/** Each writes `main.js`, and what it loads, into a folder. */
const BUNDLERS = {
  // It leaves the addresses of the WebAssembly and of the worker as they are: the files are copied, and
  // the worker is built by its own name, as the README says.
  esbuild: (outdir) =>
    esbuild.build({
      ...{ entryPoints: { main: entry, worker: "mesonet/worker" }, outdir, bundle: true, format: "esm", minify: true },
      logLevel: "error", absWorkingDir: here,
    }),
  vite: (outDir) =>
    vite.build({
      ...{ root: here, configFile: false, logLevel: "error", base: "./" },
      build: {
        ...{ outDir, emptyOutDir: true, assetsDir: "." },
        rolldownOptions: { input: entry, output: { entryFileNames: "main.js" } },
      },
    }),
  webpack: (path) =>
    new Promise((resolve, reject) => {
      const output = { path, filename: "main.js", publicPath: "auto" };
      webpack({ mode: "production", entry, output, target: "web" }, (error, stats) =>
        error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve(),
      );
    }),
};

let folder;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "mesonet-bundles-"));
});

after(() => rm(folder, { recursive: true }));

for (const [name, bundle] of Object.entries(BUNDLERS)) {
  test(`a bundle of ${name} runs in the browser`, async () => {
    const out = join(folder, name);
    await bundle(out);
    const made = {
      "/bundle/index.html": '<!doctype html><link rel="icon" href="data:," /><script type="module" src="main.js"></script>',
      "/bundle/grids.wasm": await readFile(join(package_, "dist/grids.wasm")),
      "/bundle/mesonet.wasm": await readFile(join(package_, "dist/mesonet.wasm")),
    };
    for (const file of await readdir(out)) {
      made[`/bundle/${file}`] = await readFile(join(out, file));
    }
    assert.ok(name === "esbuild" || Object.keys(made).length > 4, "the files of the worker are among them");
    const pages = await servePages(made);
    try {
      const { browser, page, problems } = await openPage(`${pages.origin}/bundle/index.html`);
      try {
        const results = await page.evaluate(() => window.results);
        const wanted = { value: 2.5, row: 18, column: 114, client: "function", worked: 2.5, cells: 10_512 };
        assert.deepEqual(results, wanted);
        assert.deepEqual(problems, []);
      } finally {
        await browser.close();
      }
    } finally {
      pages.close();
    }
  });
}

test("a worker of one's own that imports only mesonet/worker keeps it", async () => {
  const stdin = { contents: 'import "mesonet/worker";', resolveDir: here };
  const { outputFiles } = await esbuild.build({ stdin, bundle: true, format: "esm", write: false });
  assert.match(outputFiles[0].text, /onmessage/);
});

test("it can be required", () => {
  const code =
    'const { worst } = require("mesonet"); const { connect } = require("mesonet/client"); console.log(worst([6, 3]), typeof connect)';
  assert.equal(run(process.execPath, ["-e", code], { cwd: here }), "Doubtful function\n");
});
