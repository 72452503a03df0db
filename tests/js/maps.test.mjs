// The examples of MapLibre GL, Leaflet, deck.gl and OpenLayers in Chromium: what is drawn where, in which colours.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";

import { css, weather } from "mesonet/map";

import { screenshot } from "./browser.mjs";
import { run } from "./child.mjs";
import { columnOf, rowOf } from "./map.mjs";
import { EXAMPLES, pixelsOf, serveExamples, settled } from "./maps.mjs";

const SIDE = 256;
/** Zoom of the tiles that all examples show, of 256 pixels. */
const ZOOM = 4;
let served;
let source;
/** What the examples show. */
let field;
let alerts;
let stations;
/** A place in exactly one alert, which is not near a station. */
let alarmed;

before(async () => {
  served = await serveExamples();
  source = weather(served.server.origin);
  [field, alerts, stations] = await Promise.all([
    source.field({ model: "nam211", product: "temperature_2m" }),
    source.alerts(),
    source.stations({ variable: "airTemperature" }),
  ]);
  alarmed = placeInAlert();
});
after(() => served?.close());

/** Where a place is drawn. */
const placeOf = (page, lon, lat) =>
  page.evaluate(
    ([lon, lat]) => {
      const { deck, map } = window;
      if (deck) {
        return deck.getViewports()[0].project([lon, lat]).slice(0, 2);
      }
      if (map.project && map.getCanvas) {
        const { x, y } = map.project([lon, lat]);
        return [x, y];
      }
      if (map.latLngToContainerPoint) {
        const { x, y } = map.latLngToContainerPoint([lat, lon]);
        return [x, y];
      }
      // OpenLayers, in metres of Web Mercator.
      const radius = 6378137;
      return map.getPixelFromCoordinate([(radius * lon * Math.PI) / 180, radius * Math.asinh(Math.tan((lat * Math.PI) / 180))]);
    },
    [lon, lat],
  );

/** The pixel of a field at a place and those around it: a map draws its own pixels not exactly on them. */
async function fieldAround(field, lon, lat, zoom = ZOOM) {
  const [x, y] = [columnOf(lon, zoom), rowOf(lat, zoom)];
  const { pixels } = await field.tile(zoom, Math.floor(x / SIDE), Math.floor(y / SIDE));
  const [column, row] = [x % SIDE, y % SIDE];
  const around = [];
  for (const [dx, dy] of [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [1, -1], [-1, 1], [-1, -1]]) {
    const at = 4 * ((row + dy) * SIDE + column + dx);
    around.push([...pixels.subarray(at, at + 4)]);
  }
  return around;
}

const inRing = (ring, [x, y]) => {
  let inside = false;
  ring.forEach(([x1, y1], at) => {
    const [x2, y2] = ring[(at + 1) % ring.length];
    if (y1 > y !== y2 > y && x < x1 + ((x2 - x1) * (y - y1)) / (y2 - y1)) {
      inside = !inside;
    }
  });
  return inside;
};
const polygonsOf = ({ type, coordinates }) => (type === "Polygon" ? [coordinates] : coordinates);
const contains = ({ geometry }, place) => polygonsOf(geometry).some(([outer, ...holes]) => inRing(outer, place) && !holes.some((hole) => inRing(hole, place)));

/** Finds a place in exactly one alert, far from its edges and from stations. */
function placeInAlert() {
  const boxes = alerts.features.map(({ geometry }) => {
    const places = polygonsOf(geometry).flat(2);
    const by = (part, choose) => places.reduce((found, place) => choose(found, place[part]), places[0][part]);
    return [by(0, Math.min), by(1, Math.min), by(0, Math.max), by(1, Math.max)];
  });
  const holders = ([x, y]) =>
    alerts.features.filter((alert, at) => x > boxes[at][0] && x < boxes[at][2] && y > boxes[at][1] && y < boxes[at][3] && contains(alert, [x, y]));
  for (let lat = 30; lat < 50; lat += 0.41) {
    for (let lon = -124; lon < -70; lon += 0.43) {
      const around = [[0, 0], [0.3, 0], [-0.3, 0], [0, 0.3], [0, -0.3]].map(([dx, dy]) => [lon + dx, lat + dy]);
      const isFree = ({ geometry: { coordinates: [x, y] } }) => Math.hypot(x - lon, y - lat) > 0.9;
      if (around.every((place) => holders(place).length === 1) && stations.features.every(isFree)) {
        return { lon, lat, alert: holders([lon, lat])[0] };
      }
    }
  }
  throw new Error("no alert is alone");
}

