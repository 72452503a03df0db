// The package in other engines than Node and Chromium, each of which may be missing: Firefox, Deno, Bun.
// The golden vectors bit for bit, and workers.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { servePages } from "./browser.mjs";
import { run } from "./child.mjs";
import { FIREFOX, resultsInFirefox } from "./firefox.mjs";
import { RUNS } from "./run_vectors.mjs";
import { assertWorked } from "./worked.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));

function assertRan(ran) {
  assert.equal(Object.keys(ran).length, RUNS);
  for (const [name, { ran: cases, cases: wanted }] of Object.entries(ran)) {
    assert.equal(cases, wanted, name);
    assert.ok(cases > 0, name);
  }
}

const noFirefox = FIREFOX === undefined && "Firefox is not installed";

test("Firefox runs the vectors through all entries", { skip: noFirefox }, async () => {
  const pages = await servePages({
    "/tile.bin": Buffer.alloc(2),
    "/tile.json": JSON.stringify({ encoding: { scale: 1, offset: 0, nodata: -1 } }),
    "/openapi/v1.json": JSON.stringify({ openapi: "3.1.0" }),
  });
  try {
    const { error, ran, verdict } = await resultsInFirefox(pages, "/page/index.html");
    assert.equal(error, undefined);
    assertRan(ran);
    assert.equal(verdict, 2);
    assert.deepEqual(pages.requests.filter((request) => !/^20[04] /.test(request)), []);
  } finally {
    pages.close();
  }
});

test("Firefox runs the pool of workers", { skip: noFirefox }, async () => {
  const pages = await servePages({ "/dies.mjs": "onmessage = () => { throw new Error('broken'); };" });
  try {
    assertWorked(await resultsInFirefox(pages, "/page/workers.html"), pages.origin);
  } finally {
    pages.close();
  }
});

const ENGINES = { deno: ["run", "--allow-read", "--allow-env", "--allow-sys"], bun: ["run"] };
for (const [engine, flags] of Object.entries(ENGINES)) {
  const program = `${here}engines/node_modules/.bin/${engine}`;
  let skip = false;
  try {
    run(program, ["--version"], { timeout: 60_000 });
  } catch {
    skip = `${engine} is not installed`;
  }
  test(`${engine} runs the vectors through all entries, and workers`, { skip }, () => {
    const { ran, worked, refused } = JSON.parse(run(program, [...flags, `${here}engine.mjs`], { cwd: here }));
    assertRan(ran);
    assert.deepEqual(worked, [0.5, 65_536, 10_512]);
    assert.equal(refused, "MesonetError: a tile is pairs of bytes; got 3 bytes");
  });
}
