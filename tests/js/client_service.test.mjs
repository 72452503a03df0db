// The client against a real server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ConnectionError, CredentialError, InvalidRequestError, NotFoundError, connect } from "mesonet/client";

import { startServer } from "./server.mjs";

const STATION = "700f7e18-e84e-51b2-90bd-f054766d1ec5";

let server;
let service;

before(async () => {
  server = await startServer("--rate-requests", "40", "--rate-span-s", "10");
  service = connect(server.origin, { token: server.token("--plan", "commercial"), retries: 20 });
});

after(() => server?.stop());

test("a real server answers with what the types say", async () => {
  const [index, markers] = await Promise.all([service.getIndex(), service.getStationMarkers()]);
  assert.equal(index.service, "mesonet");
  assert.ok(markers.features.length > 0);
  const [{ id }] = markers.features.map(({ properties, id }) => ({ id: id ?? properties.id }));
  const station = await service.getStation({ id });
  assert.equal(typeof station, "object");
  const names = ["airTemperature", "windGust"];
  const { stations } = await service.getReadings({ names });
  assert.ok(Object.keys(stations).length > 0);
  const alerts = await service.getAlerts({ bbox: [-141, 41, -52, 84], lang: "fr" });
  assert.equal(alerts.type, "FeatureCollection");
  assert.equal((await service.getUnits()).airTemperature, "°C");
  assert.equal(await service.getHealth(), "ok\n");
  assert.ok((await service.getReadiness()) !== undefined);
});

test("a real server's answers are watched by their tags", async () => {
  const fresh = [];
  const fetched = async (request) => {
    const response = await fetch(request);
    fresh.push([request.headers.has("if-none-match"), response.status]);
    return response;
  };
  const watched = connect(server.origin, { fetch: fetched });
  const aborts = new AbortController();
  const units = watched.watch("getUnits", {}, { intervalMs: 1000, signal: aborts.signal });
  const { value } = await units.next();
  assert.equal(value.airTemperature, "°C");
  setTimeout(() => aborts.abort(), 1500);
  await assert.rejects(units.next(), { name: "AbortError" });
  assert.deepEqual(fresh, [[false, 200], [true, 304]]);
});

test("a real server's models: the grid, a point and a tile", async () => {
  const model = "nam211";
  const { rows, columns } = await service.getModelGrid({ model });
  assert.deepEqual([rows, columns], [65, 93]);
  const point = await service.getModelPoint({
    ...{ model, run: "latest", hour: 0, row: 40, col: 20 },
    fields: ["u_wind_10m", "v_wind_10m"],
  });
  assert.equal(point.fields.u_wind_10m.unit, "m/s");
  const tile = await service.getModelTile({ model, name: "u_wind_10m", z: 2, x: 0, y: 1, run: point.run, hour: 0 });
  assert.equal(tile.byteLength, 2 * 256 * 256);
});

test("a real server's refusals are errors of their classes", async () => {
  const nobody = connect(server.origin);
  const unknown = "00000000-0000-0000-0000-000000000000";
  await assert.rejects(service.getStation({ id: unknown }), NotFoundError);
  await assert.rejects(service.getReadings({ step: 0 }), InvalidRequestError);
  const bulk = { start: "2024-08-03T15:00:00Z", end: "2024-08-03T21:00:00Z", body: { stationId: STATION } };
  await assert.rejects(nobody.bulkPages(bulk).next(), CredentialError);
  await assert.rejects(connect(server.origin, { token: "x.y.z" }).getIndex(), CredentialError);
  await assert.rejects(connect("http://127.0.0.1:9").getIndex(), ConnectionError);
});

test("the pages of a real export are all of its rows", async () => {
  const readings = { start: "2024-08-03T15:00:00Z", end: "2024-08-03T21:00:00Z", body: { stationId: STATION } };
  const rowsOf = async (parameters) => {
    const [rows, headers] = [[], new Set()];
    let pages = 0;
    for await (const { data, seriesFound } of service.bulkPages(parameters)) {
      const [header, ...lines] = new TextDecoder().decode(data).trim().split(/\r?\n/);
      assert.ok(seriesFound);
      headers.add(header);
      rows.push(...lines);
      pages += 1;
    }
    assert.equal(headers.size, 1);
    return { rows, pages };
  };
  const [whole, paged] = [await rowsOf(readings), await rowsOf({ ...readings, pageSize: 20 })];
  assert.deepEqual(paged.rows, whole.rows);
  assert.equal(whole.pages, 1);
  assert.equal(paged.pages, Math.ceil(whole.rows.length / 20));
  assert.ok(paged.pages > 1, `${whole.rows.length}`);
});

test("a real server's rate: a client that waits gets every answer", async () => {
  const statuses = [];
  const fetching = async (request) => {
    const response = await fetch(request);
    statuses.push(response.status);
    return response;
  };
  const patient = connect(server.origin, { retries: 20, fetch: fetching });
  const answers = await Promise.all(Array.from({ length: 80 }, () => patient.getUnits()));
  assert.equal(answers.length, 80);
  assert.ok(statuses.includes(429), "the rate was reached");
});
