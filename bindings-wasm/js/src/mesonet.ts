import { type QualityFunctions, qualityFunctions } from "./quality.js";
import { type TileFunctions, tileFunctions } from "./tile.js";
import { type WindFunctions, windFunctions } from "./wind.js";

/** The flat module that wasm-bindgen makes. */
export type Raw = typeof import("./generated/mesonet.js");

/** Everything this package does. */
export interface Mesonet extends QualityFunctions, TileFunctions, WindFunctions {}

/** The checked functions over the flat ones of an initialised module. */
export function mesonet(raw: Raw): Mesonet {
  return { ...qualityFunctions(raw), ...tileFunctions(raw), ...windFunctions(raw) };
}
