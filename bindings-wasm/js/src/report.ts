/**
 * The groups of one METAR or SPECI report, for pages that show one: a third of the size of `mesonet/metar`,
 * without its date, its line of English and files of reports. Its WebAssembly is loaded only if needed.
 *
 * @example
 * import { load } from "mesonet/report";
 * const { parseMetar } = await load();
 */
import { text } from "./check.js";
import { refusing } from "./error.js";
import { FlatReader } from "./flat.js";
import init, * as raw from "./generated/report.js";
import { type Source, once } from "./load.js";
import { metarGroups } from "./metar_read.js";
import type { MetarGroups } from "./metar_report.js";

export { MesonetError } from "./error.js";
export type { Source } from "./load.js";
export type * from "./metar_remarks.js";
export type * from "./metar_report.js";

/** One report with all its groups. */
export interface ReportFunctions {
  /**
   * Decodes one report, with or without its `METAR` and its closing `=`.
   *
   * @throws {MesonetError} if there is no station, or no time after it; if the text is longer than 4,096
   * bytes, or goes on after the `=` that ends a report.
   */
  parseMetar(text: string): MetarGroups;
}

const loaded = /* @__PURE__ */ once(async (source): Promise<ReportFunctions> => {
  await init({ module_or_path: source });
  const [reader, flat] = [new raw.MetarReader(), new FlatReader(raw)];
  return {
    parseMetar(report) {
      const given = text(report, "text");
      flat.start(refusing(() => reader.read(given)));
      return metarGroups(flat);
    },
  };
});

/**
 * Loads the module once, however often it is called. A failed load is repeated at the next call.
 *
 * @param source By default `report.wasm` beside this file.
 */
export function load(
  source: Source | Promise<Response> = new URL("./report.wasm", import.meta.url),
): Promise<ReportFunctions> {
  return loaded(source);
}
