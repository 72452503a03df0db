// Everything that the explorer says, it says in both languages.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { exportsOf, SOURCE } from "./explorer_source.mjs";
import { startServer } from "./server.mjs";

/** Names that are the same in every language. */
const NAMES = new Set(["mesonet", "OpenAPI", "· Natural Earth · GeoNames (CC BY 4.0) · Leaflet · uPlot"]);

async function sources() {
  const names = (await readdir(SOURCE, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  return Promise.all(names.map(async (name) => [name, await readFile(join(SOURCE, name), "utf8")]));
}

test("each word is there in English and in French, with the same parts to fill in", async () => {
  const { WORDS } = await exportsOf("ui/words.ts");
  assert.ok(Object.keys(WORDS).length > 150);
  const { REPORT_WORDS } = await exportsOf("metar/words.ts");
  assert.ok(Object.keys(REPORT_WORDS).length > 100);
  const parts = (text) => [...text.matchAll(/\{\d\}/g)].map(String).sort();
  for (const [key, both] of [...Object.entries(WORDS), ...Object.entries(REPORT_WORDS)]) {
    assert.equal(both.length, 2, key);
    for (const text of both) assert.ok(text.trim().length > 0, key);
    assert.deepEqual(parts(both[0]), parts(both[1]), key);
  }
});

test("each word that the page asks for is known", async () => {
  const { WORDS } = await exportsOf("ui/words.ts");
  const { REPORT_WORDS } = await exportsOf("metar/words.ts");
  for (const [name, text] of await sources()) {
    for (const [, key] of text.matchAll(/\bsay\("([^"]+)"/g)) assert.ok(key in REPORT_WORDS, `${name}: ${key}`);
    for (const [, key] of text.matchAll(/\bword\("([^"]+)"/g)) assert.ok(key in WORDS, `${name}: ${key}`);
    // word(isOpen ? "less" : "more")
    for (const [, a, b] of text.matchAll(/\bword\([^()]*\? "([^"]+)" : "([^"]+)"/g)) {
      for (const key of [a, b]) assert.ok(key in WORDS, `${name}: ${key}`);
    }
  }
});

test("no text is written into the page past the words", async () => {
  for (const [name, text] of await sources()) {
    if (!name.endsWith(".tsx")) continue;
    for (const [, written] of text.matchAll(/(?:[a-z"]|\/)>\s*([^<>{}=;()]*[A-Za-z]{3,}[^<>{}=;]*?)\s*</g)) {
      assert.ok(NAMES.has(written.trim()), `${name}: ${written.trim()}`);
    }
    for (const [whole] of text.matchAll(/(?:aria-label|title|placeholder)="[^"]+"/g)) assert.fail(`${name}: ${whole}`);
  }
});

test("every variable of the service has a French name, every check has a name in both languages", async () => {
  const [{ FRENCH }, { WORDS }] = [await exportsOf("domain/variables.ts"), await exportsOf("ui/words.ts")];
  const server = await startServer();
  try {
    const units = await (await fetch(`${server.origin}/api/v1/observations/units`)).json();
    assert.ok(Object.keys(units).length > 40);
    assert.deepEqual(Object.keys(units).filter((name) => !(name in FRENCH)), []);
    const description = await (await fetch(`${server.origin}/openapi/v1.json`)).json();
    const { schemas } = description.components;
    for (const name of ["BaseQualityCode", "ReasonQualityCode", "AlertStatus", "AlertType", "AlertSeverity", "AlertUrgency", "AlertCertainty"]) {
      const values = schemas[name].enum;
      assert.deepEqual(values.filter((value) => !(value in WORDS)), [], name);
    }
  } finally {
    await server.stop();
  }
  const table = await readFile(fileURLToPath(new URL("../../docs/quality.md", import.meta.url)), "utf8");
  const checks = [...table.matchAll(/^\| \d+ \| `(\w+)` \|/gm)].map(([, check]) => check);
  assert.ok(checks.length >= 18);
  assert.deepEqual(checks.filter((check) => !(`check.${check}` in WORDS)), []);
});
