// The package through the bundlers that pages are made with, run in Chromium, and by `require`.
import assert from "node:assert/strict";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { brotliCompressSync } from "node:zlib";

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

/** What a bundle of one line weighs, minified, and what it prints when it runs. */
async function bundled(line, bundler) {
  const out = join(folder, `${bundler}-${bundledLines++}`);
  const entry = join(here, "node_modules", `.line-${bundledLines}.mjs`);
  await writeFile(entry, line);
  await SIZES[bundler](entry, out);
  const { size } = await stat(join(out, "main.js"));
  return { size, printed: run(process.execPath, [join(out, "main.js")]) };
}
let bundledLines = 0;
const SIZES = {
  esbuild: (entry, outdir) =>
    esbuild.build({ entryPoints: { main: entry }, outdir, bundle: true, format: "esm", minify: true, logLevel: "error" }),
  vite: (entry, outDir) =>
    vite.build({
      ...{ root: here, configFile: false, logLevel: "error" },
      build: { outDir, emptyOutDir: true, minify: true, rolldownOptions: { input: entry, output: { entryFileNames: "main.js" } } },
    }),
  webpack: (entry, path) =>
    new Promise((resolve, reject) => {
      const output = { path, filename: "main.js" };
      webpack({ mode: "production", entry, output, target: "web" }, (error, stats) =>
        error || stats.hasErrors() ? reject(error ?? new Error(stats.toString())) : resolve(),
      );
    }),
};

for (const bundler of Object.keys(SIZES)) {
  test(`a bundle of ${bundler} has of the package only what it uses`, async () => {
    const ranking = await bundled('import { worst } from "mesonet"; console.log(worst(["Good", "Doubtful"]));', bundler);
    assert.equal(ranking.printed, "Doubtful\n");
    assert.ok(ranking.size <= 4 * 1024, `the ranking has ${ranking.size} bytes`);
    const whole = await bundled('import { convert, worst } from "mesonet"; console.log(convert(1, "km", "m"), worst([6]));', bundler);
    assert.equal(whole.printed, "1000 Good\n");
    assert.ok(whole.size > 150 * 1024, "units need the WebAssembly");
  });
}

/** The most bytes of all that an entry without WebAssembly has, minified and compressed. */
const BUDGETS = { client: 4_800, map: 9_500, maplibre: 11_800, leaflet: 11_800 };
for (const [entry, most] of Object.entries(BUDGETS)) {
  test(`mesonet/${entry} has at most ${most} bytes`, async () => {
    const stdin = { contents: `export * from "mesonet/${entry}";`, resolveDir: here };
    const { outputFiles } = await esbuild.build({ stdin, bundle: true, format: "esm", minify: true, write: false });
    const size = brotliCompressSync(outputFiles[0].contents).length;
    assert.ok(size <= most, `${size} bytes`);
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
