// A server of its own for a test, on the bundled sample: the debug build of the workspace, or the one
// of MESONET_SERVER_BIN.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** Where cargo builds. */
export const TARGET = process.env.CARGO_TARGET_DIR ?? join(root, "target");

/** Starts a server on a fresh folder; `stop` ends it and takes the folder away. */
export async function startServer(...options) {
  const binary = process.env.MESONET_SERVER_BIN ?? join(TARGET, "debug", "mesonet-server");
  const folder = await mkdtemp(join(tmpdir(), "mesonet-"));
  const server = spawn(binary, ["--listen", "127.0.0.1:0", "--data", folder, ...options], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(server, "exit");
  const stop = async () => {
    try {
      server.kill();
      await ended;
    } finally {
      await rm(folder, { recursive: true });
    }
  };
  const log = [];
  for await (const line of createInterface({ input: server.stderr })) {
    log.push(line);
    const listens = line.match(/listens on (\S+)/);
    if (listens) {
      server.stderr.resume();
      return { origin: listens[1], stop };
    }
  }
  await stop();
  throw new Error(`the server ended: ${log.join("\n")}`);
}
