// A station's panel: its extremes, its wind as barbs, the forecast beside its readings, and why in words for everybody.
import assert from "node:assert/strict";
import { test } from "node:test";

import { explorer, isPainted, violations } from "./explorer.mjs";
import { exportsOf } from "./explorer_source.mjs";
import { TORONTO } from "./explorer_views.mjs";

const { open, origin } = explorer();
const VIEW = `#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`;

test("the day's extremes are those of the summary, with their times in the zone that is chosen", async () => {
  const { page, problems } = await open(VIEW);
  const rows = page.locator(".extremes tbody tr");
  await rows.first().waitFor();
  const query = new URLSearchParams({ tz: "America/Toronto", from: "2024-08-03", to: "2024-08-03", names: "airTemperature" });
  const { periods } = await (await fetch(`${origin()}/api/v1/stations/${TORONTO}/summary?${query}`)).json();
  const { min, max } = periods[0].variables.airTemperature;
  const time = ({ from }) => from.timestamp.slice(11, 16);
  const text = async () => (await rows.filter({ hasText: "Temperature" }).first().textContent()).replaceAll(/\s/g, " ");
  assert.match(await text(), new RegExp(`${min.value.toFixed(1)} °C ${time(min)}.*${max.value.toFixed(1)} °C ${time(max)}`));
  assert.match(await rows.first().textContent(), /Sat.* 3.*17\s%.*covered/);
  await page.locator("#clock-choice").selectOption("station");
  await page.waitForFunction((wanted) => document.querySelector(".extremes tbody").textContent.includes(wanted), "16:00");
  await page.locator("#units").click();
  assert.match(await text(), /84.2 °F/);
  await page.getByText("Days of standard time: UTC-05:00.").waitFor();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});

