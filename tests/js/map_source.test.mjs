// What maps show, without a map: scales, tiles, stations and alerts of a server, and loads of which the latest counts.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { colours, convert, decodeTile, tileColours } from "mesonet";
import { connect } from "mesonet/client";
import { weatherLayers } from "mesonet/leaflet";
import { ALERT_COLOURS, MesonetError, colourOf, colourStops, inUnit, legend, plainScale, scaleOfProduct, scaleOfVariable, scales, weather } from "mesonet/map";

import { boxOf, viewLoader } from "../../bindings-wasm/js/dist/map_view.js";
import { startServer } from "./server.mjs";

const SIDE = 256;
let server;
/** A weather of the server, and the addresses that it asks for. */
const asking = (options) => {
  const asked = [];
  const send = (request) => {
    asked.push(request.url.slice(server.origin.length));
    return fetch(request);
  };
  return { asked, source: weather(server.origin, { ...options, fetch: send }) };
};

before(async () => {
  server = await startServer();
});
after(() => server?.stop());

test("each scale has the colours that the core mixes of its stops, for all integers of a tile", () => {
  const encoding = { scale: 0.01, offset: 0, nodata: -32768 };
  const raw = Int16Array.from({ length: 65_535 }, (_, at) => at - 32_767);
  let compared = 0;
  for (const [name, scale] of Object.entries(scales)) {
    // The integers go over the ends of the scale, whatever its unit.
    const [middle, span] = [(scale.from + scale.to) / 2, scale.to - scale.from];
    const own = { ...encoding, scale: (2 * span) / 65_536, offset: middle };
    const values = decodeTile(raw, own);
    const pixels = tileColours(own, colourStops(scale)).paint(new Uint8Array(raw.buffer));
    values.forEach((value, at) => {
      if (scale.nothingUpTo === undefined || value > scale.nothingUpTo) {
        const wanted = [...pixels.subarray(4 * at, 4 * at + 3)];
        const got = colourOf(scale, value);
        if (got.some((part, channel) => part !== wanted[channel])) {
          assert.fail(`${name} ${value}: ${got}, ${wanted}`);
        }
        compared += 1;
      } else {
        assert.equal(colourOf(scale, value), undefined, `${name} ${value}`);
      }
    });
    assert.equal(colourOf(scale, NaN), undefined);
  }
  assert.ok(compared > 700_000, `${compared} were compared`);
});

test("a scale in another unit has the same colour for the same value", () => {
  for (const [name, unit] of [["temperature", "°F"], ["temperature", "K"], ["wind", "kt"], ["wind", "mph"], ["pressure", "inHg"], ["rain", "in"], ["rain", "kg/m²"], ["visibility", "mi"], ["ceiling", "ft"]]) {
    const [own, other] = [scales[name], inUnit(scales[name], unit)];
    for (let part = -0.1; part <= 1.1; part += 0.0373) {
      const value = own.from + part * (own.to - own.from);
      const [a, b] = [colourOf(own, value), colourOf(other, convert(value, own.unit, unit, { liquidWater: true }))];
      assert.deepEqual(b, a, `${name}: ${value} ${own.unit} in ${unit}`);
    }
  }
  assert.throws(() => inUnit(scales.temperature, "hPa"), new MesonetError('a scale of °C has no values of "hPa"'));
});

test("a legend has the values and the colours of its scale", () => {
  const { unit, stops } = legend("temperature", { count: 5 });
  assert.equal(unit, "°C");
  assert.deepEqual(stops.map(({ value }) => value), [-40, -20, 0, 20, 40]);
  assert.deepEqual([stops[0].colour, stops[4].colour], ["#001261", "#590008"]);
  assert.deepEqual(legend("temperature", { unit: "°F", count: 3 }).stops.map(({ value }) => Math.round(value)), [-40, 32, 104]);
  const radar = legend("radar");
  assert.equal(radar.stops.length, 14);
  assert.deepEqual([radar.stops[0], radar.stops[13], radar.nothingUpTo], [{ value: 5, colour: "#04e9e7" }, { value: 70, colour: "#9854c6" }, 5]);
  assert.throws(() => legend("temprature"), /^MesonetError: "temprature" is not a scale; known are temperature, /);
});

test("variables and products have the scales of the explorer", () => {
  assert.deepEqual(["airTemperature", "windChill", "dewPointTemperature", "windGust10m", "mslp", "precipitation"].map((name) => scaleOfVariable(name)), [
    ...[scales.temperature, scales.temperature, scales.dewPoint, scales.wind, scales.pressure, scales.rain],
  ]);
  assert.equal(scaleOfVariable("uvIndex"), undefined);
  assert.equal(scaleOfProduct("temperature_2m", "K"), scales.temperature);
  assert.equal(scaleOfProduct("temperature", "K", 250).from, -80);
  assert.equal(scaleOfProduct("reflectivity", "dBZ"), scales.radar);
  // A product of that name in a unit of another quantity has none.
  assert.equal(scaleOfProduct("humidity", "kg/kg"), undefined);
});

