// Processes that tests start. Waiting for one has a deadline: one that hangs is ended and becomes a
// failure with its name and its last words, not a run that never ends.
import { execFileSync } from "node:child_process";

/** A bound, not a measurement. */
export const PATIENCE_MS = 300_000;

/** Standard output of a program that ends well by itself. */
export function run(program, args, options = {}) {
  try {
    return execFileSync(program, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PATIENCE_MS,
      killSignal: "SIGKILL",
      ...options,
    });
  } catch (error) {
    const { status, code, stdout, stderr } = error;
    const end = code === "ETIMEDOUT" ? "was waited for too long" : `ended with ${status ?? code}`;
    throw new Error(`${[program, ...args].join(" ")} ${end}:\n${stdout}${stderr}`, { cause: error });
  }
}

/**
 * Waits for what `child` is to do, at most for a time. `said` gives what it has written. One that is
 * overdue is killed.
 */
export async function within(promise, child, said, patience_ms = PATIENCE_MS) {
  let timer;
  const overdue = new Promise((_, reject) => {
    timer = setTimeout(() => {
      child.kill("SIGKILL");
      const name = child.spawnargs.join(" ");
      reject(new Error(`${name} was waited for longer than ${patience_ms / 1000} s:\n${said()}`));
    }, patience_ms);
  });
  try {
    return await Promise.race([promise, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
