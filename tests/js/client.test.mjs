// The client over a fetch that is made up: requests, errors, waits and pages.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import {
  ConnectionError,
  CredentialError,
  ForbiddenError,
  InvalidRequestError,
  MesonetError,
  NotFoundError,
  RateLimitError,
  ServerFaultError,
  ServiceError,
  UnavailableError,
  connect,
} from "mesonet/client";

const STATION = "700f7e18-e84e-51b2-90bd-f054766d1ec5";
const answer = (body, status = 200, headers = {}) => new Response(body, { status, headers });
const json = (value, status, headers) => answer(JSON.stringify(value), status, headers);

/** A client whose requests are kept and answered one after the other. */
function scripted(answers, options = {}) {
  const requests = [];
  const fetch = async (request) => {
    requests.push(request);
    const next = answers.shift();
    if (next instanceof Error) {
      throw next;
    }
    return next;
  };
  return { requests, service: connect("http://weather.example/base/", { fetch, ...options }) };
}

test("parameters, lists, dates and bodies are written as the service reads them", async () => {
  const { requests, service } = scripted([json({}), json({}), json({}), json({}), answer(new Uint8Array(2)), json({})], {
    token: async () => "abc",
  });
  await service.getReadings({ names: ["airTemperature", "windGust"], start: new Date(0), step: 10 });
  await service.getAlerts({ codes: ["061000", "ONC001"], active: true, bbox: [-80, 43, -79, 44.5] });
  await service.getStation({ id: "a/b c" });
  await service.getSeries({ start: "x", end: "y", body: { stationId: STATION, name: "mslp" } });
  const tile = await service.getModelTile({ model: "nam211", name: "t", z: 1, x: 0, y: 0, level_hpa: 850 });
  await service.getStation({ id: "a", units: "us", unit: { airTemperature: "°F", windSpeed: "kt" } });
  assert.deepEqual(
    requests.map(({ method, url }) => `${method} ${url.slice("http://weather.example/base".length)}`),
    [
      "GET /api/v1/stations/readings?start=1970-01-01T00%3A00%3A00.000Z&step=10&names=airTemperature&names=windGust",
      "GET /api/v1/alerts?bbox=-80%2C43%2C-79%2C44.5&codes=061000%2CONC001&active=true",
      "GET /api/v1/stations/a%2Fb%20c",
      "POST /api/v1/observations/series?start=x&end=y",
      "GET /models/nam211/products/t/data/1/0/0?level_hpa=850",
      "GET /api/v1/stations/a?units=us&unit.airTemperature=%C2%B0F&unit.windSpeed=kt",
    ],
  );
  assert.deepEqual(await requests[3].json(), { stationId: STATION, name: "mslp" });
  assert.equal(requests[3].headers.get("content-type"), "application/json");
  assert.equal(requests[0].headers.get("authorization"), "Bearer abc");
  assert.equal(tile.byteLength, 2);
});

test("every operation of the description has its function", async () => {
  const { paths } = JSON.parse(await readFile(new URL("../../docs/openapi-v1.json", import.meta.url)));
  const described = Object.values(paths).flatMap((methods) => Object.values(methods).map((of) => of.operationId));
  const { service } = scripted([]);
  const others = { exportReadings: "bulkPages", listen: "live", getExplorer: undefined, getExplorerFile: undefined };
  const wanted = described.map((id) => (id in others ? others[id] : id)).filter(Boolean);
  assert.deepEqual(Object.keys(service).sort(), [...wanted, "watch"].sort());
});