test("a tile has the colour of each value, opaque, and is transparent where there is none", async () => {
  const { source } = asking();
  const field = await source.field({ model: "nam211", product: "temperature_2m" });
  const { pixels, valueAt } = await field.tile(3, 1, 3);
  const body = await fetch(`${server.origin}/models/nam211/products/temperature_2m/data/3/1/3?run=${field.run}&hour=0`);
  const { products } = await (await fetch(`${server.origin}/models/nam211/products`)).json();
  const { scale, offset, nodata } = products.find(({ name }) => name === "temperature_2m").encoding;
  const kelvin = decodeTile(await body.arrayBuffer(), { scale, offset, nodata });
  const celsius = convert(kelvin, "K", "°C");
  const counts = { valued: 0, none: 0 };
  for (let at = 0; at < SIDE * SIDE; at += 1) {
    const pixel = [...pixels.subarray(4 * at, 4 * at + 4)];
    const value = valueAt(at % SIDE, Math.floor(at / SIDE));
    if (Number.isNaN(kelvin[at])) {
      counts.none += 1;
      assert.deepEqual([pixel, value], [[0, 0, 0, 0], NaN]);
    } else {
      counts.valued += 1;
      assert.ok(Math.abs(value - celsius[at]) < 1e-9);
      assert.deepEqual(pixel, [...colourOf(scales.temperature, value), 255]);
    }
  }
  assert.ok(counts.valued > 10_000 && counts.none > 100, JSON.stringify(counts));
  assert.ok(Number.isNaN(valueAt(256, 0)) && Number.isNaN(valueAt(0, -1)));
  assert.equal(field.attribution, "NOAA National Centers for Environmental Prediction");
  assert.equal(field.validTime.toISOString(), "2018-09-17T00:00:00.000Z");
  assert.equal(field.maxZoom, 4);
});

test("units, levels, hours and times of a field are those asked for, or named in the error", async () => {
  const { source } = asking({ units: "us" });
  const { scale, legend } = await source.field({ model: "nam211", product: "temperature_2m" });
  assert.deepEqual([scale.unit, Math.round(scale.from), Math.round(scale.to), legend.unit], ["°F", -40, 104, "°F"]);
  const aloft = await source.field({ model: "nam211", product: "temperature" });
  assert.deepEqual([aloft.level_hpa, (await source.field({ model: "nam211", product: "temperature", level_hpa: 250 })).level_hpa], [500, 250]);
  const later = await source.field({ model: "safrica", product: "precipitable_water", valid: "2010-03-08T18:00:00Z" });
  assert.deepEqual([later.hour, later.validTimes.length], [2, 25]);
  // No scale is given for it: that of its values, in the unit of the model.
  const height = await source.field({ model: "nam211", product: "geopotential_height" });
  assert.equal(height.scale.unit, "ft");
  assert.ok(height.scale.from > 15_000 && height.scale.to < 21_000, JSON.stringify(height.scale));
  const refused = [
    [{ model: "nam211", product: "temprature" }, /^MesonetError: the model nam211 has no product "temprature"; known are temperature, /],
    [{ model: "nam", product: "temperature_2m" }, /^NotFoundError: .*unknown model|"nam"/],
    [{ model: "nam211", product: "temperature", level_hpa: 3 }, /^MesonetError: temperature has no level of 3 hPa; its levels are 1000, /],
    [{ model: "safrica", product: "precipitable_water", hour: 25 }, /^MesonetError: hour must be an integer from 0 to 24; got 25/],
    [{ model: "safrica", product: "precipitable_water", valid: "2010-03-08T19:00:00Z" }, /^MesonetError: no hour of the run is valid at 2010-03-08T19:00:00Z; they are 2010-03-08T12:00:00.000Z to 2010-03-11/],
    [{ model: "safrica", product: "precipitable_water", run: "20200101T000000Z" }, /^MesonetError: the model "safrica" has no run 20200101T000000Z/],
    [{ model: "nam211", product: "temperature_2m", scale: "wind" }, /^MesonetError: a scale of mph has no values of temperature_2m, which are in K/],
  ];
  for (const [options, message] of refused) {
    await assert.rejects(source.field(options), (error) => message.test(String(error)) || assert.fail(String(error)));
  }
});