/** A station that no other one is near. */
const aloneAmong = (features) =>
  features.find(({ geometry: { coordinates: [lon, lat] }, properties: { colour } }) =>
    colour !== null && lon > -115 && lon < -75 && lat > 28 && lat < 56 &&
    features.every(({ geometry: { coordinates: [x, y] } }) => (x === lon && y === lat) || Math.hypot(x - lon, y - lat) > 1.5));

const near = (a, b, most) => a.every((part, at) => Math.abs(part - b[at]) <= most);
const rgb = (colour) => [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));

test("there is an example for each library, and the two with a module of their own have under 15 lines", () => {
  assert.deepEqual(EXAMPLES.sort(), ["deckgl", "leaflet", "maplibre", "openlayers"]);
  for (const name of ["maplibre", "leaflet"]) {
    const script = /<script type="module">\n([^]*?)<\/script>/.exec(served.html[name])[1];
    const lines = script.split("\n").filter((line) => line.trim() !== "");
    assert.ok(lines.length < 15, `${name} has ${lines.length} lines`);
  }
});

for (const name of ["maplibre", "leaflet", "deckgl", "openlayers"]) {
  test(`${name}: a field, stations and alerts are where they belong, in the colours of their legends`, async () => {
    const { page, problems } = await served.open(name);
    try {
      await settled(page);
      await screenshot(page, `map_${name}`);
      const pixel = await pixelsOf(page);
      // Over the sea there is nothing but the field, whose colours are exact.
      for (const [lon, lat] of [[-70, 33], [-72.4, 30.9], [-130, 36], [-118.5, 27]]) {
        const got = await pixel(...(await placeOf(page, lon, lat)));
        const around = await fieldAround(field, lon, lat);
        assert.ok(around.some((one) => near(got, one, 0)), `${lon}, ${lat}: ${css(got)}, ${around.map((one) => css(one.slice(0, 3)))}`);
      }
      // Beyond the model there is the ground.
      const [ground, none] = [await pixel(...(await placeOf(page, -58, 33))), await fieldAround(field, -58, 33)];
      assert.deepEqual(none[0], [0, 0, 0, 0]);
      assert.ok(ground[0] > 210 && ground[2] > 210, `${ground}`);

      const station = aloneAmong(stations.features);
      const [x, y] = await placeOf(page, ...station.geometry.coordinates);
      const disc = await pixel(x, y);
      assert.ok(near(disc, rgb(station.properties.colour), 2), `${station.id}: ${css(disc)}, ${station.properties.colour}`);
      // It is a disc: above the rim there is the field again.
      const above = await pixel(x, y - 12);
      assert.ok(!near(above, rgb(station.properties.colour), 2), css(above));

      const { lon, lat, alert } = alarmed;
      const got = await pixel(...(await placeOf(page, lon, lat)));
      const mixed = (await fieldAround(field, lon, lat)).map((one) => one.slice(0, 3).map((part, at) => 0.75 * part + 0.25 * rgb(alert.properties.colour)[at]));
      assert.ok(mixed.some((one) => near(got, one, 3)), `${alert.properties.alertHeadline} at ${lon}, ${lat}: ${got}, ${mixed[0]}`);
      assert.deepEqual(problems, []);
    } finally {
      await page.close();
    }
  });
}

