// The text of a METAR, each of its groups beside what it says, in the explorer.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { load } from "mesonet/report";

import { explorer, loaded, violations } from "./explorer.mjs";
import { exportsOf } from "./explorer_source.mjs";
import { TORONTO } from "./explorer_views.mjs";

const { open } = explorer();
const { parseMetar } = await load(await readFile(fileURLToPath(import.meta.resolve("mesonet/report.wasm"))));

const BODY =
  "METAR KBUF 312354Z AUTO 21014G22KT 180V240 1 1/2SM R23/2600V4500FT -FZRA BR BKN050CB OVC110 02/M07 A2973 RMK AO2 " +
  "PK WND 22030/31 OCNL LTGICCG DSNT NE RAB21E40 SLP077 P0003 56012 T00221067 VIS NE 2 1/2 SLP/// FROIN $";

/** The rows that the page shows: groups, and what they say. */
const shown = (page) => page.locator(".groups tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent.trim().replaceAll(/\s/g, " "))));

/** Opens the box on a station, with the text of a report in it. */
async function opened(text, view = "", look = {}) {
  const { page, problems } = await open(`#layer=stations&map=43.7,-79.6,7&station=${TORONTO}${view}`, look);
  await page.locator(".report summary").click();
  await page.locator("#report").fill(text);
  await page.waitForLoadState("networkidle");
  assert.deepEqual((await loaded(page)).filter((url) => /report\.wasm|decode/.test(url)), [], "nothing is loaded before it is needed");
  return { page, problems };
}

test("every group of 5,000 reports stands in one row, in its order, and those that are not understood are named", async () => {
  const { rowsOf } = await exportsOf("metar/groups.ts");
  const file = new URL("../data/metar/liveairdata_metars_20240803T1732Z.csv.gz", import.meta.url);
  const table = gunzipSync(await readFile(file)).toString().split("\n");
  const at = table[0].split(",").indexOf("raw_text");
  let [read, silent] = [0, 0];
  for (const line of table.slice(1)) {
    const text = line.split(",")[at] ?? "";
    if (!/^\S+ \d{6}Z/.test(text)) continue;
    const report = parseMetar(text);
    const rows = rowsOf(report, parseMetar);
    assert.equal(rows.flatMap(({ groups }) => groups).join(" "), report.text);
    const unknown = rows.filter(({ isUnknown }) => isUnknown).flatMap(({ groups }) => groups);
    assert.deepEqual(unknown.map((group) => group.replace(/^RMK/, "")).sort(), report.notUnderstood.map((group) => group.replace(/^RMK/, "")).sort(), text);
    silent += rows.filter(({ facts, isUnknown }) => facts.length === 0 && !isUnknown).length;
    // A row without facts stands for a value that is missing.
    for (const { facts, groups, isUnknown } of rows) if (facts.length === 0 && !isUnknown) assert.match(groups.join(" "), /\/|^M$/, text);
    read += 1;
  }
  assert.ok(read > 4_900, `${read}`);
  assert.ok(silent > 100 && silent < 300, `${silent}`);
});

test("the words of a phrase stand together, and a word that is lost beside what it needs", async () => {
  const { rowsOf } = await exportsOf("metar/groups.ts");
  const rows = rowsOf(parseMetar(BODY), parseMetar).map(({ groups }) => groups.join(" "));
  for (const phrase of ["METAR KBUF 312354Z", "21014G22KT 180V240", "1 1/2SM", "PK WND 22030/31", "OCNL LTGICCG DSNT NE", "VIS NE 2 1/2"]) assert.ok(rows.includes(phrase), `${phrase}: ${rows.join(" | ")}`);
});

test("a METAR is decoded beside its groups, in the units and the language of the page", async () => {
  const { page, problems } = await opened(BODY);
  await page.locator("#report").press("Enter");
  await page.locator(".groups").waitFor();
  assert.equal((await loaded(page)).filter((url) => url.endsWith("/report.wasm")).length, 1);
  assert.deepEqual(await shown(page), [
    ["METAR KBUF 312354Z", "Report METAR of KBUF, day 31, 23:54 UTC"],
    ["AUTO", "Report made without an observer"],
    ["21014G22KT 180V240", "Wind from 210° at 26 km/h, gusts 41 km/h, turning between 180° and 240°"],
    ["1 1/2SM", "Visibility 2.4 km"],
    ["R23/2600V4500FT", "Runway visual range 23: between 792 m and 1372 m"],
    ["-FZRA", "Weather light freezing rain"],
    ["BR", "Weather mist"],
    ["BKN050CB", "Sky broken clouds at 1524 m, cumulonimbus, ceiling"],
    ["OVC110", "Sky overcast at 3353 m"],
    ["02/M07", "Temperature 2.2 °C, dew point −6.7 °C"],
    ["A2973", "Pressure altimeter setting 1006.8 hPa"],
    ["RMK", "Remarks"],
    ["AO2", "Report automatic station, can tell rain from snow"],
    ["PK WND 22030/31", "Wind peak of 56 km/h from 220° at 23:31 UTC"],
    ["OCNL LTGICCG DSNT NE", "Weather occasional lightning, in cloud, cloud to ground, distant NE"],
    ["RAB21E40", "Weather rain began at 23:21, rain ended at 23:40"],
    ["SLP077", "Pressure at sea level 1007.7 hPa"],
    ["P0003", "Precipitation 0.8 mm since the last hourly report"],
    ["56012", "Pressure fell, then steady: −1.2 hPa in 3 h"],
    ["T00221067", "Temperature in tenths 2.2 °C, dew point −6.7 °C"],
    ["VIS NE 2 1/2", "Visibility NE: 4.0 km"],
    ["SLP///", "no value"],
    ["FROIN", "not understood"],
    ["$", "Out of order the station needs maintenance"],
  ]);
  assert.deepEqual(await violations(page), []);

  await page.locator("#units").click();
  const us = new Map(await shown(page));
  assert.equal(us.get("21014G22KT 180V240"), "Wind from 210° at 16 mph, gusts 25 mph, turning between 180° and 240°");
  assert.equal(us.get("1 1/2SM"), "Visibility 1.5 mi");
  assert.equal(us.get("BKN050CB"), "Sky broken clouds at 5000 ft, cumulonimbus, ceiling");
  assert.equal(us.get("02/M07"), "Temperature 36.0 °F, dew point 19.9 °F");
  assert.equal(us.get("A2973"), "Pressure altimeter setting 29.73 inHg");
  assert.equal(us.get("P0003"), "Precipitation 0.03 in since the last hourly report");

  await page.locator("#units").click();
  await page.locator("#language").click();
  const french = new Map(await shown(page));
  assert.equal(french.get("21014G22KT 180V240"), "Vent du 210° à 26 km/h, rafales 41 km/h, variant entre 180° et 240°");
  assert.equal(french.get("-FZRA"), "Temps présent pluie verglaçante d’intensité faible");
  assert.equal(french.get("BKN050CB"), "Ciel nuages fragmentés à 1524 m, cumulonimbus, plafond");
  assert.equal(french.get("OCNL LTGICCG DSNT NE"), "Temps présent éclairs occasionnels, dans le nuage, du nuage au sol, au loin NE");
  assert.equal(french.get("FROIN"), "pas compris");
  assert.deepEqual(problems, []);
  await page.close();
});

test("a text that is not a report shows the words of the core in its place, and the keyboard reaches the box", async () => {
  const { page, problems } = await opened("");
  await page.locator(".report summary").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.type("KBUF 21014KT");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator(".report .trouble").getByText('"21014KT" is not the time of a report').waitFor();
  assert.equal(await page.locator("#report").getAttribute("aria-invalid"), "true");
  assert.equal(await page.locator(".groups").count(), 0);
  assert.deepEqual(await violations(page), []);
  // Escape leaves the field and keeps the panel, space opens and closes and does not play.
  await page.locator("#report").fill("KBUF 312354Z 21014KT=");
  await page.locator("#report").press("Enter");
  await page.getByRole("rowheader", { name: "21014KT" }).waitFor();
  assert.equal(await page.locator(".report .trouble").count(), 0);
  await page.locator("#report").press("Escape");
  assert.equal(await page.locator(".panel").count(), 1);
  await page.locator(".report summary").press("Space");
  await page.locator("#report").waitFor({ state: "hidden" });
  assert.equal(await page.getByRole("button", { name: "Pause" }).count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a report of the station is shown as it came in and decoded by its button", async () => {
  const { page, problems } = await opened("");
  const first = page.locator(".texts li").first();
  await first.waitFor();
  const text = await first.locator("code").textContent();
  assert.match(text, /^CYYZ 03\d{4}Z /);
  await first.getByRole("button").click();
  await page.locator(".groups").waitFor();
  assert.equal(await page.locator("#report").inputValue(), text);
  assert.match((await shown(page))[0][0], /^CYYZ 03/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a report that is pasted is decoded at once", async () => {
  const { page, problems } = await opened("", "&lang=fr");
  await page.locator("#report").evaluate((field) => {
    field.value = "SPECI CYYZ 032100Z 00000KT CAVOK 30/19 Q1013 NOSIG";
    field.dispatchEvent(new ClipboardEvent("paste", { bubbles: true }));
  });
  await page.locator(".groups").waitFor();
  assert.deepEqual(await shown(page), [
    ["SPECI CYYZ 032100Z", "Message SPECI de CYYZ, le 3 à 21:00 UTC"],
    ["00000KT", "Vent calme"],
    ["CAVOK", "Visibilité 10 km ou plus, aucun nuage sous 5 000 pi, aucun phénomène"],
    ["30/19", "Température 30,0 °C, point de rosée 19,0 °C"],
    ["Q1013", "Pression calage altimétrique 1013,0 hPa"],
    ["NOSIG", "Prévision aucun changement important"],
  ]);
  assert.deepEqual(problems, []);
  await page.close();
});
