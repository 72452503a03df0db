/**
 * The quality checks: a separate WebAssembly module, which is larger than the rest of the package
 * and loaded from the file beside this one.
 *
 * @example
 * import { load } from "mesonet/checks";
 * const { checkStation } = await load();
 */
import init, * as raw from "./generated/checks.js";
import { type Source, once } from "./load.js";
import { type QualityFunctions, qualityFunctions } from "./quality.js";
import { type CheckFunctions, checkFunctions } from "./station.js";

export { MesonetError } from "./error.js";
export type {
  BaseQualityName,
  IntervalTypeName,
  ReasonQualityName,
  VariableName,
} from "./generated/names.js";
export type { Source } from "./load.js";
export type { Codes } from "./quality.js";
export type {
  CheckFunctions,
  CheckInput,
  CheckLimit,
  CheckReport,
  Explanation,
  Quality,
  SeriesReadings,
  StationSite,
  Verdicts,
} from "./station.js";

/** The checks, and the codes of their verdicts. */
export interface Checks extends CheckFunctions, QualityFunctions {}

const loaded = /* @__PURE__ */ once(async (source): Promise<Checks> => {
  await init({ module_or_path: source });
  return { ...checkFunctions(raw), ...qualityFunctions };
});

/**
 * Loads the module once, however often it is called. A failed load is repeated at the next call.
 *
 * @param source By default `checks.wasm` beside this file.
 */
export function load(
  source: Source | Promise<Response> = new URL("./checks.wasm", import.meta.url),
): Promise<Checks> {
  return loaded(source);
}
