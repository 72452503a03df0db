// The golden vectors in Node, through all entries of the package.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import * as alertsEntry from "mesonet/alerts";
import * as checksEntry from "mesonet/checks";
import * as gridsEntry from "mesonet/grids";
import * as metarEntry from "mesonet/metar";
import * as reportEntry from "mesonet/report";
import * as slim from "mesonet/slim";

import { RUNNERS, alertFiles, alerts, casesOf, checks, checksOf, groupsOfReports, metar, nativeGrid, reportsOf } from "./vectors.mjs";

// The slim entry first: after the inlined one the module would already be loaded.
const entries = { slim: { ...slim, ...(await slim.load()) }, inlined: await import("mesonet") };
const vectors = async (name) => JSON.parse(await readFile(new URL(`../vectors/${name}`, import.meta.url)));

for (const [entry, mesonet] of Object.entries(entries)) {
  for (const [name, run] of Object.entries(RUNNERS)) {
    test(`${name}, ${entry}`, async () => {
      const file = await vectors(name);
      const wanted = casesOf(file);
      assert.ok(wanted > 0);
      assert.equal(run(mesonet, file), wanted);
    });
  }
}

test("checks.json, checks", async () => {
  const loaded = { ...checksEntry, ...(await checksEntry.load()) };
  const file = await vectors("checks.json");
  const wanted = checksOf(file);
  assert.equal(wanted, file.stations.length + file.refused.length);
  assert.ok(file.stations.length > 0 && file.refused.length > 0);
  assert.equal(checks(loaded, file), wanted);
});

test("native_grid.json, grids", async () => {
  const loaded = { ...gridsEntry, ...(await gridsEntry.load()) };
  const file = await vectors("native_grid.json");
  assert.ok(file.cases > 0);
  assert.equal(nativeGrid(loaded, file), file.cases);
});

test("metar.json, metar", async () => {
  const loaded = { ...metarEntry, ...(await metarEntry.load()) };
  const file = await vectors("metar.json");
  assert.ok(file.cases > 0);
  assert.equal(metar(loaded, file), file.cases);
});

test("metar.json, report", async () => {
  const loaded = { ...reportEntry, ...(await reportEntry.load()) };
  const file = await vectors("metar.json");
  assert.ok(reportsOf(file) > 0);
  assert.equal(groupsOfReports(loaded, file), reportsOf(file));
});

test("alerts.json, alerts", async () => {
  const loaded = { ...alertsEntry, ...(await alertsEntry.load()) };
  const file = await vectors("alerts.json");
  assert.ok(file.cases > 0);
  const contents = {};
  for (const path of alertFiles(file)) {
    contents[path] = gunzipSync(await readFile(new URL(`../data/${path}`, import.meta.url)));
  }
  assert.equal(alerts(loaded, file, contents), file.cases);
});