test("tiles are kept up to a number of bytes, the last used the longest", async () => {
  const { asked, source } = asking({ cacheBytes: 2 * 6 * SIDE * SIDE });
  const field = await source.field({ model: "nam211", product: "temperature_2m" });
  const first = await field.tile(3, 1, 3);
  await field.tile(3, 2, 3);
  assert.equal(await field.tile(3, 1, 3), first);
  await field.tile(3, 3, 3); // 2/3 goes
  assert.equal(await field.tile(3, 1, 3), first);
  await field.tile(3, 2, 3);
  const columns = asked.filter((address) => address.includes("/data/")).map((address) => /data\/3\/(\d)/.exec(address)[1]);
  assert.deepEqual(columns, ["1", "2", "3", "2"]);
});

test("a signal ends a tile, and what the server says is the message of the error", async () => {
  const { asked, source } = asking();
  const field = await source.field({ model: "nam211", product: "temperature_2m" });
  const before = asked.length;
  await assert.rejects(field.tile(3, 1, 3, { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.equal(asked.length, before);
  const controller = new AbortController();
  const waits = field.tile(3, 1, 3, { signal: controller.signal });
  controller.abort();
  await assert.rejects(waits, { name: "AbortError" });
  await field.tile(3, 1, 3);
  await assert.rejects(field.tile(3, 9, 3), { name: "InvalidRequestError", message: /tile/ });
  const broken = weather(server.origin, { fetch: async (request) => (request.url.includes("/data/") ? new Response(new Uint8Array(7)) : fetch(request)) });
  await assert.rejects((await broken.field({ model: "nam211", product: "temperature_2m" })).tile(3, 1, 3), new MesonetError("a tile has 131072 bytes; got 7"));
});

test("stations have value, label and colour in their unit, and what the service says", async () => {
  const box = [-80, 43, -79, 44];
  const { asked, source } = asking({ lang: "fr" });
  const { features, legend } = await source.stations({ variable: "airTemperature", names: ["windDirection"] }, { box });
  assert.ok(features.length > 5 && features.length < 50, `${features.length}`);
  for (const { geometry, id, properties } of features) {
    const [lon, lat] = geometry.coordinates;
    assert.ok(lon >= box[0] && lon <= box[2] && lat >= box[1] && lat <= box[3]);
    const { value, label, colour, unit } = properties;
    assert.deepEqual([properties.id, unit, value], [id, "°C", properties.airTemperature]);
    assert.equal(label, String(Math.round(value)));
    const [red, green, blue] = colourOf(scales.temperature, value);
    assert.deepEqual([1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)), [red, green, blue]);
  }
  assert.ok(features.some(({ properties }) => typeof properties.windDirection === "number"));
  assert.equal(legend.unit, "°C");
  const pressure = await source.stations({ variable: "mslp" }, { box });
  assert.match(pressure.features[0].properties.label, /^\d{4},\d$/);
  const american = await weather(server.origin, { units: "us" }).stations({ variable: "airTemperature" }, { box });
  const same = american.features.find(({ id }) => id === features[0].id);
  assert.equal(same.properties.unit, "°F");
  assert.ok(Math.abs(same.properties.value - convert(features[0].properties.value, "°C", "°F")) < 0.06);
  assert.equal(american.legend.unit, "°F");
  const knots = await source.stations({ variable: "windSpeed10m", unit: "kt" }, { box });
  assert.deepEqual([knots.legend.unit, knots.features[0].properties.unit], ["kt", "kt"]);
  assert.ok(asked.every((address) => address.includes("format=geojson")));
  await assert.rejects(source.stations({ variable: "temperature" }), /"temperature" is not a variable name; allowed are /);
  const none = await source.stations({ variable: "airTemperature" }, { box: [10, 10, 11, 11] });
  assert.deepEqual([none.features, none.legend.unit], [[], "°C"]);
  assert.deepEqual((await source.stations({ variable: "uvIndex" }, { box: [10, 10, 11, 11] })).features, []);
});

test("a value has the colour of its scale at each end, and one in another unit has none", async () => {
  const feature = (id, value, unit) => ({ id, type: "Feature", geometry: { type: "Point", coordinates: [0, 0] }, properties: { airTemperature: value, airTemperatureUnit: unit } });
  const answer = { type: "FeatureCollection", features: [feature("a", -0.3, "°C"), feature("b", 99, "°C"), feature("c", 71, "F"), { ...feature("d"), properties: {} }] };
  const source = weather("http://127.0.0.1", { fetch: async () => Response.json(answer) });
  const { features } = await source.stations({ variable: "airTemperature" });
  assert.deepEqual(features.map(({ id, properties: { label, colour, unit } }) => [id, label, colour, unit]), [
    ["a", "0", features[0].properties.colour, "°C"],
    ["b", "99", "#590008", "°C"],
    ["c", "71", null, "F"],
  ]);
});

test("alerts in force have an outline, a colour, and the gravest last", async () => {
  const { source } = asking();
  const { features } = await source.alerts();
  const ranks = features.map(({ properties }) => properties.rank);
  assert.ok(features.length > 300);
  assert.deepEqual(ranks, [...ranks].sort((a, b) => a - b));
  for (const { geometry, properties } of features) {
    assert.match(geometry.type, /Polygon$/);
    assert.equal(properties.status, "Active");
    const given = { Red: "#c5221f", Orange: "#e07000", Yellow: "#c9a800" }[properties.alertColour];
    assert.equal(properties.colour, given ?? ALERT_COLOURS[properties.alertType]);
  }
  const all = await source.alerts({ active: false });
  assert.ok(all.features.length > features.length);
  const french = await weather(server.origin, { lang: "fr" }).alerts({ active: false });
  const headlines = ({ features }) => features.map(({ properties }) => properties.alertHeadline).join();
  assert.match(headlines(french), /en vigueur|terminé|avertissement|veille/i);
  assert.doesNotMatch(headlines(all), /en vigueur|terminé|avertissement|veille/i);
});

test("options that are wrong are refused at once", () => {
  assert.throws(() => weather("nowhere"), TypeError);
  assert.throws(() => weather("http://127.0.0.1", { units: "imperial" }), new MesonetError('units must be one of metric, us, si; got "imperial"'));
  assert.throws(() => weather("http://127.0.0.1", { lang: "de" }), new MesonetError('lang must be one of en, fr; got "de"'));
  assert.throws(() => weather("http://127.0.0.1", { cacheBytes: -1 }), MesonetError);
  const client = connect("http://127.0.0.1");
  assert.equal(weather(client, { units: "us" }).service, client);
  assert.throws(() => weather(client, { token: "mesonet_key_" }), new MesonetError("token is decided by the client that is given"));
  assert.throws(() => weatherLayers({}, {}, weather(client), { units: "us" }), new MesonetError("units is decided by the weather that is given"));
});

test("the box of a view goes over the antimeridian, and round the world", () => {
  assert.deepEqual(boxOf([170, 0, 190, 10]), [170, 0, -170, 10]);
  assert.deepEqual(boxOf([-200, 0, -170, 10]), [160, 0, -170, 10]);
  assert.deepEqual(boxOf([-460, 0, -440, 10]), [-100, 0, -80, 10]);
  assert.deepEqual(boxOf([-250, -10, 250, 10]), [-180, -10, 180, 10]);
});

test("stations on both sides of the antimeridian are in a box over it", async () => {
  const { features } = await asking().source.stations({ variable: "airTemperature" }, { box: boxOf([165, 45, 205, 65]) });
  const lons = features.map(({ geometry }) => geometry.coordinates[0]);
  assert.ok(lons.some((lon) => lon < -150) && lons.every((lon) => lon >= 165 || lon <= -155), lons.join());
});

test("of several loads the latest is shown, and short moves need none", async () => {
  const [boxes, shown, waiting] = [[], [], []];
  const load = (box, signal) =>
    new Promise((resolve, reject) => {
      boxes.push(box);
      waiting.push(resolve);
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const loader = viewLoader(load, (of) => shown.push(of));
  const first = loader.look([0, 0, 10, 10]);
  const second = loader.look([100, 0, 110, 10]);
  let isDone = false;
  void first.then(() => (isDone = true));
  await new Promise((turn) => setTimeout(turn, 10));
  assert.ok(!isDone, "what was replaced ends as what replaces it");
  waiting[1]("second");
  await Promise.all([first, second]);
  await loader.look([101, 1, 111, 11]);
  assert.deepEqual([shown, boxes.length], [["second"], 2]);
  const third = loader.look([104, 1, 114, 11]);
  waiting[2]("third");
  await third;
  const again = loader.again();
  waiting[3]("again");
  await again;
  assert.deepEqual(shown, ["second", "third", "again"]);
  assert.deepEqual(boxes[3], boxes[2]);
  const stopped = loader.again();
  loader.stop();
  await assert.rejects(stopped, { name: "AbortError" });
  assert.equal(shown.length, 3);
  const failing = viewLoader(() => Promise.reject(new Error("away")), () => {});
  await assert.rejects(failing.look([0, 0, 1, 1]), /away/);
  // It is asked again, though nothing moved.
  await assert.rejects(failing.look([0, 0, 1, 1]), /away/);
});
