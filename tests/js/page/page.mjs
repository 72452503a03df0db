// Runs the vectors through all entries, then decodes a tile from the wire and draws it. The results
// are left in window.results for the test that opened the page.
import * as alertsEntry from "mesonet/alerts";
import * as checksEntry from "mesonet/checks";
import { connect } from "mesonet/client";
import * as gridsEntry from "mesonet/grids";
import { load as loadNetwork } from "mesonet/network";
import * as slim from "mesonet/slim";

import { RUNNERS, alertFiles, alerts, casesOf, checks, checksOf, nativeGrid } from "/js/vectors.mjs";

const get = async (path) => {
  const response = await fetch(path);
  if (!response.ok) {
    throw new Error(`${path}: ${response.status}`);
  }
  return response;
};

try {
  // The slim entry first: after the inlined one the module would already be loaded.
  const entries = { slim: { ...slim, ...(await slim.load()) }, inlined: await import("mesonet") };
  const ran = {};
  for (const [entry, mesonet] of Object.entries(entries)) {
    for (const [name, run] of Object.entries(RUNNERS)) {
      const file = await (await get(`/vectors/${name}`)).json();
      ran[`${entry} ${name}`] = { ran: run(mesonet, file), cases: casesOf(file) };
    }
  }
  const checksFile = await (await get("/vectors/checks.json")).json();
  ran.checks = {
    ran: checks({ ...checksEntry, ...(await checksEntry.load()) }, checksFile),
    cases: checksOf(checksFile),
  };

  const gridsFile = await (await get("/vectors/native_grid.json")).json();
  ran.grids = {
    ran: nativeGrid({ ...gridsEntry, ...(await gridsEntry.load()) }, gridsFile),
    cases: gridsFile.cases,
  };

  const alertsFile = await (await get("/vectors/alerts.json")).json();
  const contents = {};
  for (const path of alertFiles(alertsFile)) {
    const { body } = await get(`/data/${path}`);
    const unpacked = new Response(body.pipeThrough(new DecompressionStream("gzip")));
    contents[path] = new Uint8Array(await unpacked.arrayBuffer());
  }
  ran.alerts = {
    ran: alerts({ ...alertsEntry, ...(await alertsEntry.load()) }, alertsFile, contents),
    cases: alertsFile.cases,
  };

  const { encoding } = await (await get("/tile.json")).json();
  const bytes = await (await get("/tile.bin")).arrayBuffer();
  const values = entries.slim.decodeTile(bytes, encoding);
  const { checkNetwork } = await loadNetwork();
  const site = { lon: -100, lat: 45 };
  const air = { variable: "airTemperature", intervalType: "Instantaneous", intervalMinutes: 0 };
  const series = [{ ...air, tsMs: Float64Array.of(0), value: Float64Array.of(140) }];
  const [[verdicts]] = checkNetwork([{ site, series }]);
  // The client against the server of this page.
  const { openapi } = await connect(location.origin).getDescription();
  draw(values, document.querySelector("canvas"));
  const present = values.filter((value) => !Number.isNaN(value));
  window.results = {
    ran,
    verdict: verdicts.base[0],
    openapi,
    values: { count: values.length, present: present.length, first: values[0], last: values.at(-1) },
  };
  document.querySelector("#report").textContent = JSON.stringify(window.results, null, 2);
} catch (error) {
  window.results = { error: String(error?.stack ?? error) };
}

/** Blue for the least value, red for the greatest, transparent if there is none. */
function draw(values, canvas) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  let [min, max] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isNaN(value)) {
      [min, max] = [Math.min(min, value), Math.max(max, value)];
    }
  }
  values.forEach((value, at) => {
    if (!Number.isNaN(value)) {
      const heat = (value - min) / (max - min);
      image.data.set([Math.round(255 * heat), 0, Math.round(255 * (1 - heat)), 255], at * 4);
    }
  });
  context.putImageData(image, 0, 0);
}