const errors = [
  [json("step must be a number", 400), InvalidRequestError, "step must be a number"],
  [json({ reason: "expired" }, 401), CredentialError, "the token is rejected: expired"],
  [answer(null, 401), CredentialError, "GET http://weather.example/base/: the answer was 401"],
  [answer(null, 403), ForbiddenError, "GET http://weather.example/base/: the answer was 403"],
  [json("no such thing", 404), NotFoundError, "no such thing"],
  [json({ title: "Internal Server Error" }, 500), ServerFaultError, "GET http://weather.example/base/: the answer was 500"],
  [answer("<html>", 502), ServerFaultError, "GET http://weather.example/base/: the answer was 502"],
  [answer("<html>"), ServerFaultError, "GET http://weather.example/base/: the answer is not JSON"],
  [new TypeError("refused"), ConnectionError, "GET http://weather.example/base/: no answer"],
];
for (const [given, kind, message] of errors) {
  test(`an error of its class: ${kind.name}, ${message}`, async () => {
    const { service, requests } = scripted([given]);
    await assert.rejects(service.getIndex(), (error) => {
      assert.ok(error instanceof kind && error instanceof ServiceError);
      assert.deepEqual([error.name, error.message], [kind.name, message]);
      return true;
    });
    assert.equal(requests.length, 1, "it is not sent again");
  });
}

test("an error has the id under which the server's log has it, and the reason of a token", async () => {
  const { service } = scripted([json("x", 500, { "x-request-id": "3b2c" }), json({ reason: "expired" }, 401)]);
  await assert.rejects(service.getIndex(), { requestId: "3b2c", status: 500 });
  await assert.rejects(service.getIndex(), { reason: "expired", status: 401 });
});

test("after a 429 or 503 it waits as long as asked and sends the request again", async () => {
  const busy = (status) => answer(null, status, { "retry-after": "1" });
  const { service, requests } = scripted([busy(429), busy(503), json({ service: "mesonet" })]);
  const start = performance.now();
  assert.equal((await service.getIndex()).service, "mesonet");
  assert.equal(requests.length, 3);
  const waited = performance.now() - start;
  assert.ok(waited >= 1990 && waited < 20_000, `${waited}`);
});

test("it gives up after its retries, and at once if it would wait too long", async () => {
  const busy = () => answer(null, 429, { "retry-after": "0" });
  const often = scripted([busy(), busy(), busy(), busy()], { retries: 2 });
  await assert.rejects(often.service.getIndex(), RateLimitError);
  assert.equal(often.requests.length, 3);
  const later = new Date(Date.now() + 3_600_000).toUTCString();
  const long = scripted([answer(null, 503, { "retry-after": later })]);
  await assert.rejects(long.service.getIndex(), (error) => {
    assert.ok(error instanceof UnavailableError && error.retryAfterMs > 3_500_000);
    return true;
  });
});

test("without Retry-After the waits begin below a second and double", async () => {
  const { service, requests } = scripted([answer(null, 429), json({})]);
  const start = performance.now();
  await service.getIndex();
  const waited = performance.now() - start;
  assert.ok(requests.length === 2 && waited >= 240 && waited < 10_000, `${waited}`);
});

test("what acts is not sent again after a 503", async () => {
  const { service, requests } = scripted([answer(null, 503, { "retry-after": "0" })]);
  await assert.rejects(service.issueKey({ body: { label: "x" } }), UnavailableError);
  assert.equal(requests.length, 1);
});

