// The list of alerts in the explorer: a row for each event, filters, and one stop of the Tab key.
import assert from "node:assert/strict";
import { test } from "node:test";

import { explorer, openView, violations } from "./explorer.mjs";
import { LOOKS } from "./explorer_views.mjs";

const { browser, open, origin } = explorer();

const rows = (page) => page.locator(".list > ul > li");
const outlines = (page) => page.evaluate(() => new Set(Object.values(window.explorer.map._layers).flatMap((one) => (one.feature?.geometry ? [one._leaflet_id] : []))).size);

test("an event is one row, with what, where, until when and how grave; its parts can be listed", async () => {
  const { page, problems } = await open("#layer=alerts&map=40,-96,4");
  await page.getByText(/\d+ events, 39\d alerts/).waitFor();
  const [, events, alerts] = (await page.locator(".filters p").textContent()).match(/(\d+) events, (\d+) alerts/).map(Number);
  assert.equal(await rows(page).count(), events);
  assert.ok(events < alerts * 0.6, `${events} events of ${alerts} alerts`);
  const tornado = rows(page).filter({ hasText: "red warning - tornado" });
  assert.equal(await tornado.count(), 1);
  assert.match(await tornado.textContent(), /Sarnia.*until Aug 13, 00:\d\d UTC.*extreme.*Environment Canada.*3 messages/);
  const small = rows(page).filter({ hasText: /Small Craft Advisory.*Anchorage/ }).filter({ has: page.locator(".more") }).first();
  await small.locator(".more").click();
  assert.ok((await small.locator("li").count()) > 3);
  assert.match(await small.locator("li").first().textContent(), /until Jul \d+, \d\d:\d\d UTC/);
  await small.locator("li button").nth(1).click();
  await page.locator(".alert h2").waitFor();
  assert.equal(await small.locator('li button[aria-current="true"]').count(), 1);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});

test("hazard, severity, office and province or state filter the list and the map, and the address has them", async () => {
  const { page, problems } = await open("#layer=alerts&map=40,-96,4");
  await page.getByText(/\d+ events, 39\d alerts/).waitFor();
  await page.waitForFunction(() => Object.values(window.explorer.map._layers).some((one) => one.feature?.geometry));
  const all = await outlines(page);
  await page.getByLabel("Hazard").selectOption("Flood Warning");
  await page.waitForFunction(() => location.hash.includes("hazard=Flood"));
  const flood = await rows(page).count();
  for (const text of await rows(page).locator("b").allTextContents()) assert.equal(text, "Flood Warning");
  assert.ok((await outlines(page)) < all / 2);
  const texas = await page.getByLabel("Province or state").locator("option", { hasText: "Texas" }).getAttribute("value");
  await page.getByLabel("Province or state").selectOption(texas);
  await page.waitForFunction((before) => document.querySelectorAll(".list > ul > li").length < before, flood);
  assert.ok((await rows(page).count()) > 0);
  // The other choices are those that are left.
  for (const office of await page.getByLabel("Office").locator("option").allTextContents()) assert.match(office, /TX|All offices|County/);
  const view = await page.evaluate(() => location.hash);
  const { page: again } = await openView(browser(), origin(), view);
  await rows(again).first().waitFor();
  assert.equal(await rows(again).count(), await rows(page).count());
  await again.close();
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByText(/\d+ events, 39\d alerts/).waitFor();
  await page.getByLabel("Province or state").selectOption({ label: (await page.getByLabel("Province or state").locator("option", { hasText: "Ontario" }).textContent()).trim() });
  assert.ok((await rows(page).count()) >= 1);
  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByLabel("Severity").selectOption("Extreme");
  for (const text of await rows(page).allTextContents()) assert.match(text, /extreme/);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});

test("the list is one stop of the Tab key, and arrows go through it", async () => {
  const { page, problems } = await open("#layer=alerts&map=40,-96,4");
  await rows(page).first().waitFor();
  assert.equal(await page.locator('.list ul button[tabindex="0"]').count(), 1);
  await page.locator("#filter-region").focus();
  await page.keyboard.press("Tab");
  const focused = () => page.evaluate(() => [...document.querySelectorAll(".list ul button")].indexOf(document.activeElement));
  assert.equal(await focused(), 0);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await focused(), 2);
  await page.keyboard.press("End");
  assert.equal(await focused(), (await page.locator(".list ul button").count()) - 1);
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), -1);
  await page.keyboard.press("Shift+Tab");
  assert.equal(await focused(), 1);
  await page.keyboard.press("Enter");
  await page.locator(".alert h2").waitFor();
  assert.equal(await page.locator('.list ul button[tabindex="0"]').count(), 1);
  assert.deepEqual(problems, []);
  await page.close();
});

test("on a phone, in French and in the dark, the list and its filters are accessible", async () => {
  const { page, problems } = await open("#layer=alerts&map=40,-96,4&lang=fr", LOOKS["phone-dark"]);
  await page.getByRole("button", { name: "Liste" }).click();
  await rows(page).first().waitFor();
  await page.getByText(/\d+ événements, 39\d alertes/).waitFor();
  assert.match(await rows(page).first().textContent(), /jusqu’au/);
  assert.ok(await page.getByLabel("Province ou État").locator("option", { hasText: "Caroline du Nord" }).count() > 0);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});
