// How fast the explorer is: `node tests/js/explorer_bench.mjs`, after `cargo build --release -p mesonet-server`, on a machine that
// does nothing else. `--write` puts the figures into docs/explorer.md. MESONET_SERVER_BIN is another server.
import { access, readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { browse, waitForStations } from "./explorer.mjs";
import { answerWithNetwork, pan } from "./explorer_network.mjs";
import { startServer, TARGET } from "./server.mjs";

const STATIONS = 10_000;
const STEPS = 240;
const OPENINGS = 9;
/** Chromium's "Slow 3G". */
const SLOW_LINE = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const SLOW_OPENINGS = 5;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SHEET = fileURLToPath(new URL("../../docs/explorer.md", import.meta.url));
const [BEGIN, END] = ["<!-- figures -->", "<!-- end of figures -->"];

process.env.MESONET_SERVER_BIN ??= join(TARGET, "release", "mesonet-server");
await access(process.env.MESONET_SERVER_BIN).catch(() => {
  throw new Error(`${process.env.MESONET_SERVER_BIN} is missing: cargo build --release -p mesonet-server`);
});

/** A server as it is named from the folder of the project. */
const named = (binary) => (relative(ROOT, binary).startsWith("..") ? basename(binary) : relative(ROOT, binary));

/** The value below which a part of the values lies. */
const quantile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * part)];
const ms = (value) => `${value.toFixed(value < 100 ? 1 : 0)} ms`;

/** Pictures of many stations while the map is moved. */
async function moves(browser, origin) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await answerWithNetwork(page, STATIONS);
  await page.goto(`${origin}/#map=40,-96,4`);
  await waitForStations(page, STATIONS);
  // The first moves compile the program.
  await pan(page, 60);
  const measured = await pan(page, STEPS);
  await page.close();
  return measured;
}

/** From the request of the page to the first picture with values of stations, in a browser without a cache. */
async function firstPicture(browser, origin, line) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  if (line) {
    const debug = await page.context().newCDPSession(page);
    await debug.send("Network.enable");
    await debug.send("Network.emulateNetworkConditions", line);
  }
  await page.goto(origin, { waitUntil: "commit" });
  await page.waitForFunction(() => /[1-9]/.test(document.querySelector("#count")?.textContent ?? ""));
  const at_ms = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(performance.now()))));
  await page.close();
  return at_ms;
}

const server = await startServer();
const browser = await browse();
try {
  // The server compresses a file when it is first requested.
  await firstPicture(browser, server.origin);
  const openings_ms = [];
  for (let count = 0; count < OPENINGS; count += 1) openings_ms.push(await firstPicture(browser, server.origin));
  const slowly_ms = [];
  for (let count = 0; count < SLOW_OPENINGS; count += 1) slowly_ms.push(await firstPicture(browser, server.origin, SLOW_LINE));
  const { drawn_ms, frames_ms } = await moves(browser, server.origin);
  const rows = [
    ["What", "Median", "95 of 100 are below", "Aim"],
    ["---", "---", "---", "---"],
    ["Drawing 10,000 stations at a move of the map", drawn_ms, "a median under 16 ms"],
    ["From frame to frame while the map is moved", frames_ms, "a median of 16.7 ms, the screen's own"],
    ["First picture with values, from the request of the page", openings_ms, "1 s"],
    ["The same on a line of 400 kbit/s that takes 400 ms to answer", slowly_ms, "5 s"],
  ].map(([what, values, ...rest]) => (Array.isArray(values) ? [what, ms(quantile(values, 0.5)), ms(quantile(values, 0.95)), ...rest] : [what, values, ...rest]));
  const day = new Date().toISOString().slice(0, 10);
  const about = `Measured ${day}: ${cpus().length} × ${cpus()[0].model.trim()}, Chromium ${browser.version()} headless without a graphics processor, ${named(process.env.MESONET_SERVER_BIN)} on loopback.`;
  const figures = [...rows.map((row) => `| ${row.join(" | ")} |`), "", about].join("\n");
  console.log(figures);
  if (process.argv.includes("--write")) {
    const text = await readFile(SHEET, "utf8");
    const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
    if (from < 0 || to < from) throw new Error(`${SHEET} has no place for figures`);
    await writeFile(SHEET, `${text.slice(0, from + BEGIN.length)}\n${figures}\n${text.slice(to)}`);
  }
} finally {
  await browser.close();
  await server.stop();
}
