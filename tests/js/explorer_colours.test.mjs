// Colours for what is there, lines of equal value, shares in doubt, and what the signs on the map stand for.
import assert from "node:assert/strict";
import { test } from "node:test";

import { coloursOf, explorer, pointOf, violations, waitForStations } from "./explorer.mjs";
import { exportsOf } from "./explorer_source.mjs";

const { open } = explorer();
const hashHas = (page, text) => page.waitForFunction((wanted) => location.hash.includes(wanted), text);
const isTiled = (page) => page.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 2);

test("a scale is fitted to the values between its ends, with round numbers, and few values leave it as it is", async () => {
  const { colourOf, fittedScale, niceStep, scales } = await exportsOf("domain/colour.ts");
  assert.deepEqual([0.3, 1, 1.1, 2.4, 7, 12, 130].map(niceStep), [0.5, 1, 2, 5, 10, 20, 200]);
  const values = Array.from({ length: 1000 }, (_, at) => 15.3 + (at / 1000) * 18);
  const fitted = fittedScale(scales.temperature, [...values, 900, -900, Number.NaN]);
  assert.deepEqual([fitted.from, fitted.to], [15, 35]);
  assert.deepEqual(colourOf(fitted, 15), colourOf(scales.temperature, -40));
  assert.equal(fittedScale(scales.temperature, [1, 2, 3]), scales.temperature);
  const equal = fittedScale(scales.pressure, Array(50).fill(1013.2));
  assert.ok(equal.from <= 1013.2 && equal.to >= 1013.2 && equal.to > equal.from);
  // What has no colour does not count: rain begins where there is some.
  const rain = fittedScale(scales.rain, [...Array(500).fill(0), ...Array.from({ length: 100 }, (_, at) => 1 + at / 10)]);
  assert.ok(rain.from >= 0 && rain.to <= 12, `${rain.from} to ${rain.to}`);
  assert.equal(colourOf(rain, 0), undefined);
});

test("on request the colours of stations are fitted to what is seen, with the legend and the address", async () => {
  const { page, problems } = await open("#layer=stations&map=43.7,-79.6,6");
  await waitForStations(page, 2_900);
  const ends = async () => (await page.locator(".ramp span").allTextContents()).map((text) => Number.parseFloat(text.replace("−", "-")));
  assert.deepEqual(await ends(), [-40, 0, 40]);
  await page.getByLabel("Colours for what is there").check();
  await hashHas(page, "scale=fitted");
  const [from, , to] = await ends();
  assert.ok(from > 5 && to < 45 && to - from <= 30, `${from} to ${to}`);
  const { colourOf, scales } = await exportsOf("domain/colour.ts");
  const expected = colourOf({ ...scales.temperature, from, to }, 29);
  const { x, y } = await pointOf(page, 43.679, -79.629);
  const seen = await coloursOf(page, { x: x - 6, y: y - 6, width: 12, height: 12 });
  const off = ([r, g, b]) => Math.max(Math.abs(r - expected[0]), Math.abs(g - expected[1]), Math.abs(b - expected[2]));
  assert.ok(seen.some((one) => off(one) <= 3), `${expected} is not among ${JSON.stringify(seen.slice(0, 12))}`);
  // While it plays the colours stay what they are.
  await page.locator("#slider").focus();
  for (let count = 0; count < 4; count += 1) await page.keyboard.press("ArrowLeft");
  await hashHas(page, "time=");
  assert.deepEqual((await ends()).slice(0, 3).filter((_, at) => at !== 1), [from, to]);
  // The map goes elsewhere, the legend follows.
  await page.evaluate(() => window.explorer.map.setView([64, -110], 6, { animate: false }));
  await page.waitForFunction((before) => Number.parseFloat(document.querySelector(".ramp span:last-child").textContent) < before, to);
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("Colours for what is there").uncheck();
  await page.waitForFunction(() => !location.hash.includes("scale="));
  assert.deepEqual(await ends(), [-40, 0, 40]);
  assert.deepEqual(problems, []);
  await page.close();
});

test("lines of a plane are straight, at whole steps, and end where there are no values", async () => {
  const { linesOf } = await exportsOf("models/lines.ts");
  const [width, height] = [40, 30];
  const grid = new Float32Array(width * height);
  for (let y = 0; y < height; y += 1) for (let x = 0; x < width; x += 1) grid[y * width + x] = x < 8 || (y > 20 && x > 30) ? Number.NaN : x;
  const lines = linesOf(grid, width, height, 4, (x, y) => [x, y]);
  assert.deepEqual(lines.map(({ value }) => value).filter((value) => value > 8 && value < 39), [12, 16, 20, 24, 28, 32, 36]);
  for (const { value, pieces } of lines) {
    for (const point of pieces.flat()) {
      // The centre of the cell with the value x is at x + 0.5.
      assert.ok(Math.abs(point[0] - value - 0.5) < 1e-6, `${value} at ${point}`);
      assert.ok(value < 31 || point[1] <= 21.5, `${value} at ${point}`);
    }
  }
  const twenty = lines.find(({ value }) => value === 20).pieces;
  assert.equal(twenty.length, 1);
  assert.ok(twenty[0].length >= 28);
  assert.deepEqual(linesOf(new Float32Array(100).fill(Number.NaN), 10, 10, 4, (x, y) => [x, y]), []);
});

