// Reports a second, in Node: `node bench/metar.mjs [--write]`. The table is one of those that the core is tested
// with.
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";

import { load } from "mesonet/metar";

import { report as writeReport } from "./report.mjs";

const wasm = await readFile(new URL("../dist/metar.wasm", import.meta.url));
const { parseMetar, readMetars } = await load(wasm);
const name = "liveairdata_metars_20240803T1732Z.csv.gz";
const table = gunzipSync(await readFile(new URL(`../../../tests/data/metar/${name}`, import.meta.url)));
const [header, ...rows] = table.toString().split("\n").map((line) => line.split(","));
const at = header.indexOf("raw_text");
const reports = rows.map((fields) => fields[at]).filter((text) => /^[A-Z]\w{3} \d{6}Z/.test(text));

/** The reports a second of the fastest of many runs, by the time of the process alone. */
function speed(count, run) {
  const times = Array.from({ length: 30 }, () => {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    return user + system;
  });
  return Math.round((count / Math.min(...times)) * 1e6);
}

const { read, length } = readMetars(table);
const text = table.toString();
const measured = [
  ["a table, bytes", "columns (`readMetars`)", speed(read, () => readMetars(table))],
  ["a table, text", "columns (`readMetars`)", speed(read, () => readMetars(text))],
  ["reports", "objects (`parseMetar`)", speed(reports.length, () => reports.forEach((report) => parseMetar(report)))],
];
const lines = measured.map(([from, to, perSecond]) => `| ${from} | ${to} | ${perSecond.toLocaleString("en")} |`);
await writeReport(
  "metar.mjs",
  [
    `METAR in Node ${process.version.slice(1).split(".")[0]}, a table of ${read.toLocaleString("en")} reports with ${length.toLocaleString("en")} readings, processor time:`,
    "",
    "| from | to | reports a second |",
    "| --- | --- | ---: |",
    ...lines,
  ].join("\n"),
);
