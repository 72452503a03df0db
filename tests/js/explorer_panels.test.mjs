// What the explorer's panels lead to: places, times and areas that are found, a sheet that is drawn, every view in every look.
import assert from "node:assert/strict";
import { test } from "node:test";

import { screenshot } from "./browser.mjs";
import { explorer, loaded, stationCount, violations, waitForStations } from "./explorer.mjs";
import { exportsOf } from "./explorer_source.mjs";
import { LOOKS, TORONTO, VIEWS } from "./explorer_views.mjs";

const { open, openFresh } = explorer();

test("an area has its alerts on a line of time, and leads to each and back", async () => {
  const { page, problems } = await openFresh("#layer=alerts&area=041320");
  await page.getByRole("heading", { name: /Sarnia/ }).waitFor();
  const messages = page.locator(".messages li");
  assert.equal(await messages.count(), 3);
  assert.equal(await page.locator(".timeline rect").count(), 3);
  assert.equal(await page.locator(".timeline .now").count(), 1);
  assert.match(await messages.nth(0).textContent(), /Superseded.*Followed by Aug 12, 23:13/);
  assert.match(await messages.nth(1).textContent(), /Update Active/);
  assert.match(await messages.nth(2).textContent(), /Not sent yet/);
  await messages.nth(1).getByRole("button").click();
  await page.getByRole("heading", { name: /tornado/ }).first().waitFor();
  await page.locator(".areas").getByRole("button", { name: /Sarnia/ }).click();
  await page.waitForFunction(() => location.hash.includes("area=041320"));
  await page.getByRole("heading", { name: /Sarnia/ }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: /tornado/ }).first().waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".panel").waitFor({ state: "hidden" });
  assert.deepEqual(problems, []);
  await page.close();
});

test("an address may name a station by any of its ids, alone too", async () => {
  for (const hash of ["#CYYZ", "#station=METAR:CYYZ&layer=stations", "#CYYZ%20"]) {
    const { page, problems } = await open(hash);
    await page.getByRole("heading", { name: /Pearson/ }).waitFor();
    // From then on the address has its id, which no other station ever gets; the map is there.
    await page.waitForFunction((id) => location.hash.includes(`station=${id}`), TORONTO);
    await page.waitForFunction(() => /map=43\.6\d*,-79\.6\d*,8/.test(location.hash));
    assert.deepEqual(problems, []);
    await page.close();
  }
  const { page } = await open("#XXXX");
  await page.getByText('no station has the id "XXXX"').waitFor();
  await page.close();
  const { page: placed } = await open("#station=CYYZ&map=45,-75,6");
  await placed.getByRole("heading", { name: /Pearson/ }).waitFor();
  assert.ok((await placed.evaluate(() => location.hash)).includes("map=45,-75,6"));
  await placed.close();
});

/** Choices whose text is wider than their box. */
const cutChoices = (page) =>
  page.locator("select:visible").evaluateAll((all) =>
    all.flatMap((select) => {
      const { font, paddingLeft, paddingRight } = getComputedStyle(select);
      const context = document.createElement("canvas").getContext("2d");
      context.font = font;
      const text = select.selectedOptions[0]?.textContent ?? "";
      // The arrow takes a letter's width.
      const room = select.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - 16;
      const wide = context.measureText(text).width;
      return wide > room ? [`${text}: ${wide} of ${room} px`] : [];
    }),
  );

const LOOKED_AT = ["alert", "map", "station", "report", "alerts", "area", "models", "sounding", "radar", "quality", "extremes", "feeds", "isobars", "fitted", "embed", "search"];

for (const name of LOOKED_AT) {
  for (const look of ["light", "phone-dark"]) {
    const [address, isReady] = VIEWS[name];
    test(`${name}, ${look}: accessible, no error, no foreign request`, async () => {
      const { page, problems } = await (name === "alert" ? openFresh : open)(address, LOOKS[look]);
      await isReady(page);
      assert.deepEqual(await violations(page), []);
      const { width, height } = LOOKS[look].viewport;
      const size = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]);
      assert.deepEqual(size, [width, height], "nothing lies beyond the page");
      assert.deepEqual(await cutChoices(page), []);
      assert.deepEqual(problems, []);
      await screenshot(page, `explorer-${name}-${look}`);
      await page.close();
    });
  }
}

test("a town is found without its accents, over the map, and the map goes there", async () => {
  const { page, problems } = await open();
  await waitForStations(page, 2_900);
  await page.waitForLoadState("networkidle");
  assert.deepEqual((await loaded(page)).filter((url) => url.includes("places")), [], "the towns are loaded when they are searched");
  await page.keyboard.press("/");
  await page.keyboard.type("quebec");
  const first = page.getByRole("option", { name: /^Québec, QC/ });
  await first.waitFor();
  assert.equal(await first.getAttribute("aria-selected"), "true");
  // What was found once lay under the map.
  const box = await first.boundingBox();
  const isOnTop = ([x, y]) => document.elementFromPoint(x, y).closest("#found") !== null;
  assert.ok(await page.evaluate(isOnTop, [box.x + box.width / 2, box.y + box.height / 2]));
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => /map=46\.8\d*,-71\.2\d*,9/.test(location.hash));
  for (const [typed, found] of [["springfield, il", /^Springfield, IL/], ["los a", /^Los Angeles, CA/]]) {
    await page.locator("#search").fill(typed);
    await page.getByRole("option", { name: found }).waitFor();
  }
  // A second search at once keeps the list: it closed 150 ms after the focus had gone.
  await page.keyboard.press("Enter");
  await page.locator("#search").fill("springfield, il");
  await page.waitForTimeout(300);
  assert.ok(await page.getByRole("option", { name: /^Springfield, IL/ }).isVisible());
  assert.deepEqual(problems, []);
  await page.close();
});

