// The stream of events by this client, by the package eventsource, and by the EventSource of a browser.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { EventSource } from "eventsource";
import { InvalidRequestError, connect } from "mesonet/client";

import { openPage } from "./browser.mjs";
import { TARGET, serve } from "./server.mjs";

const KEY = "mesonet_push_of_a_test";
const QUERY = { topics: ["readings"], names: ["airTemperature"] };

let folder;
let args;
let origin;
let running;

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function start() {
  running = await serve(process.env.MESONET_SERVER_BIN ?? join(TARGET, "debug", "mesonet-server"), args);
  ({ origin } = running);
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "mesonet-"));
  const hash = createHash("sha256").update(KEY).digest("hex");
  args = ["--listen", `127.0.0.1:${await freePort()}`, "--data", folder, "--now", "live"];
  args.push("--assume-plan", "commercial", "--rate-requests", "0", "--ingest-key-hashes", hash);
  await start();
});

after(async () => {
  await running?.stop();
  await rm(folder, { recursive: true });
});

async function push(minute) {
  const two = (number) => String(number).padStart(2, "0");
  const time = `03${two(Math.floor(minute / 60))}${two(minute % 60)}Z`;
  const answer = await fetch(`${origin}/api/v1/ingest?name=sa_20240803.txt`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}` },
    body: `METAR CYYZ ${time} 24012KT 15SM ${two(minute % 30)}/M01 A2991=\n`,
  });
  assert.equal(answer.status, 200);
}

const minutes = ({ stations }) =>
  Object.values(stations).flatMap(({ readings }) =>
    readings.map(({ timestamp }) => 60 * Number(timestamp.slice(11, 13)) + Number(timestamp.slice(14, 16))),
  );

test("events come, and go on after a restart", async () => {
  const service = connect(origin, { retries: 100 });
  const events = service.live(QUERY);
  const first = events.next();
  // What is pushed before the service knows of the listener is not an event for it.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await push(1);
  const { value: begin } = await first;
  assert.deepEqual([begin.topic, minutes(begin.data)], ["readings", [1]]);
  await push(2);
  assert.deepEqual(minutes((await events.next()).value.data), [2]);
  const next = events.next();
  await running.stop();
  await start();
  await push(3);
  assert.deepEqual(minutes((await next).value.data), [3]);
  await events.return();
  const again = service.live({ ...QUERY, lastEventId: begin.id });
  assert.deepEqual(minutes((await again.next()).value.data), [2]);
  assert.deepEqual(minutes((await again.next()).value.data), [3]);
  await again.return();
});

test("what cannot be told is a resync, a refusal is thrown, and a signal ends the stream", async () => {
  const service = connect(origin, { retries: 0 });
  const { value } = await service.live({ lastEventId: "12" }).next();
  assert.equal(value.topic, "resync");
  assert.equal(value.data.reason, '"12" is not the id of an event of this stream');
  await assert.rejects(service.live({ topics: ["weather"] }).next(), InvalidRequestError);
  const ends = new AbortController();
  const next = service.live(QUERY, { signal: ends.signal }).next();
  setTimeout(() => ends.abort(), 300);
  await assert.rejects(next, { name: "AbortError" });
});

test("the package eventsource listens, and comes back where it was", async () => {
  const source = new EventSource(`${origin}/api/v1/live?topics=readings&names=airTemperature`);
  const got = [];
  let came = () => {};
  const until = async (count) => {
    while (got.length < count) {
      await new Promise((resolve) => (came = resolve));
    }
  };
  source.addEventListener("readings", ({ data }) => {
    got.push(minutes(JSON.parse(data))[0]);
    came();
  });
  await new Promise((resolve) => source.addEventListener("position", resolve, { once: true }));
  await push(11);
  await until(1);
  await running.stop();
  await start();
  await push(12);
  await push(13);
  await until(3);
  source.close();
  assert.deepEqual(got, [11, 12, 13]);
});

test("the EventSource of a browser listens, and comes back where it was", async () => {
  const { browser, page } = await openPage(`${origin}/healthz`, () => true);
  try {
    await page.evaluate(() => {
      window.got = [];
      const source = new EventSource("/api/v1/live?topics=readings&names=airTemperature");
      source.addEventListener("readings", ({ data }) => {
        const [{ readings }] = Object.values(JSON.parse(data).stations);
        window.got.push(readings[0].timestamp.slice(14, 16));
      });
      return new Promise((resolve) => source.addEventListener("position", resolve, { once: true }));
    });
    await push(21);
    await page.waitForFunction(() => window.got.length === 1);
    await running.stop();
    await start();
    await push(22);
    await push(23);
    await page.waitForFunction(() => window.got.length === 3);
    assert.deepEqual(await page.evaluate(() => window.got), ["21", "22", "23"]);
  } finally {
    await browser.close();
  }
});
