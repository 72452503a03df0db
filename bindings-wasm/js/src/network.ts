/**
 * The quality checks, including the comparison with neighbouring stations: a module with everything
 * in `mesonet/checks`, and larger still.
 *
 * @example
 * import { load } from "mesonet/network";
 * const { checkNetwork } = await load();
 */
import init, * as raw from "./generated/network.js";
import { type Source, once } from "./load.js";
import { type NetworkFunctions, networkFunction } from "./neighbours.js";
import { type QualityFunctions, qualityFunctions } from "./quality.js";
import { checkFunctions } from "./station.js";

export { MesonetError } from "./error.js";
export type { Source } from "./load.js";
export type { NetworkFunctions, NetworkStation } from "./neighbours.js";
export type { SeriesReadings, StationSite, Verdicts } from "./station.js";

/** The checks of stations and networks, and the codes of their verdicts. */
export interface Network extends NetworkFunctions, QualityFunctions {}

const loaded = /* @__PURE__ */ once(async (source): Promise<Network> => {
  await init({ module_or_path: source });
  return { ...checkFunctions(raw), ...networkFunction(raw), ...qualityFunctions };
});

/**
 * Loads the module once, however often it is called. A failed load is repeated at the next call.
 *
 * @param source By default `network.wasm` beside this file.
 */
export function load(
  source: Source | Promise<Response> = new URL("./network.wasm", import.meta.url),
): Promise<Network> {
  return loaded(source);
}