test("without a forecast none is named; the wind has its barbs below its plot", async () => {
  const { page, problems } = await open(VIEW);
  const wind = page.locator(".plot", { has: page.getByText("Wind", { exact: true }) });
  await wind.locator("canvas").waitFor();
  assert.ok(await isPainted(page, ".plot canvas"));
  // Below the axis, where only barbs are drawn.
  const inked = await wind.locator("canvas").evaluate((canvas) => {
    const height = Math.round((34 * canvas.height) / canvas.clientHeight);
    const { data } = canvas.getContext("2d").getImageData(0, canvas.height - height, canvas.width, height);
    const columns = new Set();
    for (let at = 3; at < data.length; at += 4) if (data[at] > 128) columns.add(Math.floor(((at - 3) / 4) % canvas.width / 20));
    return columns.size;
  });
  assert.ok(inked >= 4 && inked <= 16, `${inked} places with ink`);
  assert.equal(await page.getByText(/Forecast of/).count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
});

/** The forecast of a model in the form of the service. Its times and values are the test's: the runs of the sample are of other years. */
async function withForecast(page) {
  const hours = Array.from({ length: 13 }, (_, at) => at);
  const start = Date.parse("2024-08-03T18:00:00Z");
  await page.route("**/models/coverage", async (route) => {
    const answer = await route.fetch();
    const { models } = await answer.json();
    const made = { ...models.nam211, latest_run: "20240803T180000Z", forecast_hour_axis: hours };
    await route.fulfill({ response: answer, json: { models: { ...models, nam211: made } } });
  });
  const asked = [];
  await page.route("**/models/nam211/series?*", async (route) => {
    const query = new URL(route.request().url()).searchParams;
    asked.push(query);
    const value = { temperature_2m: 300.15, u_wind_10m: 0, v_wind_10m: -10, pressure_msl: 101_000, relative_humidity_2m: 60, wind_gust: 15 };
    const unit = { temperature_2m: "K", pressure_msl: "Pa", relative_humidity_2m: "%" };
    const fields = Object.fromEntries(
      query.get("fields").split(",").map((name) => [name, { unit: unit[name] ?? "m/s", levels_hpa: null, series: hours.map((hour) => ({ hour, valid_time: new Date(start + hour * 3_600_000).toISOString(), value: value[name] })) }]),
    );
    await route.fulfill({ json: { run: "20240803T180000Z", lat: 43.7, lon: -79.6, fields } });
  });
  return asked;
}

test("the forecast of a run that has the station's hours stands beside its readings, named with its run", async () => {
  const { page, problems } = await open("#layer=alerts");
  const asked = await withForecast(page);
  const last = async () => page.locator(".plot").first().locator("canvas").evaluate((canvas) => canvas.width);
  await page.goto(`${origin()}/${VIEW}`);
  await page.reload();
  await page.getByText(/Forecast of nam211, run of Aug.* 3, 18:00 UTC, at the cell of the station: dashed/).waitFor();
  assert.ok((await last()) > 300);
  const [query] = asked;
  assert.equal(query.get("winds"), "earth");
  assert.deepEqual([query.get("lat"), query.get("lon")], ["43.679", "-79.629"]);
  assert.ok(!query.get("fields").includes("dew_point"), "what the model has not is not asked for");
  // The latest value beside the title is a reading.
  const title = page.locator(".plot figcaption").first();
  assert.match(await title.textContent(), /29\.0/);
  assert.doesNotMatch(await title.textContent(), /27\.0/);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a forecast that may not be seen leaves the readings as they are", async () => {
  const { page } = await open("#layer=alerts");
  await page.route("**/models/coverage", (route) => route.fulfill({ status: 403 }));
  await page.goto(`${origin()}/${VIEW}`);
  await page.reload();
  await page.locator(".plot canvas").nth(2).waitFor();
  assert.equal(await page.locator(".panel .trouble").count(), 0);
  await page.close();
});

test("a station shows its altitude, in the units of the page", async () => {
  const { page, problems } = await open(`#layer=stations&station=${TORONTO}`);
  const about = page.locator(".panel header .quiet").first();
  await about.filter({ hasText: /^CYYZ · METAR · 43\.679, -79\.629 · Altitude 171.m · Sensor height 10.m$/ }).waitFor();
  await page.locator("#units").click();
  await about.filter({ hasText: /Altitude 561.ft/ }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
});

test("why begins with a sentence that needs no knowledge of checks, in both languages", async () => {
  const { page, problems } = await open("#layer=stations&map=45.5,-78.3,8&time=2024-08-03T21:00Z&station=184e5e8a-0a72-5fba-b84b-989836e5bd68");
  await page.getByRole("button", { name: "Why? Air temperature" }).click();
  const first = page.locator(".explain .sentence");
  await first.filter({ hasText: /Doubtful: it fell by 6.5.°C in 2.h/ }).waitFor();
  assert.match(await first.textContent(), /around it the change was 0.4.°C\.$/);
  await page.locator("#language").click();
  assert.match(await first.textContent(), /Douteux : baisse de 6,5.°C en .*; autour, la variation était de 0,4.°C\.$/);
  await page.locator("#units").click();
  assert.match(await first.textContent(), /baisse de 11,7.°F/);
  assert.deepEqual(problems, []);
  await page.close();
});

test("a sentence for each kind of verdict", async () => {
  const { sentence, figures } = await exportsOf("station/verdict_sentence.ts");
  const at = (hour) => new Date(Date.UTC(2024, 7, 3, hour)).toISOString();
  const of = (value, decisive, more = {}) => {
    const explanation = { variable: "airTemperature", unit: "°C", value, source: { baseQuality: "Unknown" }, checks: decisive ? [decisive] : [], ...more };
    return sentence(explanation, { baseQuality: more.verdict ?? "Doubtful", reasonQuality: "Range" }, decisive).replaceAll("\u202f", " ");
  };
  const neighbours = (from) => ({ check: "neighbours", neighbours: [], inputs: [{ name: "neighbours", value: 11 }, { name: "fromNeighbours", value: from }, { name: "standardizedDifference", value: 4.1 }], limits: [] });
  assert.equal(of(30.6, neighbours(22.8)), "Doubtful: 7.8 °C warmer than 11 stations around it.");
  assert.equal(of(22.8, neighbours(30.6)), "Doubtful: 7.8 °C colder than 11 stations around it.");
  assert.equal(of(22.8, neighbours(22.81)), "Doubtful: the same as at 11 stations around it.");
  assert.equal(of(1021.7, neighbours(1013.5), { variable: "mslp", unit: "hPa" }), "Doubtful: 8.2 hPa more than at 11 stations around it.");
  const step = { check: "step", inputs: [{ name: "airTemperature", value: 10, timestamp: at(20) }, { name: "airTemperature", value: 35, timestamp: at(21) }], limits: [] };
  assert.equal(of(35, step), "Doubtful: it rose by 25 °C in 60 min.");
  const stuck = { check: "persistence", inputs: [{ name: "lasted", value: 12 }], limits: [] };
  assert.equal(of(5, stuck), "Doubtful: it has said 5.0 °C for 12 h without a change.");
  const range = { check: "range", inputs: [], limits: [{ name: "error", min: -90, max: 60, unit: "°C" }, { name: "doubtful", min: -30, max: 55, unit: "°C" }] };
  assert.equal(of(-40, range), "Doubtful: −40.0 °C is not to be expected there at this time of the year (−30 °C … 55 °C).");
  assert.equal(of(66, undefined, { unit: "%", variable: "relativeHumidity" }), "Doubtful: 66 % is calculated from a reading that is in doubt.");
  assert.equal(of(66, undefined, { source: { baseQuality: "Doubtful" } }), "Doubtful: so says the source of 66.0 °C.");
  assert.equal(of(20, undefined, { verdict: "Good" }), "Good: no check speaks against 20.0 °C.");
  const explained = { unit: "°C", value: 22.8, checks: [neighbours(30.6)] };
  assert.match(figures(explained, { baseQuality: "Doubtful" }, explained.checks[0]), /22\.8.°C; .* 30\.6.°C\. The difference is 4\.1 times their spread/);
  assert.equal(figures(explained, { baseQuality: "Doubtful" }, undefined), undefined);
});
