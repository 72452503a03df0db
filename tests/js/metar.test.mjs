// What the reports promise beyond values: the types of what is given, and files against single reports.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { MesonetError, load } from "mesonet/metar";
import { load as loadReport } from "mesonet/report";

const { parseMetar, readMetars } = await load(
  await readFile(fileURLToPath(import.meta.resolve("mesonet/metar.wasm"))),
);
const { parseMetar: parseGroups } = await loadReport(
  await readFile(fileURLToPath(import.meta.resolve("mesonet/report.wasm"))),
);
const table = gunzipSync(
  await readFile(new URL("../data/metar/liveairdata_metars_20240803T1732Z.csv.gz", import.meta.url)),
);
const receivedMs = Date.parse("2024-08-03T17:32Z");
const BUF =
  "METAR KBUF 312354Z 21014G22KT 180V240 1 1/2SM R23/2600V4500FT -SN BKN050 OVC110 02/M07 A2973 RMK AO2 PK WND 22030/31 SNB21 SLP077 T00221067 FROIN";

test("a report has its groups and remarks, and names what is not understood", () => {
  const report = parseMetar(BUF, { receivedMs: Date.parse("2020-01-01T00:05Z") });
  assert.deepEqual(report.wind, {
    fromDeg: 210,
    variable: false,
    speed: 14,
    gust: 22,
    unit: "kt",
    speedKmh: 25.928,
    gustKmh: 40.744,
    turnsFromDeg: 180,
    turnsToDeg: 240,
  });
  assert.deepEqual(report.visibility, { distance: 1.5, unit: "mi", bound: "exact", distanceKm: 2.414016 });
  assert.deepEqual([report.temperatureC, report.dewPointC, report.ceilingFt], [2.2, -6.7, 5000]);
  assert.deepEqual(report.runwayVisualRanges[0].greatest, 4500);
  assert.deepEqual(report.remarks.weatherTimes, [{ weather: "SN", event: "begin", hour: null, minute: 21 }]);
  assert.deepEqual(report.remarks.peakWind, { fromDeg: 220, speedKt: 30, hour: null, minute: 31 });
  assert.equal(report.remarks.seaLevelPressureHpa, 1007.7);
  assert.deepEqual(report.notUnderstood, ["FROIN"]);
  assert.equal(report.tsMs, Date.parse("2019-12-31T23:54Z"));
  assert.match(report.summary, /^METAR KBUF day 31 23:54Z: wind from 210° at 14 kt, turning between 180° and 240°, gusts 22 kt; visibility 1.5 mi; /);
  assert.equal(parseMetar(BUF).tsMs, null);
});

test("each report is its own, whatever its letters are, and however much memory the module has taken", () => {
  const first = parseMetar(BUF);
  readMetars(Buffer.concat(Array.from({ length: 8 }, () => table)));
  // Two letters of more than one byte, of which the second has two units of UTF-16, and none at all.
  const other = parseMetar("KBUF 312354Z 21014KT RMK é𝄞 FROIN AO2");
  assert.deepEqual(other.notUnderstood, ["é𝄞", "FROIN"]);
  assert.equal(other.remarks.automatedStation, "AO2");
  assert.match(other.summary, /^KBUF day 31 23:54Z: wind from 210° at 14 kt$/);
  assert.deepEqual(parseMetar(BUF), first);
  assert.deepEqual([first.clouds.length, other.clouds], [2, []]);
  assert.notEqual(other.clouds, parseMetar("KBUF 312354Z").clouds);
});

test("a text that is refused leaves nothing behind", () => {
  const before = parseMetar(BUF);
  assert.throws(() => parseMetar("KBUF 322354Z"), { name: "MesonetError", message: /^"322354Z" is not the time/ });
  assert.deepEqual(parseMetar(BUF), before);
});

/** The names of an interface's members in a file of types. */
async function membersOf(file, name) {
  const path = fileURLToPath(new URL(`../../bindings-wasm/js/dist/${file}.d.ts`, import.meta.url));
  const [, body] = (await readFile(path, "utf8")).match(new RegExp(`interface ${name}(?: extends \\w+)? \\{\\n(.*?)\\n\\}`, "s"));
  return [...body.matchAll(/^ {4}readonly (\w+)\??:/gm)].map(([, member]) => member);
}

test("the report entry gives the groups that the metar entry gives", () => {
  const { tsMs, summary, ...groups } = parseMetar(BUF);
  assert.deepEqual(parseGroups(BUF), groups);
  assert.deepEqual([tsMs, typeof summary], [null, "string"]);
  assert.throws(() => parseGroups("KBUF"), { name: "MesonetError", message: /is not the time of a report/ });
  assert.throws(() => parseGroups(7), TypeError);
});