for (const name of ["maplibre", "leaflet"]) {
  test(`${name}: layers change, follow the map, say what fails, and go`, async () => {
    const { page, problems, requests } = await served.open(name);
    try {
      await settled(page);
      const jump = (lon, lat, zoom) =>
        page.evaluate(
          ([lon, lat, zoom]) => {
            const { map } = window;
            // The zooms of MapLibre GL are of tiles of 512 pixels.
            map.jumpTo ? map.jumpTo({ center: [lon, lat], zoom: zoom - 1 }) : map.setView([lat, lon], zoom, { animate: false });
          },
          [lon, lat, zoom],
        );
      // A field of 25 hours, far away; only its tiles are asked for.
      const shown = await page.evaluate(async () => {
        window.layer = await window.weather.addField({ model: "safrica", product: "precipitable_water", hour: 0 });
        return { hour: window.layer.shown.hour, unit: window.layer.shown.legend.unit };
      });
      assert.deepEqual(shown, { hour: 0, unit: "mm" });
      await jump(25, -28, 4);
      await settled(page);
      const colourAt = async (hour) => {
        const water = await source.field({ model: "safrica", product: "precipitable_water", hour });
        const got = await (await pixelsOf(page))(...(await placeOf(page, 22, -26)));
        const around = await fieldAround(water, 22, -26);
        assert.ok(around.some((one) => near(got, one, 0)), `hour ${hour}: ${css(got)}, ${around.map((one) => css(one.slice(0, 3)))}`);
      };
      await colourAt(0);
      await page.evaluate(() => window.layer.set({ hour: 12 }));
      await settled(page);
      await colourAt(12);
      // Of several changes at once the last is shown.
      await page.evaluate(() => Promise.all([window.layer.set({ hour: 3 }), window.layer.set({ hour: 24 })]));
      await settled(page);
      await colourAt(24);
      // Over a slow network, one after the other: what was shown stays until the last one is there, and none is left.
      const delaysMs = { 6: 2400, 7: 2000, 8: 1600 };
      await page.route("**/data/**", async (route) => {
        await new Promise((turn) => setTimeout(turn, delaysMs[new URL(route.request().url()).searchParams.get("hour")]));
        await route.continue().catch(() => {});
      });
      await page.evaluate(async () => {
        for (const hour of [6, 7, 8]) {
          await window.layer.set({ hour });
          await new Promise((turn) => setTimeout(turn, 150));
        }
      });
      await colourAt(24);
      const drawn = () => window.map.getStyle?.().layers.filter(({ type }) => type === "raster").length ?? document.querySelectorAll(".leaflet-tile-pane > .leaflet-layer").length;
      assert.ok((await page.evaluate(drawn)) > 2);
      await page.waitForFunction(`(${drawn})() === 2`);
      await settled(page);
      await colourAt(8);
      await page.unroute("**/data/**");

      const refused = await page.evaluate(() => window.layer.set({ hour: 99 }).catch((error) => String(error)));
      assert.equal(refused, "MesonetError: hour must be an integer from 0 to 24; got 99");
      await settled(page);
      await colourAt(8);
      const unknown = await page.evaluate(() => window.weather.addStations({ variable: "temperature" }).catch((error) => String(error)));
      assert.match(unknown, /^InvalidRequestError: "temperature" is not a variable name; allowed are airTemperature, /);

      // Stations are loaded for the box of the map, with their values as text from near.
      requests.length = 0;
      await jump(-79.4, 43.7, 8);
      await settled(page);
      const asked = requests.filter((url) => url.includes("/stations/readings")).map((url) => new URL(url).searchParams);
      assert.equal(asked.length, 1);
      const width = asked[0].get("maxLon") - asked[0].get("minLon");
      assert.ok(width > 4 && width < 12, `${width}`);
      await screenshot(page, `map_${name}_near`);
      const labels = await page.evaluate(() => {
        const { map } = window;
        const ids = map.getStyle?.().layers.map(({ id }) => id).filter((id) => id.endsWith("-labels"));
        return ids ? map.queryRenderedFeatures({ layers: ids }).map(({ properties }) => properties.label) : [...document.querySelectorAll(".mesonet-label")].map((one) => one.textContent);
      });
      assert.ok(labels.length > 5 && labels.every((label) => /^-?\d+$/.test(label)), labels.join());

      // Over the antimeridian: stations of both sides, and each is drawn where it is.
      await jump(180, 52, 4);
      await settled(page);
      await screenshot(page, `map_${name}_antimeridian`);
      const across = await source.stations({ variable: "airTemperature" }, { box: [165, 45, -155, 65] });
      const east = across.features.find(({ geometry: { coordinates: [lon] }, properties }) => lon < -160 && properties.colour !== null);
      const [lon, lat] = east.geometry.coordinates;
      assert.ok(near(await (await pixelsOf(page))(...(await placeOf(page, lon + 360, lat))), rgb(east.properties.colour), 2));

      // A tile that cannot be had is told by the sentence of the server, and the others are shown.
      await page.route("**/data/**", (route) => route.fulfill({ status: 500, json: "the field cannot be read" }));
      problems.length = 0;
      await page.evaluate(() => window.layer.set({ hour: 20 }));
      await jump(25, -28, 4);
      await page.waitForTimeout(1500);
      assert.ok(problems.some((text) => text.includes("the field cannot be read")), problems.join("\n"));
      await page.unroute("**/data/**");

      // Nothing is left.
      await page.evaluate(() => window.weather.remove());
      await jump(-95, 42, 4);
      requests.length = 0;
      await jump(-60, 42, 5);
      await page.waitForTimeout(800);
      assert.deepEqual(requests, []);
      const left = await page.evaluate(() => window.map.getStyle?.().layers.map(({ id }) => id) ?? [document.querySelectorAll(".leaflet-tile, .mesonet-label").length]);
      assert.deepEqual(left, name === "maplibre" ? ["ground"] : [0]);
    } finally {
      await page.close();
    }
  });
}

