// Reports a second, in Node: `node bench/metar.mjs [--write|--json]`. The table is one of those that the core is tested
// with. As JSON also what metar-taf-parser takes, if it is installed.
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";

import { load } from "mesonet/metar";

import { CPU_MEDIAN, asJson, report as writeReport } from "./report.mjs";

const wasm = await readFile(new URL("../dist/metar.wasm", import.meta.url));
const { parseMetar, readMetars } = await load(wasm);
const name = "liveairdata_metars_20240803T1732Z.csv.gz";
const table = gunzipSync(await readFile(new URL(`../../../tests/data/metar/${name}`, import.meta.url)));
const [header, ...rows] = table.toString().split("\n").map((line) => line.split(","));
const at = header.indexOf("raw_text");
const reports = rows.map((fields) => fields[at]).filter((text) => /^[A-Z]\w{3} \d{6}Z/.test(text));

/** CPU times of many runs, in milliseconds. */
function cpuTimes(runs, run) {
  return Array.from({ length: runs }, () => {
    const start = CPU_MEDIAN.now();
    run();
    return CPU_MEDIAN.now() - start;
  });
}

/** The reports a second of the fastest of many runs. */
const speed = (count, run) => Math.round((count / Math.min(...cpuTimes(30, run))) * 1e3);

const parseAll = () => reports.map((report) => parseMetar(report));

/** The row of the same reports by the package and by the peer, after their temperatures are compared. */
async function beside() {
  const peer = await import("metar-taf-parser").catch(() => undefined);
  if (peer === undefined) {
    return [];
  }
  const parseByPeer = () =>
    reports.map((report) => {
      try {
        return peer.parseMetar(report);
      } catch {
        return undefined; // It refuses some.
      }
    });
  const theirs = parseByPeer();
  // The peer's are of the body of a report, in whole degrees; ours are those of the remarks, in tenths.
  const equal = parseAll().filter(
    ({ temperatureC }, at) => temperatureC !== null && Math.abs(temperatureC - theirs[at]?.temperature) < 0.55,
  ).length;
  if (equal < 0.9 * reports.length) {
    throw new Error(`only ${equal} of ${reports.length} temperatures are equal`);
  }
  return [
    {
      what: "METAR to objects",
      size: `${reports.length.toLocaleString("en")} reports`,
      agreement: `${equal.toLocaleString("en")} temperatures equal to a degree`,
      ours: CPU_MEDIAN.of(cpuTimes(30, parseAll)),
      other: CPU_MEDIAN.of(cpuTimes(7, parseByPeer)),
    },
  ];
}

if (asJson) {
  console.log(JSON.stringify(await beside()));
} else {
  const { read, length } = readMetars(table);
  const text = table.toString();
  const measured = [
    ["a table, bytes", "columns (`readMetars`)", speed(read, () => readMetars(table))],
    ["a table, text", "columns (`readMetars`)", speed(read, () => readMetars(text))],
    ["reports", "objects (`parseMetar`)", speed(reports.length, parseAll)],
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
}
