// A process that a test starts cannot block the run forever.
import assert from "node:assert/strict";
import { test } from "node:test";

import { run } from "./child.mjs";
import { serve } from "./server.mjs";

const SHORT_MS = 4000;
const node = (code) => [process.execPath, ["-e", code]];

test("a program that hangs is a failure with its name and last output", () => {
  const [program, args] = node("console.log('begins'); setTimeout(() => {}, 600_000)");
  assert.throws(() => run(program, args, { timeout: SHORT_MS }), /-e .* timed out:\nbegins\n/);
});

test("a program that fails is a failure with its last output", () => {
  assert.throws(() => run(...node("console.error('broken'); process.exit(3)")), /ended with 3:\nbroken\n/);
});

test("a server that never listens is a failure", async () => {
  const [program, args] = node("console.error('begins'); setTimeout(() => {}, 600_000)");
  await assert.rejects(serve(program, args, SHORT_MS), /timed out after 4 s:\nbegins/);
});

test("a server that ends before it listens is a failure", async () => {
  await assert.rejects(serve(...node("console.error('broken')")), /ended before it listened:\nbroken/);
});

test("a server that does not stop is a failure and is ended", async () => {
  const code =
    "process.on('SIGTERM', () => {}); console.error('listening on http://127.0.0.1:1'); setTimeout(() => {}, 600_000)";
  const { origin, server, stop } = await serve(...node(code), SHORT_MS);
  assert.equal(origin, "http://127.0.0.1:1");
  await assert.rejects(stop(), /timed out after 4 s:\nlistening on/);
  await new Promise((ended) => (server.signalCode ? ended() : server.once("exit", ended)));
  assert.equal(server.signalCode, "SIGKILL");
});