test("what the page of the documents shows runs", async () => {
  const text = await readFile(new URL("../../docs/web-maps.md", import.meta.url), "utf8");
  const blocks = [...text.matchAll(/```js\n([^]*?)```/g)].map(([, block]) => block.replaceAll("http://127.0.0.1:8080", served.server.origin));
  const { page, problems, requests } = await served.open("leaflet");
  try {
    await settled(page);
    const ofLayers = blocks.filter((block) => !block.includes('from "mesonet/map"'));
    assert.equal(ofLayers.length, 6);
    for (const block of ofLayers) {
      // The two libraries have the same names: here both are Leaflet. What is imported is there.
      const said = await page.evaluate(async (code) => {
        const AsyncFunction = (async () => {}).constructor;
        const { library, map, weather, weatherLayers } = window;
        window.field ??= await weather.addField({ model: "nam211", product: "temperature_2m" });
        const names = ["L", "maplibregl", "map", "weather", "weatherLayers", "field", "show"];
        const run = new AsyncFunction(...names, `{ ${code} }`);
        return run(library, library, map, weather, weatherLayers, window.field, console.error).catch((error) => String(error));
      }, block.replace(/^import .*$/gm, ""));
      assert.equal(said, undefined, block);
    }
    await page.evaluate(() => void window.map.fire("click", { latlng: { lat: 43.7, lng: -79.4 } }));
    await page.waitForTimeout(500);
    assert.ok(requests.some((url) => url.includes("/models/nam211/point?")));
    // What is refused on purpose is an error in the console of a browser too.
    const expected = /^log: (\[|"temperature" is not a variable name)|status of 400/;
    assert.deepEqual(problems.filter((text) => !expected.test(text)), []);
    assert.ok(problems.some((text) => text.startsWith('log: "temperature" is not')), problems.join("\n"));
  } finally {
    await page.close();
  }
  for (const block of blocks.filter((block) => block.includes('from "mesonet/map"'))) {
    const file = fileURLToPath(new URL("node_modules/.web-maps.mjs", import.meta.url));
    await writeFile(file, block);
    const printed = run(process.execPath, [file]).trim();
    assert.equal(printed, /console\.log\(.*\); \/\/ (.*)/.exec(block)?.[1] ?? "");
  }
});

test("the page of the tutorial is the example, and its client answers", async () => {
  const text = await readFile(new URL("../../docs/tutorials/web.md", import.meta.url), "utf8");
  const [page, client] = [...text.matchAll(/```js\n([^]*?)```/g)].map(([, block]) => block);
  const script = /<script type="module">\n([^]*?)<\/script>/.exec(served.html.maplibre)[1];
  assert.equal(page, script.replace(/^ {2}/gm, ""));
  const file = fileURLToPath(new URL("node_modules/.tutorial.mjs", import.meta.url));
  await writeFile(file, client.replaceAll("http://127.0.0.1:8080", served.server.origin));
  assert.match(run(process.execPath, [file]), /^[1-9]\d+ stations\n$/);
});

test("maplibre: layers come back after another style, and alerts are brighter under the pointer", async () => {
  const { page, problems } = await served.open("maplibre");
  try {
    await settled(page);
    const ids = () => page.evaluate(() => window.map.getStyle().layers.map(({ id }) => id.replace(/\d+/, "")));
    const before = await ids();
    assert.equal(before.length, 6);
    // By its differences, and as a whole.
    for (const [colour, diff] of [["#20242a", true], ["#101418", false]]) {
      await page.evaluate(
        ([colour, diff]) => {
          const ground = { id: "ground", type: "background", paint: { "background-color": colour } };
          window.map.setStyle({ version: 8, sources: {}, layers: [ground] }, { diff });
        },
        [colour, diff],
      );
      await page.waitForFunction((colour) => {
        const { layers } = window.map.getStyle() ?? { layers: [] };
        return layers.length === 6 && layers[0].paint["background-color"] === colour;
      }, colour);
      await settled(page);
      assert.deepEqual(await ids(), before);
    }
    await screenshot(page, "map_maplibre_dark");
    const { lon, lat } = alarmed;
    const [x, y] = await placeOf(page, lon, lat);
    const now = async () => (await pixelsOf(page))(x, y);
    const plain = await now();
    await page.mouse.move(x, y);
    await settled(page);
    assert.ok(!near(await now(), plain, 4), "it is as before");
    await page.mouse.move(5, 5);
    await settled(page);
    assert.ok(near(await now(), plain, 1), "it stays bright");
    // Nothing is left to fail when the map goes first.
    await page.evaluate(() => {
      window.map.remove();
      window.weather.remove();
    });
    await page.waitForTimeout(300);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
  }
});

test("maplibre: a style names tiles of fields by itself", async () => {
  const { page, problems } = await served.open("maplibre");
  try {
    const said = await page.evaluate((service) => {
      const { addWeatherProtocol, library, map } = window;
      addWeatherProtocol(library, service);
      const source = (tiles) => ({ type: "raster", tileSize: 256, maxzoom: 4, tiles: [tiles] });
      const ground = { id: "ground", type: "background", paint: { "background-color": "#e8ecef" } };
      const field = { id: "field", type: "raster", source: "field", paint: { "raster-resampling": "nearest", "raster-fade-duration": 0 } };
      const sources = { field: source("weather://nam211/temperature/{z}/{x}/{y}?level_hpa=850&scale=dewPoint") };
      window.weather.remove();
      window.map.setStyle({ version: 8, sources, layers: [ground, field] });
      const wrong = ["weather://nam211/temperature/{z}/{x}/{y}?level=850", "weather://nam211/temprature/{z}/{x}/{y}", "weather://nam211/temperature/{z}/{x}/{y}?hour=a"];
      const errors = new Set();
      map.on("error", ({ error }) => errors.add(error.message.replace(/\d\/\d\/\d/, "…")));
      wrong.forEach((tiles, at) => {
        map.addSource(`wrong${at}`, source(tiles));
        map.addLayer({ id: `wrong${at}`, type: "raster", source: `wrong${at}` });
      });
      return new Promise((resolve) => setInterval(() => errors.size >= 3 && resolve([...errors].sort()), 100));
    }, served.server.origin);
    assert.equal(said.length, 3);
    assert.match(said[0], /^hour must be an integer from 0 to 0; got NaN/);
    assert.match(said[1], /^the model nam211 has no product "temprature"; known are temperature/);
    assert.equal(said[2], 'weather://nam211/temperature/…?level=850: "level" is not a parameter; allowed are run, hour, valid, level_hpa, member, scale');
    await settled(page);
    const aloft = await source.field({ model: "nam211", product: "temperature", level_hpa: 850, scale: "dewPoint" });
    const got = await (await pixelsOf(page))(...(await placeOf(page, -95, 42)));
    const around = await fieldAround(aloft, -95, 42);
    assert.ok(around.some((one) => near(got, one, 0)), `${css(got)}, ${around.map((one) => css(one.slice(0, 3)))}`);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
  }
});

test("leaflet: stations and alerts are drawn in each turn of the world that is seen", async () => {
  const { page, problems } = await served.open("leaflet", { width: 1300 });
  try {
    await page.evaluate(() => window.map.setView([20, 23], 2, { animate: false }));
    await settled(page);
    await screenshot(page, "map_leaflet_turns");
    const { features } = stations;
    const west = features.find(({ geometry: { coordinates: [lon, lat] } }) => lon < -150 && lat < 25 && lat > 15);
    const pixel = await pixelsOf(page);
    const [lon, lat] = west.geometry.coordinates;
    const colours = features.map(({ properties }) => properties.colour ?? "#9aa0a6").map(rgb);
    for (const turn of [0, 360]) {
      const got = await pixel(...(await placeOf(page, lon + turn, lat)));
      // A disc is small here, and another one may lie on it.
      assert.ok(colours.some((one) => near(got, one, 40)), `turn ${turn}: ${css(got)}`);
    }
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
  }
});
