// A page of a server whose clock is live shows what comes in.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { browse, openView, violations } from "./explorer.mjs";
import { serve, TARGET } from "./server.mjs";

const KEY = "mesonet_push_of_a_test";
let [folder, running, browser] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "mesonet-"));
  const hash = createHash("sha256").update(KEY).digest("hex");
  const args = ["--listen", "127.0.0.1:0", "--data", folder, "--now", "live", "--assume-plan", "commercial", "--rate-requests", "0", "--ingest-key-hashes", hash];
  running = await serve(process.env.MESONET_SERVER_BIN ?? join(TARGET, "debug", "mesonet-server"), args);
  browser = await browse();
  await push(9, 40);
});

after(async () => {
  await browser?.close();
  await running?.stop();
  await rm(folder, { recursive: true });
});

/** Pushes a report of some minutes ago with a temperature. */
async function push(celsius, minutes) {
  const now = new Date(Date.now() - minutes * 60_000);
  const two = (number) => String(number).padStart(2, "0");
  const day = now.toISOString().slice(0, 10).replaceAll("-", "");
  const time = `${two(now.getUTCDate())}${two(now.getUTCHours())}${two(now.getUTCMinutes())}Z`;
  const answer = await fetch(`${running.origin}/api/v1/ingest?name=sa_${day}.txt`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}` },
    body: `METAR CYYZ ${time} 24012KT 15SM ${two(celsius)}/05 A2991=\n`,
  });
  assert.equal(answer.status, 200, await answer.text());
}

test("a reading that comes in is on the map and in the panel soon after, and the page says when it was updated", async () => {
  const { page, problems } = await openView(browser, running.origin, "#CYYZ");
  await page.getByRole("cell", { name: "9.0 °C" }).first().waitFor();
  await page.getByText("Updated just now").waitFor();
  await page.waitForFunction(() => performance.getEntriesByType("resource").some(({ name }) => name.includes("/stations/readings")));
  await page.waitForTimeout(500);
  await push(17, 3);
  await page.getByRole("cell", { name: "17.0 °C" }).first().waitFor({ timeout: 20_000 });
  assert.match(await page.locator("#count").textContent(), /[1-9]/);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems.filter((text) => !text.includes("404")), []);
  await page.close();
});

test("a feed that is late has a mark in the quality layer, which leads to the feeds, and they have an address", async () => {
  const { page, problems } = await openView(browser, running.origin, "#layer=quality&map=43.7,-79.6,7");
  const feeds = page.getByRole("button", { name: "No feed is late" });
  await feeds.waitFor();
  // Real reports of a network that may be silent for two minutes would take as long: the answer is made late.
  await page.route("**/api/v1/feeds", async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    assert.equal(body.feeds[0].network, "METAR");
    assert.equal(body.feeds[0].lateAfterMinutes, 90);
    body.feeds[0] = { ...body.feeds[0], newest: new Date(Date.now() - 3 * 3_600_000).toISOString(), late: true };
    await route.fulfill({ response: answer, json: body });
  });
  await page.reload();
  const late = page.locator(".legend").getByRole("button", { name: "Feeds that are late: 1" });
  await late.click();
  await page.getByRole("heading", { name: "Age of the feeds" }).waitFor();
  await page.getByRole("cell", { name: "3 h late" }).waitFor();
  await page.locator("td").filter({ hasText: /^90.min$/ }).waitFor();
  await page.waitForFunction(() => location.hash.includes("feeds=open"));
  assert.deepEqual(await violations(page), []);
  await page.reload();
  await page.getByRole("heading", { name: "Age of the feeds" }).waitFor();
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes("feeds=open"));
  assert.deepEqual(problems, []);
  await page.close();
});

test("while the past is shown nothing moves, and what came is there when now is shown again", async () => {
  const { page } = await openView(browser, running.origin, "#layer=stations&map=43.7,-79.6,8&station=CYYZ");
  await page.getByRole("cell", { name: "17.0 °C" }).first().waitFor();
  await page.getByText("Updated just now").waitFor();
  await page.locator("#slider").focus();
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => location.hash.includes("time="));
  const shown = await page.locator("#clock").textContent();
  await push(21, 1);
  await page.waitForTimeout(4_500);
  assert.equal(await page.locator("#clock").textContent(), shown);
  await page.getByRole("button", { name: "Now" }).click();
  await page.getByRole("cell", { name: "21.0 °C" }).first().waitFor({ timeout: 20_000 });
  await page.close();
});
