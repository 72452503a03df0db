// Starts a server for a test, on the bundled sample: the debug build of the workspace, or
// MESONET_SERVER_BIN.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { run, within } from "./child.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** The target directory of cargo. */
export const TARGET = process.env.CARGO_TARGET_DIR ?? join(root, "target");

/**
 * Starts a server on a fresh folder; `token` gives a token that it believes, and `stop` ends it and
 * removes the folder.
 */
export async function startServer(...options) {
  const binary = process.env.MESONET_SERVER_BIN ?? join(TARGET, "debug", "mesonet-server");
  const folder = await mkdtemp(join(tmpdir(), "mesonet-"));
  const remove = () => rm(folder, { recursive: true });
  try {
    // Tests ask faster than callers may.
    const rate = options.includes("--rate-requests") ? [] : ["--rate-requests", "0"];
    const args = ["--listen", "127.0.0.1:0", "--data", folder, ...rate, ...options];
    const { origin, stop } = await serve(binary, args);
    const token = (...flags) => run(binary, ["token", "--data", folder, ...flags]).trim();
    return { origin, token, stop: () => stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Starts a program that reports where it listens. */
export async function serve(program, args, patience_ms) {
  const server = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  const ended = new Promise((resolve) => {
    server.once("exit", resolve);
    server.once("error", (error) => resolve((log += error)));
  });
  const listens = new Promise((resolve, reject) => {
    server.stderr.setEncoding("utf8").on("data", (text) => {
      log += text;
      const line = log.match(/listening on (\S+)\n/);
      if (line) {
        resolve(line[1]);
      }
    });
    server.once("close", () => reject(new Error(`${program} ended before it listened:\n${log}`)));
  });
  const origin = await within(listens, server, () => log, patience_ms);
  const stop = () => {
    server.kill();
    return within(ended, server, () => log, patience_ms);
  };
  return { origin, server, stop };
}
