/**
 * The package without inlined WebAssembly: small, and asynchronous once.
 *
 * @example
 * import { load } from "mesonet/slim";
 * const { worst } = await load();
 */
import init, * as raw from "./generated/mesonet.js";
import { type Mesonet, mesonet } from "./mesonet.js";

export * from "./types.js";

/** Where the WebAssembly comes from: an address, a response, its bytes, or a compiled module. */
export type Source = string | URL | Response | BufferSource | WebAssembly.Module;

let loaded: Promise<Mesonet> | undefined;

/**
 * Loads the module, once however often it is called; a load that failed is tried again.
 *
 * @param source By default `mesonet.wasm` beside this file. Node's fetch reads no files: pass the
 * bytes there.
 */
export function load(
  source: Source | Promise<Response> = new URL("./mesonet.wasm", import.meta.url),
): Promise<Mesonet> {
  loaded ??= init({ module_or_path: source }).then(
    () => mesonet(raw),
    (error: unknown) => {
      loaded = undefined;
      throw error;
    },
  );
  return loaded;
}
