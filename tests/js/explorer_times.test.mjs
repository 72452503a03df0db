// Times in the explorer: in the zone that is chosen, and always with its name.
import assert from "node:assert/strict";
import { test } from "node:test";

import { explorer, violations, waitForStations } from "./explorer.mjs";
import { exportsOf } from "./explorer_source.mjs";
import { LOOKS, TORONTO } from "./explorer_views.mjs";

const { open } = explorer();

test("the two times of 1:30 in the night when clocks are set back have different names", async () => {
  const { hourOf, longTime, shortTime, zoneName } = await exportsOf("domain/time.ts");
  const [summer, winter] = [Date.UTC(2024, 10, 3, 5, 30), Date.UTC(2024, 10, 3, 6, 30)];
  for (const ms of [summer, winter]) assert.equal(hourOf(ms, "America/Toronto"), "01:30");
  for (const locale of ["en-CA", "fr-CA"]) {
    assert.notEqual(shortTime(summer, locale, "America/Toronto"), shortTime(winter, locale, "America/Toronto"));
    assert.notEqual(longTime(summer, locale, "America/Toronto"), longTime(winter, locale, "America/Toronto"));
  }
  assert.deepEqual([summer, winter].map((ms) => zoneName(ms, "en-CA", "America/Toronto")), ["EDT", "EST"]);
  assert.match(shortTime(summer, "en-CA"), /05:30 UTC$/);
  // A zone whose offset is no whole hour, and one across the date line.
  assert.match(shortTime(Date.UTC(2024, 0, 1, 12), "en-CA", "America/St_Johns"), /08:30 NST$/);
  assert.match(shortTime(Date.UTC(2024, 0, 1, 12), "en-CA", "Pacific/Kiritimati"), /Jan.* 2.* 02:00 \S+/);
});

test("all times are in UTC, in the zone of the station or in that of the reader, and say so", async () => {
  const { page, problems } = await open(`#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`, { timezoneId: "Europe/Paris" });
  await page.getByRole("heading", { name: /Pearson/ }).waitFor();
  await page.locator(".plot canvas").first().waitFor();
  const updated = page.getByText(/^Last report/);
  const choice = page.locator("#clock-choice");
  assert.match(await page.locator("#clock").textContent(), /21:\d\d UTC$/);
  assert.match(await updated.textContent(), /21:00 UTC/);
  // The tip has the others.
  assert.match(await updated.getAttribute("title"), /17:00 EDT · .*23:00 (CEST|GMT\+2|UTC\+2)/);
  await page.waitForFunction(() => document.querySelector("#clock-choice").options[1].textContent.includes("EDT"));
  await choice.selectOption("station");
  assert.match(await page.locator("#clock").textContent(), /17:\d\d EDT$/);
  assert.match(await updated.textContent(), /17:00 EDT/);
  await page.getByText("Times in EDT.").waitFor();
  assert.ok((await page.evaluate(() => location.hash)).includes("clock=station"));
  assert.deepEqual(await violations(page), []);
  await choice.selectOption("mine");
  assert.match(await updated.textContent(), /23:00 (CEST|GMT\+2|UTC\+2)/);
  await page.locator("#language").click();
  assert.match(await page.locator("#clock").textContent(), /23 h \d\d (HAEC|UTC\+2|UTC\u00a0?\+2|HEEC)/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("without a station its clock is that of UTC; alerts and models have the zone too", async () => {
  const { page, problems } = await open("#layer=stations&clock=station", LOOKS.light);
  await waitForStations(page, 2_900);
  assert.match(await page.locator("#clock").textContent(), /UTC$/);
  await page.keyboard.press("3");
  await page.locator(".list li button").first().click();
  await page.locator(".times time").first().waitFor();
  for (const text of await page.locator(".times time").allTextContents()) assert.match(text, /UTC$/);
  assert.deepEqual(problems, []);
  await page.close();
});
