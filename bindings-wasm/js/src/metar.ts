/**
 * METAR and SPECI reports: a separate WebAssembly module, loaded only if needed.
 *
 * @example
 * import { load } from "mesonet/metar";
 * const { parseMetar, readMetars } = await load();
 */
import init, * as raw from "./generated/metar.js";
import { type Source, once } from "./load.js";
import { type MetarReadingsFunctions, metarReadingsFunctions } from "./metar_readings.js";
import { metarReportFunctions } from "./metar_read.js";
import type { MetarReportFunctions } from "./metar_report.js";

export { MesonetError } from "./error.js";
export type { IntervalTypeName, VariableName } from "./generated/names.js";
export type { Source } from "./load.js";
export type { MetarReadings, MetarReadingsFunctions } from "./metar_readings.js";
export type * from "./metar_remarks.js";
export type * from "./metar_report.js";

/** One report with all its groups, and files of reports as columns of readings. */
export interface Metars extends MetarReportFunctions, MetarReadingsFunctions {}

const loaded = /* @__PURE__ */ once(async (source): Promise<Metars> => {
  await init({ module_or_path: source });
  return { ...metarReportFunctions(raw), ...metarReadingsFunctions(raw) };
});

/**
 * Loads the module once, however often it is called. A failed load is repeated at the next call.
 *
 * @param source By default `metar.wasm` beside this file.
 */
export function load(
  source: Source | Promise<Response> = new URL("./metar.wasm", import.meta.url),
): Promise<Metars> {
  return loaded(source);
}
