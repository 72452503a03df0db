// Official alerts: messages with all that they say, their state, GeoJSON, and what is refused.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";

import { MesonetError, load } from "mesonet/alerts";

const wasm = await readFile(fileURLToPath(import.meta.resolve("mesonet/alerts.wasm")));
const { readCap, readNwsAlerts } = await load(wasm);

const root = new URL("../../", import.meta.url);
const unpacked = async (path) => gunzipSync(await readFile(new URL(path, root)));
const CAPCP = "tests/data/capcp/";
const names = await readdir(new URL(CAPCP, root));
const named = (start) => names.filter((name) => name.startsWith(start)).sort();
const tornado = await Promise.all(["1_T", "2_T", "3_T"].map((start) => unpacked(CAPCP + named(start)[0])));
const AT = Date.parse("2026-08-12T23:14Z");

test("a text is what it says, whatever encoding it declares", async () => {
  const bytes = await readFile(new URL("tests/data/reported/alerts/cap_iso8859-1.xml", root));
  const text = new TextDecoder("iso-8859-1").decode(bytes);
  assert.match(text, /encoding="iso-8859-1"/i);
  const words = (source) => JSON.stringify(readCap(source).messages());
  assert.match(words(bytes), /[\u00c0-\u00ff]/);
  // Once it was decoded a second time: "é" was "Ã©".
  assert.equal(words(text), words(bytes));
  for (const [isBig, mark] of [[false, ""], [true, ""], [false, "\ufeff"], [true, "\ufeff"]]) {
    const view = new DataView(new ArrayBuffer(2 * (mark + text).length));
    [...(mark + text)].forEach((letter, at) => view.setUint16(2 * at, letter.charCodeAt(0), !isBig));
    assert.equal(words(view.buffer), words(bytes));
  }
  const passedOn = (label) => new TextEncoder().encode(text.replace(/encoding="[^"]*"/i, `encoding="${label}"`));
  for (const label of ["utf-8", "UTF-16", "ucs-2", "unicodefeff", "unicode-1-1-utf-8"]) {
    assert.equal(words(passedOn(label)), words(bytes), label);
  }
  const ofEncoding = (label, ...more) =>
    Uint8Array.of(...new TextEncoder().encode(`<?xml version="1.0" encoding="${label}"?><alert>`), ...more);
  assert.throws(() => readCap(ofEncoding("EBCDIC-XYZ")), {
    name: "MesonetError", message: 'source: its encoding "EBCDIC-XYZ" is not known',
  });
  assert.throws(() => readCap([bytes, ofEncoding("shift_jis", 0x81)]), {
    name: "MesonetError", message: "source 1 has bytes that are not shift_jis",
  });
});

test("a message of Canada has both of its languages, zones, outlines and codes", async () => {
  const [name] = named("example_SVR");
  const alerts = readCap(await unpacked(CAPCP + name));
  assert.deepEqual(alerts.files, [{ read: 1, refused: 0, refusals: [], unreadValues: {} }]);
  const [{ id, messageType, sentMs, parts }] = alerts.messages();
  assert.equal(id, "urn:oid:2.49.0.1.124.2486553930.2026");
  assert.equal(messageType, "Update");
  assert.equal(new Date(sentMs).toISOString(), "2026-04-15T20:51:47.000Z");
  const [{ texts, areas, ...part }] = parts;
  assert.equal(parts.length, 1);
  assert.deepEqual(texts.map(({ language, event }) => [language, event]), [
    ["en-CA", "yellow warning - severe thunderstorm"],
    ["fr-CA", "alerte jaune - orages violents"],
  ]);
  assert.deepEqual(part.eventCodes, { "profile:CAP-CP:Event:0.4": ["thunderstorm"], SAME: ["SVR"] });
  assert.deepEqual([part.alertType, part.colour, part.severity], ["Warning", "Yellow", "Moderate"]);
  assert.deepEqual(Object.keys(part).filter((key) => part[key] === undefined), []);
  for (const text of texts) {
    assert.equal(text.areas.length, areas.length);
  }
  const zones = areas.filter(({ code }) => /^\d{6}$/.test(code ?? ""));
  assert.ok(zones.length > 0);
  assert.ok(areas.every(({ geometry }) => ["Polygon", "MultiPolygon"].includes(geometry.type)));
  alerts.free();
});

test("a message of the United States has its codes of places, zones and events", async () => {
  const folder = "tests/data/nws_cap/";
  const [name] = (await readdir(new URL(folder, root))).filter((name) => name.startsWith("example_SVR"));
  const [{ parts }] = readCap(await unpacked(folder + name)).messages();
  assert.deepEqual(parts[0].sameCodes, ["039063", "039173", "039175"]);
  assert.deepEqual(parts[0].vtec, ["/O.NEW.KCLE.SV.W.0063.260414T0016Z-260414T0115Z/"]);
  assert.deepEqual(parts[0].areas.map(({ code }) => code), [null, "OHC063", "OHC173", "OHC175"]);
  assert.equal(parts[0].storm.points.length > 0, true);
});

test("a storm has its numbers, and the places near it in words", () => {
  const [{ parts }] = readCap(tornado[0]).messages();
  const [{ storm, texts }] = parts;
  assert.deepEqual([storm.speedKmh, storm.directionDeg, storm.points], [24.062159, 142.42633, [[-82.291588, 42.831963]]]);
  assert.deepEqual(texts[0].stormPlaces, ["Brigden"]);
});

test("an alert is active, superseded, over: as the chain says at each time", () => {
  const alerts = readCap(tornado);
  const at = (time) => alerts.states({ atMs: Date.parse(`2026-08-12T${time}Z`) }).map(({ status }) => status);
  assert.deepEqual(at("23:07:40"), ["Unknown", "Unknown", "Unknown"]);
  assert.deepEqual(at("23:07:41"), ["Active", "Unknown", "Unknown"]);
  assert.deepEqual(at("23:13:58"), ["Superseded", "Active", "Unknown"]);
  assert.deepEqual(at("23:25:16"), ["Superseded", "Superseded", "Ended"]);
  const [first, second, third] = alerts.states({ atMs: AT + 3_600_000 });
  assert.deepEqual(first.nextIds, [second.id, third.id]);
  assert.deepEqual(third.previousIds, [first.id, second.id]);
  assert.equal(second.areas.length, 3);
  // Today.
  assert.deepEqual(readCap(tornado[2]).states().map(({ status }) => status), ["Ended"]);
  assert.deepEqual(alerts.states({ atMs: undefined }), alerts.states());
});

test("a cancellation withdraws what it names", () => {
  const message = (id, type, references) =>
    `<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2"><identifier>${id}</identifier><sender>a@example.org</sender>
    <sent>2026-08-12T23:0${id}:00-00:00</sent><status>Actual</status><msgType>${type}</msgType><scope>Public</scope>
    <references>${references}</references></alert>`;
  const both = [message(1, "Alert", ""), message(2, "Cancel", "a@example.org,1,2026-08-12T23:01:00-00:00")];
  const statuses = readCap(both).states({ atMs: AT }).map(({ status }) => status);
  assert.deepEqual(statuses, ["Cancelled", "Cancelled"]);
});

test("conditions choose the features", () => {
  const alerts = readCap(tornado);
  const ids = (conditions) => alerts.toGeoJSON({ atMs: AT, ...conditions }).features.map(({ id }) => id);
  const all = ids({});
  assert.equal(all.length, 3);
  assert.deepEqual(ids({ active: true }), [all[1]]);
  assert.deepEqual(ids({ active: true, place: { lon: -82.3, lat: 42.8 } }), [all[1]]);
  assert.deepEqual(ids({ place: { lon: 0, lat: 0 } }), []);
  assert.deepEqual(ids({ active: true, bbox: [-83, 42, -82, 43] }), [all[1]]);
  assert.deepEqual(ids({ bbox: [0, 0, 1, 1] }), []);
  const { type, features } = alerts.toGeoJSON({ atMs: AT, active: true });
  assert.deepEqual([type, features[0].type, features[0].geometry.type], ["FeatureCollection", "Feature", "Polygon"]);
});

test("texts are in the language asked for, or in the first of the message", async () => {
  const alerts = readCap(await unpacked(CAPCP + named("canada.xml")[0]));
  const headline = (language) => alerts.toGeoJSON({ language }).features[0].properties.alertHeadline;
  assert.equal(headline("en"), "special weather statement in effect");
  assert.equal(headline("fr"), "bulletin météorologique spécial en vigueur");
  assert.equal(headline("de"), headline("en"));
});

test("zones give the outlines that messages do not draw", async () => {
  const file = await unpacked("tests/data/nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz");
  const zones = await unpacked("server-example/sample/zones.bin.gz");
  const without = (alerts) => {
    const { features } = alerts.toGeoJSON({ atMs: Date.parse("2026-05-14T16:35:24Z") });
    return features.filter(({ geometry }) => geometry === null);
  };
  const bare = without(readNwsAlerts(file));
  const drawn = without(readNwsAlerts(file, { zones }));
  assert.ok(bare.length > 200 && bare.every(({ properties }) => properties.missingZones.length > 0));
  assert.ok(drawn.length < bare.length / 10, `${drawn.length} of ${bare.length}`);
});

test("bytes, buffers and texts are the same; a mark of UTF-8 does not count", () => {
  const [bytes] = tornado;
  const text = new TextDecoder().decode(bytes);
  const wanted = readCap(bytes).messages();
  for (const source of [text, `\ufeff${text}`, new Uint8Array(bytes), new Uint8Array(bytes).buffer, [text], [bytes, text]]) {
    assert.deepEqual(readCap(source).messages(), wanted);
  }
  assert.deepEqual(readCap([]).toGeoJSON(), { type: "FeatureCollection", features: [] });
});

test("what was freed says so", () => {
  const alerts = readCap(tornado[0]);
  alerts.free();
  alerts.free();
  for (const use of [() => alerts.messages(), () => alerts.states(), () => alerts.toGeoJSON()]) {
    assert.throws(use, { name: "MesonetError", message: "this list of alerts was freed" });
  }
  assert.equal(alerts.files.length, 1);
});

const alerts = readCap(tornado);
const refused = [
  ["not CAP", () => readCap("METAR KBUF 312354Z 21014KT="), /^no element in a namespace of CAP/],
  ["the other kind", () => readNwsAlerts(tornado[0]), /^unreadable JSON at byte 1/],
  ["cut short", () => readCap(tornado[0].subarray(0, 900)), /^not well-formed XML at byte/],
  ["one of several", () => readCap([tornado[0], "<a/>"]), /^source 1: no element in a namespace/],
  ["packed", async () => readCap(new Uint8Array([0x1f, 0x8b, 8])), /^source is packed with gzip; unpack it/],
  ["half a character", () => readCap(["", "<\ud800>"].slice(1)), /^source 0 has half a surrogate pair at 1$/],
  ["half a character of a language", () => alerts.toGeoJSON({ language: "\udc00" }), /^language has half a surrogate/],
  ["not zones", () => readCap(tornado, { zones: new Uint8Array(5) }), /^the bundle of zones must have format/],
  ["packed zones", () => readCap(tornado, { zones: new Uint8Array([0x1f, 0x8b]) }), /^zones is packed with gzip/],
  ["no time", () => alerts.states({ atMs: NaN }), /^atMs must be whole milliseconds; got NaN$/],
  ["part of a millisecond", () => alerts.toGeoJSON({ atMs: 0.5 }), /^atMs must be whole milliseconds; got 0.5$/],
  ["a box beyond a pole", () => alerts.toGeoJSON({ bbox: [0, 91, 1, 92] }), /^latitude must be from -90 to 90; got 91$/],
  ["half a box", () => alerts.toGeoJSON({ bbox: [0, 1] }), /^bbox must be west, south, east, north; got 2 numbers$/],
  ["a place that is none", () => alerts.toGeoJSON({ place: { lon: 0, lat: NaN } }), /^latitude must be from -90 to 90; got NaN$/],
];
for (const [name, call, message] of refused) {
  test(`refused: ${name}`, async () => {
    await assert.rejects(async () => call(), (error) => {
      assert.ok(error instanceof MesonetError, String(error));
      assert.match(error.message, message);
      return true;
    });
  });
}

const wrongClass = [
  [() => readCap(), "source must be a string, a Uint8Array or an ArrayBuffer; got undefined"],
  [() => readCap(new Int16Array(2)), "source must be a string, a Uint8Array or an ArrayBuffer; got Int16Array"],
  [() => readCap([tornado[0], null]), "source 1 must be a string, a Uint8Array or an ArrayBuffer; got null"],
  [() => readCap([, tornado[0]]), "source 0 must be a string, a Uint8Array or an ArrayBuffer; got undefined"],
  [() => readNwsAlerts({}), "source must be a string, a Uint8Array or an ArrayBuffer; got Object"],
  [() => readCap(tornado, null), "options must be an object; got null"],
  [() => readCap(tornado, { zones: "zones.bin" }), "zones must be a Uint8Array or an ArrayBuffer; got string"],
  [() => alerts.states(AT), "options must be an object; got number"],
  [() => alerts.states({ atMs: "2026-08-12" }), "atMs must be a number; got string"],
  [() => alerts.states({ atMs: new Date(AT) }), "atMs must be a number; got Date"],
  [() => alerts.states({ atMs: BigInt(AT) }), "atMs must be a number; got bigint"],
  [() => alerts.toGeoJSON({ active: 1 }), "active must be a boolean; got number"],
  [() => alerts.toGeoJSON({ language: 1 }), "language must be a string; got number"],
  [() => alerts.toGeoJSON({ bbox: "0,0,1,1" }), "bbox must be an array; got string"],
  [() => alerts.toGeoJSON({ bbox: [0, "0", 1, 1] }), "bbox: side 1 must be a number; got string"],
  [() => alerts.toGeoJSON({ place: [0, 0] }), "lon must be a number; got undefined"],
  [() => alerts.toGeoJSON({ place: { lon: "0", lat: 0 } }), "lon must be a number; got string"],
];
for (const [call, message] of wrongClass) {
  test(`a wrong class: ${message}`, () => {
    assert.throws(call, { name: "TypeError", message });
  });
}

test("a buffer that was transferred away is not an empty file", () => {
  const bytes = new Uint8Array(tornado[0]);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  const lost = { name: "TypeError", message: "source has lost its content: its buffer was transferred" };
  assert.throws(() => readCap(bytes), lost);
});
