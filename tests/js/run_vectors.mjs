// Runs all vectors through all entries of the package: in browsers, Deno and Bun alike, which have
// `mesonet` by its name. Gives for each file and entry how many cases ran, and how many there are.
import * as alertsEntry from "mesonet/alerts";
import * as checksEntry from "mesonet/checks";
import * as gridsEntry from "mesonet/grids";
import * as metarEntry from "mesonet/metar";
import * as reportEntry from "mesonet/report";
import * as slim from "mesonet/slim";

import { RUNNERS, alertFiles, alerts, casesOf, checks, checksOf, groupsOfReports, metar, nativeGrid, reportsOf } from "./vectors.mjs";

/**
 * `vectors` gives a file of vectors by its name, and `content` an unpacked file by its path below
 * tests/data.
 */
export async function runVectors({ vectors, content }) {
  const loaded = async (entry) => ({ ...entry, ...(await entry.load()) });
  // The slim entry first: after the inlined one the module would already be loaded.
  const entries = { slim: await loaded(slim), inlined: await import("mesonet") };
  const ran = {};
  for (const [entry, mesonet] of Object.entries(entries)) {
    for (const [name, run] of Object.entries(RUNNERS)) {
      const file = await vectors(name);
      ran[`${entry} ${name}`] = { ran: run(mesonet, file), cases: casesOf(file) };
    }
  }
  const ofChecks = await vectors("checks.json");
  ran.checks = { ran: checks(await loaded(checksEntry), ofChecks), cases: checksOf(ofChecks) };
  const ofGrids = await vectors("native_grid.json");
  ran.grids = { ran: nativeGrid(await loaded(gridsEntry), ofGrids), cases: ofGrids.cases };
  const ofMetar = await vectors("metar.json");
  ran.metar = { ran: metar(await loaded(metarEntry), ofMetar), cases: ofMetar.cases };
  ran.report = { ran: groupsOfReports(await loaded(reportEntry), ofMetar), cases: reportsOf(ofMetar) };
  const ofAlerts = await vectors("alerts.json");
  const contents = {};
  for (const path of alertFiles(ofAlerts)) {
    contents[path] = await content(path);
  }
  const ranAlerts = alerts(await loaded(alertsEntry), ofAlerts, contents);
  ran.alerts = { ran: ranAlerts, cases: ofAlerts.cases };
  return ran;
}

/** How many runs that are: each file through each entry that has its functions. */
export const RUNS = 2 * Object.keys(RUNNERS).length + 5;