test("the types name every member of the results, in their order", async () => {
  const all =
    "METAR EGLL 312354Z 21014KT 180V240 5000 1200SW R23/2600V4500FT/U -SN BKN050CB 02/M07 A2973 W15/S4 RMK AO2 " +
    "PK WND 22030/31 WSHFT 2315 FROPA VIS 3/4V1 1/2 VIS NE 2 1/2 CIG 002 RWY11 BKN014 V OVC FU BKN020 RAB05 " +
    "LTG DSNT NE CB DSNT W MOV E 8/6// SC5 1CU030 56012";
  const report = parseMetar(all);
  const remarks = "metar_remarks";
  const shapes = [
    ["metar_report", "MetarGroups", parseGroups(all)],
    ["metar_report", "MetarWind", report.wind],
    ["metar_report", "MetarVisibility", report.visibility],
    ["metar_report", "DirectionalVisibility", report.directionalVisibilities[0]],
    ["metar_report", "RunwayVisualRange", report.runwayVisualRanges[0]],
    ["metar_report", "MetarWeather", report.weather[0]],
    ["metar_report", "MetarCloud", report.clouds[0]],
    ["metar_report", "MetarAltimeter", report.altimeter],
    [remarks, "MetarRemarks", report.remarks],
    [remarks, "MetarRange", report.remarks.variableVisibilityMi],
    [remarks, "PeakWind", report.remarks.peakWind],
    [remarks, "PressureTendency", report.remarks.pressureTendency],
    [remarks, "WindShift", report.remarks.windShift],
    [remarks, "SectorVisibility", report.remarks.sectorVisibilities[0]],
    [remarks, "MetarCeiling", report.remarks.ceilings[0]],
    [remarks, "VariableSky", report.remarks.variableSky[0]],
    [remarks, "Obscuration", report.remarks.obscurations[0]],
    [remarks, "WeatherTime", report.remarks.weatherTimes[0]],
    [remarks, "Lightning", report.remarks.lightning[0]],
    [remarks, "Phenomenon", report.remarks.phenomena[0]],
    [remarks, "CloudTypes", report.remarks.cloudTypes],
    [remarks, "CloudAmount", report.remarks.cloudAmounts[0]],
    [remarks, "CloudLayer", report.remarks.cloudLayers[0]],
    ["metar_readings", "MetarReadings", readMetars(table)],
  ];
  const groups = await membersOf("metar_report", "MetarGroups");
  assert.deepEqual(Object.keys(report), [...groups, ...(await membersOf("metar_report", "MetarReport"))]);
  for (const [file, name, value] of shapes) {
    assert.ok(value, `${name} is not in the report`);
    assert.deepEqual(Object.keys(value), await membersOf(file, name), name);
  }
});

test("a table has the readings of its reports, in columns of one length", () => {
  const readings = readMetars(table);
  assert.deepEqual([readings.kind, readings.read], ["awc-csv", 5003]);
  assert.equal(readings.refused, readings.refusals.length);
  const columns = Object.entries(readings).filter(([, column]) => ArrayBuffer.isView(column));
  assert.equal(columns.length, 14);
  for (const [name, column] of columns) {
    assert.equal(column.length, readings.length, name);
  }

  // Each report alone says the same of its temperature.
  const lines = table.toString().split("\n");
  const header = lines[0].split(",");
  const [textAt, timeAt] = [header.indexOf("raw_text"), header.indexOf("observation_time")];
  const stated = new Map();
  for (const line of lines.slice(1)) {
    const fields = line.split(",");
    if (fields.length === header.length && /^[A-Z]\w{3} \d{6}Z/.test(fields[textAt])) {
      const { station, temperatureC } = parseMetar(fields[textAt]);
      const key = `${station} ${Date.parse(fields[timeAt])}`;
      stated.set(key, [...(stated.get(key) ?? []), temperatureC]);
    }
  }
  const air = readings.variables.indexOf("airTemperature");
  const now = readings.intervalTypes.indexOf("Instantaneous");
  let compared = 0;
  for (let at = 0; at < readings.length; at += 1) {
    if (readings.variable[at] !== air || readings.intervalType[at] !== now) {
      continue;
    }
    assert.equal(readings.units[readings.unit[at]], "°C");
    const key = `${readings.stations[readings.station[at]]} ${readings.tsMs[at]}`;
    if (stated.has(key)) {
      assert.ok(stated.get(key).includes(readings.value[at]), key);
      compared += 1;
    }
  }
  assert.ok(compared > 4500, String(compared));
});

