// Opens pages in Firefox, which no driver steers here: they send their results themselves.
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { within } from "./child.mjs";

/** The program: FIREFOX, or Debian's; undefined if there is none. */
export const FIREFOX = [process.env.FIREFOX, "firefox-esr", "firefox"].find((program) => {
  try {
    return program && execFileSync(program, ["--version"], { stdio: "ignore", timeout: 60_000 }) === null;
  } catch {
    return false;
  }
});

// A new profile would ask other servers for updates, lists and experiments.
const PREFERENCES = {
  "app.normandy.enabled": false,
  "app.update.enabled": false,
  "browser.aboutwelcome.enabled": false,
  "browser.safebrowsing.malware.enabled": false,
  "browser.safebrowsing.phishing.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "extensions.update.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "services.settings.server": "http://127.0.0.1:9",
  "toolkit.telemetry.enabled": false,
};

/** Opens a page of `pages` with a profile of its own, and returns the results that it sends. */
export async function resultsInFirefox(pages, path) {
  const profile = await mkdtemp(join(tmpdir(), "mesonet-firefox-"));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  await writeFile(join(profile, "user.js"), lines.join("\n"));
  const { reported } = pages;
  const args = ["--headless", "--no-remote", "--profile", profile, `${pages.origin}${path}?report`];
  const browser = spawn(FIREFOX, args, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  browser.stderr.setEncoding("utf8").on("data", (text) => (log += text));
  const ended = new Promise((resolve) => browser.once("close", resolve));
  const gone = ended.then((code) => {
    throw new Error(`Firefox ended with ${code} before the page sent its results:\n${log}`);
  });
  gone.catch(() => {});
  try {
    const said = () => `${log}\n${pages.requests.join("\n")}`;
    return await within(Promise.race([reported, gone]), browser, said, 120_000);
  } finally {
    browser.kill();
    await ended;
    await rm(profile, { recursive: true, maxRetries: 5 });
  }
}
