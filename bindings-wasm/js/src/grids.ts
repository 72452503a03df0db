/**
 * Native grids of models, and the codec of their runs: a separate WebAssembly module, loaded only if
 * needed.
 *
 * @example
 * import { load } from "mesonet/grids";
 * const { nativeGrid } = await load();
 */
import { type Blocks, blocksOf } from "./blocks.js";
import init, * as raw from "./generated/grids.js";
import { type GridFunctions, gridFunctions } from "./grid.js";
import { type Source, once } from "./load.js";

export type { Blocks, BlocksCodec, Chunk, ChunkMetadata } from "./blocks.js";
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

/** What the module has. */
export interface Grids extends GridFunctions {
  /**
   * The codec of model runs, for zarrita.
   *
   * @example
   * import { registry } from "zarrita";
   * registry.set("mesonet.blocks", async () => (await load()).Blocks);
   */
  readonly Blocks: Blocks;
}

const loaded = /* @__PURE__ */ once(async (source): Promise<Grids> => {
  await init({ module_or_path: source });
  return { ...gridFunctions(raw), Blocks: blocksOf(raw) };
});

/**
 * Loads the module once, however often it is called. A failed load is repeated at the next call.
 *
 * @param source By default `grids.wasm` beside this file.
 */
export function load(
  source: Source | Promise<Response> = new URL("./grids.wasm", import.meta.url),
): Promise<Grids> {
  return loaded(source);
}
