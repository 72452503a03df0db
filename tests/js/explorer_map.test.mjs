// What is drawn on the explorer's map: the colours of the legend at every zoom, in light and dark, round the whole world.
import assert from "node:assert/strict";
import { test } from "node:test";

import { explorer, coloursOf, pointOf, violations, waitForStations } from "./explorer.mjs";
import { exportsOf } from "./explorer_source.mjs";
import { TORONTO } from "./explorer_views.mjs";

const { browser, open, origin } = explorer();

/** How many pixels of a picture have a colour, but for so much. */
const countOf = (colours, [red, green, blue], tolerance = 0) =>
  colours.filter(([r, g, b]) => Math.max(Math.abs(r - red), Math.abs(g - green), Math.abs(b - blue)) <= tolerance).reduce((sum, [, , , count]) => sum + count, 0);
/** The colour that most pixels have. */
const mostOf = (colours) => colours.reduce((a, b) => (b[3] > a[3] ? b : a)).slice(0, 3);

const around = ({ x, y }, half = 45) => ({ x: Math.max(x - half, 0), y: y - half, width: 2 * half, height: 2 * half });

test("where stations are plotted as models, the variable that is chosen has the colour of its legend", async () => {
  const { colourOf, scales } = await exportsOf("domain/colour.ts");
  const chosen = { airTemperature: [scales.temperature, 29], visibility: [scales.visibility, 24.1], dewPointTemperature: [scales.dewPoint, 22] };
  for (const colorScheme of ["light", "dark"]) {
    const { page, problems } = await open("#layer=stations&map=43.679,-79.629,9", { colorScheme });
    for (const [name, [scale, value]] of Object.entries(chosen)) {
      await page.locator("#variable").selectOption(name);
      await waitForStations(page, 2_000);
      await page.waitForLoadState("networkidle");
      await page.waitForTimeout(400);
      const pixels = await coloursOf(page, around(await pointOf(page, 43.679, -79.629)));
      assert.ok(countOf(pixels, colourOf(scale, value), 1) > 40, `${name}, ${colorScheme}: no chip in the colour of ${value}`);
    }
    // The number of stations is that of the variable, as from afar.
    await page.locator("#variable").selectOption("precipitation");
    await page.waitForFunction(() => Number(document.querySelector("#count").textContent.replace(/[^\d]/g, "")) < 2_000);
    assert.deepEqual(problems, []);
    await page.close();
  }
});

test("station models are a switch of their own, which the address has", async () => {
  const { page, problems } = await open("#layer=stations&map=43.7,-79.6,8");
  await waitForStations(page, 2_900);
  const models = page.getByRole("checkbox", { name: "Station models" });
  assert.ok(await models.isChecked());
  await models.uncheck();
  await page.waitForFunction(() => location.hash.includes("plots=values"));
  await page.evaluate(() => window.explorer.map.setZoom(6, { animate: false }));
  await models.waitFor({ state: "hidden" });
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(problems, []);
  await page.close();
});

test("the mark of a verdict stays at every zoom, beside barbs and in station models too", async () => {
  // Its temperature is doubtful.
  const DOUBTFUL = [45.95, -78.33];
  for (const zoom of [5, 7, 8, 10]) {
    const { page } = await open(`#layer=stations&map=45.5,-78.3,${zoom}&time=2024-08-03T21:00Z`);
    await waitForStations(page, 1_000);
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(400);
    const box = await page.locator("#map").boundingBox();
    const pixels = await coloursOf(page, zoom > 8 ? box : { ...box, x: box.x + 330, width: box.width - 400 });
    assert.ok(countOf(pixels, [0xc7, 0x77, 0x00]) > 8, `zoom ${zoom}: no mark near ${DOUBTFUL}`);
    await page.close();
  }
});

