// Where results go: to the terminal, and with `--write` into docs/performance-browser.md, between the
// markers of the program; with `--json` as rows to standard output, for tests/bench, which measures in another way.
import { readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";

const DOC = new URL("../../../docs/performance-browser.md", import.meta.url);

/** Whether rows are asked for: the median of the runs, in the CPU time of the process. */
export const asJson = process.argv.includes("--json");

/** The clock of that, in milliseconds, and what it makes of the times of many runs. */
export const CPU_MEDIAN = {
  now: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
  },
  of: (times) => times.sort((one, other) => one - other)[times.length >> 1],
};

/** Prints the tables of a program, `node.mjs`, `browser.mjs` or `metar.mjs`, and writes them if asked to. */
export async function report(program, tables) {
  const load = loadavg().map((of) => of.toFixed(1)).join(", ");
  const processors = cpus();
  const text = `${tables}\n\n${processors.length} processors (${processors[0].model.trim()}); load of the machine ${load} at the end.`;
  console.log(text);
  if (process.argv.includes("--write")) {
    const before = await readFile(DOC, "utf8");
    const [start, end] = [`<!-- made by bindings-wasm/js/bench/${program} -->\n`, "\n<!-- end -->"];
    const from = before.indexOf(start) + start.length;
    const to = before.indexOf(end, from);
    if (from < start.length || to < 0) {
      throw new Error(`${DOC.pathname} has no markers for ${program}`);
    }
    await writeFile(DOC, before.slice(0, from) + text + before.slice(to));
  }
}