test("a bulletin is dated by its receipt; text, bytes and a buffer are the same", () => {
  const text = "METAR KBUF 010054Z 21014KT P10SM FEW020 02/M07 A2973 RMK AO2 PK WND 22030/2356 P0000=\n";
  const options = { receivedMs: Date.parse("2020-01-01T01:01Z") };
  const readings = readMetars(text, options);
  const bytes = new TextEncoder().encode(text);
  assert.deepEqual(readMetars(bytes, options), readings);
  assert.deepEqual(readMetars(bytes.buffer, options), readings);
  const row = (variable, intervalType) =>
    readings.variable.findIndex(
      (code, at) =>
        readings.variables[code] === variable && readings.intervalTypes[readings.intervalType[at]] === intervalType,
    );
  const peak = row("peakWindSpeed", "Instantaneous");
  assert.deepEqual([peak, new Date(readings.tsMs[peak]).toISOString()], [0, "2019-12-31T23:56:00.000Z"]);
  const seen = row("visibility", "Instantaneous");
  assert.equal(readings.qualifiers[readings.qualifier[seen] - 1], "at_least");
  assert.equal(readings.buckets[readings.bucket[row("cloudCover", "Instantaneous")]], "layer 1");
  assert.equal(readings.calculated[row("windSpeed10m", "Average")], 1);
  assert.ok(Number.isNaN(readings.lat[0]) && Number.isNaN(readings.altitudeM[0]));
});

test("a report that cannot be read is left out, counted and named", () => {
  const { read, refused, refusals, length } = readMetars("METAR KBUF 312354Z 21014KT=\nMETAR CYXX 0320Z 24012KT=\n");
  assert.deepEqual([read, refused, length], [1, 1, 3]);
  assert.match(refusals[0], /^line 2: "0320Z" is not the time of a report/);
});

const refused = [
  [
    "no time",
    () => parseMetar("KBUF 21014KT 10SM"),
    '"21014KT" is not the time of a report; after the station come day, hour and minute, for example 231118Z',
  ],
  [
    "two reports",
    () => parseMetar("KBUF 312354Z= KROC 312354Z"),
    'the text goes on after the = that ends a report: "KROC"; give one report at a time',
  ],
  ["a text too long", () => parseMetar("KBUF ".repeat(1000)), "the text has 5000 bytes; a report has 4096 at most"],
  [
    "half a millisecond",
    () => parseMetar(BUF, { receivedMs: 0.5 }),
    "receivedMs must be whole milliseconds; got 0.5",
  ],
  [
    "a time that is none",
    () => readMetars(table, { receivedMs: NaN }),
    "receivedMs must be whole milliseconds; got NaN",
  ],
  [
    "a file of no kind",
    () => readMetars("hello"),
    "content: its kind is unknown; readMetars reads awc-csv, awc-xml, metar-bulletin",
  ],
  [
    "a file of another kind",
    () => readMetars("station,valid,tmpf,dwpf\nORD,2024-08-03 20:51,84.0,66.0\n"),
    "content: its kind is iem-asos; readMetars reads awc-csv, awc-xml, metar-bulletin",
  ],
];
for (const [name, call, message] of refused) {
  test(`refused: ${name}`, () => {
    assert.throws(call, (error) => {
      assert.equal(error.message, message);
      return error instanceof MesonetError;
    });
  });
}

// At the boundary to WebAssembly each of these would become something else: 5 the text "5", null no
// bytes, a list of numbers bytes modulo 256, "0" and a date milliseconds.
const transferred = new Uint8Array(8);
structuredClone(transferred, { transfer: [transferred.buffer] });
const coerced = [
  ["a number as a report", () => parseMetar(5), "text must be a string; got number"],
  ["a boxed text", () => parseMetar(new String(BUF)), "text must be a string; got String"],
  ["bytes as a report", () => parseMetar(table), "text must be a string; got Uint8Array"],
  ["no report", () => parseMetar(), "text must be a string; got undefined"],
  ["a time as text", () => parseMetar(BUF, { receivedMs: "0" }), "receivedMs must be a number; got string"],
  ["a date", () => parseMetar(BUF, { receivedMs: new Date() }), "receivedMs must be a number; got Date"],
  ["a time as options", () => parseMetar(BUF, 0), "options must be an object; got number"],
  ["no time", () => readMetars(table, { receivedMs: null }), "receivedMs must be a number; got null"],
  ["no content", () => readMetars(null), "content must be a string, a Uint8Array or an ArrayBuffer; got null"],
  ["a list of bytes", () => readMetars([77, 69]), "content must be a string, a Uint8Array or an ArrayBuffer; got Array"],
  ["a transferred array", () => readMetars(transferred), "content has lost its content: its buffer was transferred"],
];
for (const [name, call, message] of coerced) {
  test(`not coerced: ${name}`, () => assert.throws(call, new TypeError(message)));
}