test("isobars lie over a field, with their step in the legend and their choice in the address, in both units", async () => {
  const { page, problems } = await open("#layer=models&model=nam211&product=temperature_2m&map=42,-97,4");
  await isTiled(page);
  await page.evaluate(() => {
    window.numbers = new Set();
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      window.numbers.add(text);
      fillText.call(this, text, ...rest);
    };
  });
  await page.locator("#lines").selectOption("pressure");
  await hashHas(page, "lines=pressure");
  await page.waitForFunction(() => window.numbers.has("1012"));
  const isobars = await page.evaluate(() => [...window.numbers].map(Number).filter((number) => number > 900 && number < 1100));
  assert.ok(isobars.length >= 5, `${isobars}`);
  assert.deepEqual(isobars.filter((value) => value % 4 !== 0), []);
  await page.locator(".legend").getByText(/Sea level pressure, every 4.hPa|pressure.*every 4.hPa/i).waitFor();
  await page.locator("#signs summary").click();
  await page.getByText(/half a feather 5 kt/).waitFor();
  assert.deepEqual(await violations(page), []);
  // The same in the next copy of the world, and where two copies meet.
  for (const lon of [263, -457]) {
    await page.evaluate((to) => {
      window.explorer.map.setView([42, to], 4, { animate: false });
      window.numbers.clear();
    }, lon);
    await page.waitForFunction(() => window.numbers.has("1012") && window.numbers.has("1020"));
  }
  await page.locator("#units").click();
  await page.waitForFunction(() => [...window.numbers].some((text) => /^29[.,]\d+$|^30([.,]\d+)?$/.test(text)));
  await page.locator(".legend").getByText(/every 0.12.inHg/).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
  // A model without pressure has lines of its field alone.
  const { page: other } = await open("#layer=models&model=safrica&product=precipitable_water&map=-26,28,4&lines=field");
  await isTiled(other);
  await other.locator(".legend").getByText(/every 5.mm/).waitFor();
  assert.ok(await other.locator('#lines option[value="pressure"]').evaluate((option) => option.disabled));
  await other.close();
});

test("a field is fitted to its own values", async () => {
  const { page, problems } = await open("#layer=models&model=nam211&product=temperature_2m&map=42,-97,4&scale=fitted");
  await isTiled(page);
  const [low, , high] = (await page.locator(".ramp span").allTextContents()).map((text) => Number.parseFloat(text.replace("−", "-")));
  assert.ok(low > -20 && high < 45 && high - low < 60, `${low} to ${high}`);
  await page.mouse.move(720, 420);
  await page.waitForFunction(() => /\d\s°C/.test(document.querySelector("#under")?.textContent ?? ""));
  assert.deepEqual(problems, []);
  await page.close();
});

test("the share in doubt of each variable is that of the readings, on a scale of powers of ten", async () => {
  const { page, problems } = await open("#layer=quality");
  await page.locator(".shares tbody tr").first().waitFor();
  const shares = await page.locator(".shares tbody tr").evaluateAll((rows) =>
    rows.map((row) => ({
      name: row.querySelector("th").textContent,
      title: row.querySelector("svg title").textContent,
      share: Number.parseFloat(row.querySelectorAll("td.number")[0].textContent),
      count: Number(row.querySelectorAll("td.number")[1].textContent.replace(/\D/g, "")),
      length: [...row.querySelectorAll("rect")].reduce((sum, rect) => sum + Number(rect.getAttribute("width")), 0),
    })),
  );
  assert.ok(shares.length >= 6);
  for (const { name, title, share, count, length } of shares) {
    const counts = Object.fromEntries(title.split(", ").map((part) => [part.replace(/ \d+$/, ""), Number(part.match(/\d+$/)[0])]));
    const bad = Object.entries(counts).filter(([verdict]) => verdict !== "Good" && verdict !== "Not checked").reduce((sum, [, one]) => sum + one, 0);
    const exact = (bad / count) * 100;
    assert.ok(Math.abs(share - exact) <= exact * 0.06, `${name}: ${share} % of ${count}, ${bad} in doubt`);
    const expected = bad === 0 ? 0 : ((Math.log10(exact) + 2) / 4) * 100;
    assert.ok(Math.abs(length - Math.max(expected, 0)) < 0.5, `${name}: ${length} for ${exact} %`);
  }
  assert.ok(shares.some(({ share }) => share > 0) && shares.some(({ share }) => share === 0));
  assert.deepEqual(problems, []);
  await page.close();
});

test("each sign on the map is in the legend on request", async () => {
  const { page, problems } = await open("#layer=stations&map=43.7,-79.6,8&station=700f7e18-e84e-51b2-90bd-f054766d1ec5");
  await page.locator(".panel h2").waitFor();
  await page.locator("#signs summary").click();
  for (const text of [/older than 90 min/, /without a colour/, /half a feather/, /station model/, /that is open/, /of a town/, /Doubtful/]) await page.locator("#signs").getByText(text).first().waitFor();
  assert.deepEqual(await violations(page), []);
  const { top, bottom } = await page.locator(".legend").evaluate((one) => one.getBoundingClientRect());
  assert.ok(top >= 48 && bottom <= 900, `${top} to ${bottom}`);
  assert.deepEqual(problems, []);
  await page.close();
  const { page: alerts } = await open("#layer=alerts");
  await alerts.getByLabel("In force").uncheck();
  await alerts.locator("#signs summary").click();
  await alerts.getByText("ended, cancelled or replaced").waitFor();
  await alerts.close();
});