test("a signal ends a request and a wait with its reason", async () => {
  const { service, requests } = scripted([answer(null, 429, { "retry-after": "20" })]);
  const controller = new AbortController();
  const waiting = service.getIndex({}, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error("enough")), 50);
  await assert.rejects(waiting, { message: "enough" });
  await assert.rejects(service.getIndex({}, { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.equal(requests.length, 1);
});

test("a bulk export is asked for page by page, with the cursor of the page before", async () => {
  const page = (cursor) =>
    answer("a\n", 200, {
      "x-has-more": cursor ? "True" : "False",
      "x-series-found": "True",
      ...(cursor && { "x-next-cursor": cursor }),
    });
  const { service, requests } = scripted([page("one"), page("two"), page()]);
  const parameters = { start: "x", end: "y", body: { stationId: STATION } };
  const cursors = [];
  for await (const { nextCursor, seriesFound, data } of service.bulkPages(parameters, { format: "arrow" })) {
    cursors.push(nextCursor);
    assert.deepEqual([seriesFound, data.length], [true, 2]);
  }
  assert.deepEqual(cursors, ["one", "two", undefined]);
  assert.deepEqual(requests.map(({ url }) => new URL(url).searchParams.get("cursor")), [null, "one", "two"]);
  assert.equal(requests[1].headers.get("accept"), "application/vnd.apache.arrow.stream");
  assert.deepEqual(await requests[2].json(), parameters.body);
});

const refused = [
  [(service) => service.getStation({ id: ".." }), MesonetError, 'id must be a name; got ".."'],
  [(service) => service.getStation(), TypeError, "id must be a string; got undefined"],
  [(service) => service.getReadings({ step: NaN }), MesonetError, "step must be finite; got NaN"],
  [(service) => service.getReadings({ start: new Date(NaN) }), MesonetError, "start must be a date; got an invalid one"],
  [
    (service) => service.getStation({ id: "x", window: "1d" }),
    MesonetError,
    'getStation has no parameter "window"; allowed are body, fields, units, unit, tz, id',
  ],
  [
    (service) => service.bulkPages({}, { format: "xlsx" }).next(),
    MesonetError,
    'format must be one of csv, arrow, parquet; got "xlsx"',
  ],
];
for (const [call, kind, message] of refused) {
  test(`refused before it is sent: ${message}`, async () => {
    const { service, requests } = scripted([]);
    await assert.rejects(call(service), (error) => error instanceof kind && error.message === message);
    assert.equal(requests.length, 0);
  });
}

const tagged = (value, etag) => json(value, 200, { etag });

test("watching gives the first answer and each that is another, and asks with the tag", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const unchanged = answer(null, 304, { etag: '"a"' });
  // The fourth is what a browser gives that asked again by itself.
  const { requests, service } = scripted([tagged(1, '"a"'), unchanged, tagged(2, 'W/"b"'), tagged(2, 'W/"b"'), tagged(3, '"c"')]);
  const answers = service.watch("getAlerts", { active: true }, { intervalMs: 5000 });
  assert.deepEqual(await answers.next(), { value: 1, done: false });
  const next = async (waits) => {
    const promise = answers.next();
    for (let wait = 0; wait < waits; wait += 1) {
      const before = requests.length;
      while (requests.length === before) {
        await new Promise((turn) => setImmediate(turn));
        context.mock.timers.tick(5000);
      }
    }
    return (await promise).value;
  };
  assert.deepEqual([await next(2), await next(2)], [2, 3]);
  const tags = requests.map(({ headers }) => headers.get("if-none-match"));
  assert.deepEqual(tags, [null, '"a"', '"a"', 'W/"b"', 'W/"b"']);
  assert.ok(requests.every(({ url }) => url.endsWith("/api/v1/alerts?active=true")));
  assert.deepEqual(await answers.return(), { value: undefined, done: true });
});

test("watching ends by its signal, at once while it waits, and by errors", async () => {
  const aborts = new AbortController();
  const { service } = scripted([tagged(1, '"a"'), answer(null, 403)]);
  const answers = service.watch("getAlerts", {}, { signal: aborts.signal });
  await answers.next();
  const waits = answers.next();
  aborts.abort(new Error("the page was left"));
  await assert.rejects(waits, { message: "the page was left" });
  assert.deepEqual(await answers.next(), { value: undefined, done: true });
  await assert.rejects(service.watch("getAlerts", {}).next(), ForbiddenError);
  const ended = service.watch("getAlerts", {}, { signal: AbortSignal.abort() });
  await assert.rejects(ended.next(), { name: "AbortError" });
});

test("what cannot be watched is refused", async () => {
  const { requests, service } = scripted([]);
  const refused = [
    ["getReadings", {}, /^"getReadings" cannot be watched; allowed are getAlerts, /],
    ["issueKey", {}, /cannot be watched/],
    ["getAlerts", { intervalMs: 999 }, /^intervalMs must be an integer from 1000 to 2147483647; got 999$/],
    ["getAlerts", { intervalMs: NaN }, /^intervalMs must be an integer/],
  ];
  for (const [id, options, message] of refused) {
    await assert.rejects(service.watch(id, {}, options).next(), { name: "MesonetError", message });
  }
  assert.deepEqual(requests, []);
});
