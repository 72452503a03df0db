/**
 * The package without inlined WebAssembly: it is small, and only its loading is asynchronous.
 *
 * @example
 * import { load } from "mesonet/slim";
 * const { worst } = await load();
 */
import init, * as raw from "./generated/mesonet.js";
import { type Source, once } from "./load.js";
import { type Mesonet, mesonet } from "./mesonet.js";

export type { Source } from "./load.js";
export * from "./types.js";

const loaded = /* @__PURE__ */ once(async (source) => {
  await init({ module_or_path: source });
  return mesonet(raw);
});

/**
 * Loads the module once, however often it is called. A failed load is repeated at the next call.
 *
 * @param source By default `mesonet.wasm` beside this file.
 */
export function load(
  source: Source | Promise<Response> = new URL("./mesonet.wasm", import.meta.url),
): Promise<Mesonet> {
  return loaded(source);
}
