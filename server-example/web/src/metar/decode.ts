// The decoder of reports: WebAssembly of its own, loaded when a report is first read.
import { load } from "mesonet/report";

import { type Line, lineOf } from "./facts";
import { type Parse, rowsOf } from "./groups";

export type { Line } from "./facts";

/**
 * Decodes a METAR or SPECI; gives what its lines are in the language and the units of the page at the time.
 * A text that is not a report is refused in the words of the core.
 */
export async function decode(text: string): Promise<() => readonly Line[]> {
  const { parseMetar } = await load();
  return lines(text, parseMetar);
}

/** The same, with a decoder at hand. */
export function lines(text: string, parse: Parse): () => readonly Line[] {
  const report = parse(text);
  const rows = rowsOf(report, parse);
  const weatherOf = (codes: string) => parse(`${report.station} 010000Z ${codes}`).weather[0];
  return () => rows.map((row) => lineOf(row, { report, weatherOf }));
}
