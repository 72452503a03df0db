// Processes that tests start. Waiting for one has a deadline: a process that hangs is ended and
// becomes a failure with its name and last output, instead of a run that never ends.
import { execFileSync } from "node:child_process";

/** A bound, not a measurement. */
export const PATIENCE_MS = 300_000;

/** Returns the standard output of a program that ends successfully by itself. */
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
    const end = code === "ETIMEDOUT" ? "timed out" : `ended with ${status ?? code}`;
    throw new Error(`${[program, ...args].join(" ")} ${end}:\n${stdout}${stderr}`, { cause: error });
  }
}

/**
 * Waits for a limited time for `child` to do something. `outputText` returns its output. One that is
 * overdue is killed.
 */
export async function within(promise, child, outputText, patience_ms = PATIENCE_MS) {
  let timer;
  const overdue = new Promise((_, reject) => {
    timer = setTimeout(() => {
      child.kill("SIGKILL");
      const name = child.spawnargs.join(" ");
      reject(new Error(`${name} timed out after ${patience_ms / 1000} s:\n${outputText()}`));
    }, patience_ms);
  });
  try {
    return await Promise.race([promise, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