test("where the map shows nothing, it says where or when the nearest values are", async () => {
  const { page, problems } = await open("#layer=stations&map=60,-40,6");
  await page.getByText("None in this part of the map.").waitFor();
  await page.locator(".hint-line button").click();
  await page.locator(".panel h2").waitFor();
  assert.ok((await page.evaluate(() => location.hash)).includes("station="));
  await page.locator(".hint-line").waitFor({ state: "hidden" });
  await page.close();
  // A time that the slider does not reach shows nothing of another time.
  const { page: early } = await open("#layer=stations&time=2024-07-01T00:00Z");
  await early.getByText("No station reports this at this time.").waitFor();
  // The details of stations come when all readings have.
  const latest = early.getByRole("button", { name: /Latest: Aug 3/ });
  await latest.waitFor();
  assert.equal(await stationCount(early), 0);
  const asked = (await loaded(early)).filter((url) => url.includes("/stations/readings?"));
  assert.deepEqual(asked.filter((url) => !url.includes("end=2024-07-01")), [], "no other time is asked for");
  await latest.click();
  await waitForStations(early, 1_000);
  assert.deepEqual(problems, []);
  await early.close();
});

test("on a phone the panel is a sheet that a finger, a press and keys draw", async () => {
  const { page, problems } = await open(`#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`, LOOKS.phone);
  await page.getByRole("heading", { name: "Toronto Pearson International Airport" }).waitFor();
  const part = () => page.evaluate(() => document.querySelector(".panel").offsetHeight / document.querySelector(".page").offsetHeight);
  const settles = (least, most) =>
    page.waitForFunction(
      ([low, high]) => {
        const now = document.querySelector(".panel").offsetHeight / document.querySelector(".page").offsetHeight;
        return now > low && now < high && document.querySelector(".page").style.getPropertyValue("--sheet") === "";
      },
      [least, most],
    );
  await settles(0.45, 0.55);
  const handle = page.locator(".handle");
  await handle.focus();
  await page.keyboard.press("ArrowUp");
  await settles(0.75, 0.9);
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await settles(0.1, 0.3);
  assert.match(await handle.getAttribute("aria-label"), /low/);
  await page.keyboard.press("Enter");
  await settles(0.45, 0.55);
  const draw = async (by) => {
    const { x, y, width } = await handle.boundingBox();
    await page.mouse.move(x + width / 2, y + 12);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, y + 12 + by / 2, { steps: 4 });
    await page.mouse.move(x + width / 2, y + 12 + by, { steps: 4 });
    assert.ok(Math.abs((await part()) - 0.5) > 0.1, "it follows the finger");
    await page.mouse.up();
  };
  await draw(-240);
  await settles(0.75, 0.9);
  await handle.click();
  await settles(0.1, 0.3);
  await handle.click();
  await settles(0.45, 0.55);
  await draw(300);
  await settles(0.1, 0.3);
  assert.deepEqual(problems, []);
  await page.close();
});

test("the verdicts of the network are told by check", async () => {
  const { page, problems } = await open("#layer=quality");
  const ask = page.getByRole("button", { name: /Ask why, for \d+ readings/ });
  const count = Number((await ask.textContent()).match(/\d+/)[0]);
  await ask.click();
  const rows = page.locator(".checks tr");
  await rows.first().waitFor();
  const counts = await rows.locator("td:last-child").allTextContents();
  assert.equal(counts.map(Number).reduce((a, b) => a + b), count);
  await rows.getByText("neighbours", { exact: true }).waitFor();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});

test("in French nothing that the page says itself is in English", async () => {
  const { WORDS } = await exportsOf("ui/words.ts");
  // What alerts say is in the language of their issuer.
  const english = new Set(Object.values(WORDS).filter(([en, fr]) => en !== fr).map(([en]) => en));
  for (const french of Object.values(WORDS).map(([, fr]) => fr)) english.delete(french);
  // Those with parts to fill in, where what stands between the parts tells the languages apart.
  const filled = [...english].filter((text) => /\{\d\}/.test(text) && /[A-Za-z]{3}/.test(text));
  const escaped = (text) => text.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&");
  const patterns = filled.map((text) => new RegExp(`^${text.split(/\{\d\}/).map(escaped).join(".+")}$`));
  for (const name of ["map", "plots", "alerts", "models", "sounding", "radar", "quality", "extremes", "feeds", "isobars"]) {
    const [address] = VIEWS[name];
    const { page, problems } = await open(`${address}&lang=fr`);
    await page.waitForFunction(() => document.documentElement.lang === "fr");
    await page.locator(name === "map" || name === "alerts" || name === "models" || name === "isobars" || name === "radar" ? ".legend" : ".panel h3, .panel h2").first().waitFor();
    await page.waitForTimeout(1_000);
    const said = await page.evaluate(() => {
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const all = [];
      while (walker.nextNode()) {
        if (!walker.currentNode.parentElement.closest("[lang=en], .list li")) all.push(walker.currentNode.textContent.trim());
      }
      for (const element of document.querySelectorAll("[aria-label], [title]")) all.push(element.getAttribute("aria-label"), element.getAttribute("title"));
      return all;
    });
    assert.ok(said.length > 20, name);
    assert.deepEqual(said.filter((text) => english.has(text) || patterns.some((pattern) => pattern.test(text))), [], name);
    assert.deepEqual(problems, []);
    await page.close();
  }
});
