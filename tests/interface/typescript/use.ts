// A client with the types that openapi-typescript makes of the description. It is compiled, so that a
// wrong type is an error, and asks a running server: `node use.js ORIGIN`.
import assert from "node:assert/strict";

import createClient from "openapi-fetch";

import type { components, paths } from "./schema.js";

const baseUrl = process.argv[2];
assert(baseUrl !== undefined, "the origin of a server is needed");
const client = createClient<paths>({ baseUrl });

type Station = components["schemas"]["StationDetail"];

const details = await client.GET("/api/v1/stations/map/details", {
  params: { query: { search: "Toronto Pearson" } },
});
const stations: Record<string, Station> = details.data ?? {};
const [id, station] = Object.entries(stations)[0] ?? [];
assert(id !== undefined && station !== undefined);
const temperature = station.types.find((type) => type.name === "airTemperature");
assert.equal(temperature?.intervalType, "Instantaneous");

const readings = await client.POST("/api/v1/stations/readings", {
  params: { query: { end: "2024-08-03T21:00:00Z", names: ["airTemperature", "mslp"] } },
  body: { stationIds: [id] },
});
const first = readings.data?.stations[id]?.readings[0];
assert(first !== undefined);
const good: components["schemas"]["BaseQualityCode"] = "Good";
assert.equal(first.quality.baseQuality, good);
// The unit is said if another than that of the record is asked.
assert.equal(first.unit, undefined);
// @ts-expect-error: there is no such member.
assert.equal(first.symbol, undefined);

// An error is a string.
const wrong = await client.GET("/api/v1/stations/readings", {
  params: { query: { start: "2024-08-03T21:00:00Z", end: "2024-08-03T20:00:00Z" } },
});
const told: string | undefined = wrong.error as string | undefined;
assert.match(told ?? "", /^start must be before end/);

const point = await client.GET("/models/{model}/point", {
  params: {
    path: { model: "nam211" },
    query: { run: "latest", hour: 0, row: 40, col: 20, fields: ["pressure_msl"] },
  },
  querySerializer: { array: { style: "form", explode: false } },
});
const pressure = point.data?.fields["pressure_msl"];
assert.equal(pressure?.unit, "Pa");
assert.equal(typeof pressure.value, "number");

const tile = await client.GET("/models/{model}/products/{name}/data/{z}/{x}/{y}", {
  params: {
    path: { model: "nam211", name: "temperature_2m", z: 3, x: 1, y: 2 },
    query: { run: "latest", hour: 0 },
  },
  parseAs: "arrayBuffer",
});
assert.equal(tile.data?.byteLength, 256 * 256 * 2);

console.log("the typed client works");