test("a field is drawn in the colours of its legend, in light and dark alike, below borders and names", async () => {
  const { colourOf, scales } = await exportsOf("domain/colour.ts");
  const seen = {};
  for (const colorScheme of ["light", "dark"]) {
    const { page, problems } = await open("#layer=models&model=nam211&product=temperature_2m&map=35,-65,5", { colorScheme });
    await page.waitForFunction(() => document.querySelectorAll(".field .leaflet-tile-loaded").length >= 4);
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(800);
    const { x, y } = await pointOf(page, 33, -66);
    await page.mouse.move(x, y);
    await page.waitForFunction(() => /\d\s°C/.test(document.querySelector("#under")?.textContent ?? ""));
    const value = Number.parseFloat((await page.locator("#under").textContent()).replace("−", "-"));
    const pixels = await coloursOf(page, { x: x - 3, y: y - 3, width: 6, height: 6 });
    assert.ok(countOf(pixels, colourOf(scales.temperature, value), 3) > 20, `${colorScheme}: ${value} °C is ${mostOf(pixels)}, not ${colourOf(scales.temperature, value)}`);
    seen[colorScheme] = mostOf(pixels);
    const [field, lines] = await page.evaluate(() => [".leaflet-tile-pane", ".leaflet-lines-pane"].map((pane) => Number(getComputedStyle(document.querySelector(pane)).zIndex)));
    assert.ok(lines > field);
    assert.deepEqual(problems, []);
    await page.close();
  }
  assert.deepEqual(seen.light, seen.dark);
});

test("nothing ends at 180°: stations, station models, tips and alerts are on both sides of it", async () => {
  // Adak, in the west of the world, from a map in the east of it; and Shemya, the other way round.
  for (const [lat, lon, from] of [[51.881, -176.644, 178], [52.711, 174.107, -178]]) {
    const { page, problems } = await open(`#layer=stations&map=52,${from},6`);
    await waitForStations(page, 2_900);
    const { x, y } = await pointOf(page, lat, lon);
    const pixels = await coloursOf(page, around({ x, y }, 6));
    assert.ok(pixels.some(([r, , b]) => r - b > 15), `a dot at ${lon}`);
    await page.mouse.click(x, y);
    await page.locator(".panel h2").waitFor();
    assert.match(await page.locator(".panel header p").first().textContent(), new RegExp(String(lon)));
    // A variable that a station reported at other times only is answered with 404.
    assert.deepEqual(problems.filter((text) => !text.includes("404")), []);
    await page.close();
  }
  const { page, problems } = await open("#layer=stations&map=51.9,-179.9,8");
  await page.waitForFunction(() => performance.getEntriesByType("resource").some(({ name }) => /minLon=17\d.*maxLon=-17\d/.test(name)));
  await page.close();
  const { page: alerts } = await open("#layer=alerts&map=50,178,5");
  await alerts.locator(".list li").first().waitFor();
  const { x, y } = await pointOf(alerts, 51.2, -175);
  await alerts.waitForFunction(() => Object.values(window.explorer.map._layers).some((one) => one.feature?.geometry));
  await alerts.mouse.click(x, y);
  await alerts.locator(".alert h2").waitFor();
  assert.match(await alerts.locator(".alert").textContent(), /Anchorage/);
  assert.deepEqual(problems, []);
  await alerts.close();
});

