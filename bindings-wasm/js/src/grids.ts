/**
 * Native grids of models: a separate WebAssembly module, loaded only if needed.
 *
 * @example
 * import { load } from "mesonet/grids";
 * const { nativeGrid } = await load();
 */
import init, * as raw from "./generated/grids.js";
import { type GridFunctions, gridFunctions } from "./grid.js";
import { type Source, once } from "./load.js";

export { MesonetError } from "./error.js";
export type {
  Cell,
  GridDefinition,
  GridFunctions,
  GridProjection,
  NativeGrid,
  Position,
} from "./grid.js";
export type { Source } from "./load.js";
export type { Rotation } from "./wind.js";

const loaded = /* @__PURE__ */ once(async (source): Promise<GridFunctions> => {
  await init({ module_or_path: source });
  return gridFunctions(raw);
});

/**
 * Loads the module once, however often it is called. A failed load is repeated at the next call.
 *
 * @param source By default `grids.wasm` beside this file. Node's fetch reads no files: pass the bytes
 * there.
 */
export function load(
  source: Source | Promise<Response> = new URL("./grids.wasm", import.meta.url),
): Promise<GridFunctions> {
  return loaded(source);
}