test("the map goes round the world, and the address keeps to it", async () => {
  const { page, problems } = await open("#layer=stations&map=45,170,3");
  await waitForStations(page, 2_900);
  await page.evaluate(() => window.explorer.map.panBy([650, 0], { animate: false }));
  await page.waitForFunction(() => {
    const [, lon] = new URLSearchParams(location.hash.slice(1)).get("map").split(",").map(Number);
    return lon > -110 && lon < -40;
  });
  const { x, y } = await pointOf(page, 43.679, -79.629);
  await page.mouse.move(x, y);
  const tiles = await page.locator(".basemap canvas").count();
  assert.ok(tiles > 8);
  await page.locator("#search").fill("cyyz");
  await page.getByRole("option", { name: /Toronto Pearson/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction((id) => location.hash.includes(id), TORONTO);
  await page.waitForFunction(() => /map=43\.6\d*,-79\.6/.test(location.hash));
  assert.deepEqual(problems, []);
  await page.close();
});

test("an area that crosses 180° is shown whole, not from the other side of the world", async () => {
  const { boxOf, nearLon, wrapLon } = await exportsOf("domain/mercator.ts");
  assert.deepEqual(boxOf([[171, 50], [180, 53], [-180, 53], [-175, 51]]), [171, 50, 185, 53]);
  assert.deepEqual(boxOf([[-80, 43], [-79, 44]]), [-80, 43, -79, 44]);
  assert.deepEqual(boxOf([[-10, 50], [20, 60]]), [-10, 50, 20, 60]);
  assert.equal(nearLon(-176, 178), 184);
  assert.equal(nearLon(-79, -400), -439);
  assert.deepEqual([181, -180, 180, 539, -541].map(wrapLon), [-179, -180, -180, 179, 179]);
});

/** Notes what is written on the map: text, place, width, and whether it lies below all else. */
const noteTexts = () => {
  window.written = new Map();
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    if (this.canvas.classList.contains("overlay")) {
      const width = this.measureText(text).width;
      const left = this.textAlign === "center" ? x - width / 2 : this.textAlign === "right" ? x - width : x;
      const known = window.written.get(this.canvas) ?? [];
      known.push({ text, left, right: left + width, y, isName: this.globalCompositeOperation === "destination-over" });
      window.written.set(this.canvas, known);
    }
    fillText.call(this, text, x, y);
  };
  const { clearRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    window.written.delete(this.canvas);
    clearRect.apply(this, box);
  };
};

test("the map names provinces, states and towns, more of them from nearer, and none on a number or on another name", async () => {
  const seen = {};
  for (const [view, name] of [["map=52,-96,4", /^Alberta$|^Saskatchewan$/], ["map=45.5,-74,6", /^Ottawa$|^Montréal$/], ["map=45.5,-74,9", /^Repentigny$|^Blainville$|^Terrebonne$/], ["map=45.5,-74,9&variable=mslp", /^Repentigny$|^Blainville$|^Terrebonne$/], ["map=52,-96,4&lang=fr", /^Territoires du Nord-Ouest$/]]) {
    const page = await browser().newPage({ viewport: { width: 1440, height: 900 }, locale: "en-CA" });
    await page.addInitScript(noteTexts);
    await page.goto(`${origin()}/#layer=stations&${view}`);
    await waitForStations(page, 1);
    const texts = () => page.evaluate(() => [...window.written.values()].flat());
    await page.waitForFunction((wanted) => [...window.written.values()].flat().some(({ text, isName }) => isName && new RegExp(wanted).test(text)), name.source);
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(300);
    const all = await texts();
    const names = all.filter(({ isName }) => isName);
    seen[view] = names.map(({ text }) => text);
    for (const one of names) {
      for (const other of all) {
        if (other === one || Math.abs(other.y - one.y) >= 12) continue;
        assert.ok(one.right < other.left || one.left > other.right, `${view}: ${one.text} lies on ${other.text}`);
      }
    }
    await page.close();
  }
  assert.ok(!seen["map=52,-96,4"].includes("Blainville"));
});

test("a station's readings are in the order of a bulletin", async () => {
  const { page, problems } = await open(`#layer=stations&map=43.7,-79.6,7&station=${TORONTO}`);
  await page.getByRole("rowheader", { name: "Air temperature", exact: true }).waitFor();
  const all = (await page.locator(".panel table").first().locator("tbody th").allTextContents()).map((text) => text.trim());
  const places = ["Wind direction", "Wind speed at 10 m", "Visibility", "Present weather", "Cloud cover layer 1", "Cloud cover layer 2", "Cloud base height layer 1", "Ceiling height", "Air temperature", "Dew point", "Mean sea level pressure"].map((name) => all.findIndex((text) => text.startsWith(name)));
  assert.ok(!places.includes(-1), `${all}`);
  assert.deepEqual(places, [...places].sort((a, b) => a - b), `${all}`);
  assert.deepEqual(problems, []);
  await page.close();
});

test("the barb of a station crosses none of its numbers", async () => {
  const { barbPoints } = await exportsOf("map/barb.ts");
  const { shiftOf } = await exportsOf("map/station_model.ts");
  let moved = 0;
  for (let from_deg = 0; from_deg < 360; from_deg += 5) {
    for (const speed_kt of [5, 10, 15, 25, 40, 50, 65]) {
      for (const isSouthern of [false, true]) {
        const angle = (from_deg * Math.PI) / 180;
        const barb = barbPoints(speed_kt, from_deg, isSouthern, 24).map(([x, y]) => [x + Math.sin(angle) * 5, y - Math.cos(angle) * 5]);
        assert.ok(barb.length > 8);
        for (const [side, row, width] of [[-1, -9, 14], [-1, 9, 14], [1, -9, 22], [-1, -9, 21]]) {
          const left = side < 0 ? -9 - width : 9;
          const [across, down] = shiftOf(barb, left, left + width, row, side);
          moved += across === 0 && down === 0 ? 0 : 1;
          const crossed = barb.filter(([x, y]) => x > left + across && x < left + across + width && Math.abs(y - row - down) < 5);
          assert.deepEqual(crossed, [], `${from_deg}° ${speed_kt} kt, ${side} ${row}`);
        }
      }
    }
  }
  assert.ok(moved > 100 && moved < 3_000, `${moved} numbers move`);
  assert.deepEqual(barbPoints(1, 90, false, 24), []);
});

test("from zoom 7 on coasts, borders and lakes are finer, only where the map is, and without seams where they are cut", async () => {
  const { page, problems } = await open("#layer=stations&map=49,-123.5,6&plots=values");
  await waitForStations(page, 2_900);
  await page.waitForLoadState("networkidle");
  const coasts = () => page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.includes("/coast")).map((name) => name.match(/coast(-?\d+_\d+)/)[1]).sort());
  assert.deepEqual(await coasts(), []);
  await page.evaluate(() => window.explorer.map.setView([49, -123.5], 8, { animate: false }));
  await page.waitForFunction(() => performance.getEntriesByType("resource").filter(({ name }) => name.includes("/coast")).length >= 4);
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(500);
  assert.deepEqual(await coasts(), ["-120_30", "-120_50", "-140_30", "-140_50"]);
  // Bowen Island is not in the coarser outlines; land is land, the strait is sea, and no line follows 50° N on land.
  const styles = await page.evaluate(() => ["land", "sea"].map((name) => getComputedStyle(document.documentElement).getPropertyValue(`--map-${name}`).trim().match(/\w\w/g).map((two) => Number.parseInt(two, 16))));
  const groundAt = async (lat, lon, half = 2) => {
    const { x, y } = await pointOf(page, lat, lon);
    return mostOf(await coloursOf(page, { x: x - half, y: y - half, width: 2 * half, height: 2 * half }));
  };
  assert.deepEqual(await groundAt(49.382, -123.381), styles[0], "Bowen Island");
  assert.deepEqual(await groundAt(49.2, -123.6), styles[1], "the strait");
  const { x, y } = await pointOf(page, 50, -122.2);
  const seam = await coloursOf(page, { x: x - 30, y: y - 3, width: 60, height: 6 });
  assert.equal(seam.length, 1, JSON.stringify(seam));
  const goTo = async (lat, lon, zoom) => {
    await page.evaluate((view) => window.explorer.map.setView(view.slice(0, 2), view[2], { animate: false }), [lat, lon, zoom]);
    await page.waitForTimeout(300);
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(500);
  };
  // Georgian Bay is in both files of lakes, and its islands are land; a lake that the coarser outlines lack.
  await goTo(45, -80.5, 7);
  assert.deepEqual(await groundAt(45, -80.9), styles[1], "Georgian Bay");
  assert.deepEqual(await groundAt(45.7, -82.3), styles[0], "Manitoulin");
  assert.deepEqual(await groundAt(46.25, -79.75), styles[1], "Lake Nipissing");
  // Borders that cross a block and have no end in it; the block north of the map is there, as a tile reaches into it.
  await goTo(48.5, -110, 7);
  assert.ok((await coasts()).includes("-120_50"), "the tiles reach beyond 50° N");
  const lineAt = async (lat, lon) => (await coloursOf(page, { ...around(await pointOf(page, lat, lon), 3) })).length > 1;
  assert.ok(await lineAt(49, -111.13), "the 49th parallel");
  assert.ok(await lineAt(49.62, -110.005), "Alberta and Saskatchewan");
  assert.ok(!(await lineAt(49.4, -111.13)), "no line there");
  assert.deepEqual(problems, []);
  await page.close();
});
