/**
 * The whole package, with its WebAssembly inlined: ready when the import is. Where size counts,
 * `mesonet/slim` loads the same module from a file beside it.
 */
import { base64 } from "./generated/bytes.js";
import * as raw from "./generated/mesonet.js";
import { type Mesonet, mesonet } from "./mesonet.js";

export * from "./types.js";

raw.initSync({ module: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) });
const all = mesonet(raw);

/** See {@link Mesonet.BaseQuality}. */
export const BaseQuality: Mesonet["BaseQuality"] = all.BaseQuality;
/** See {@link Mesonet.ReasonQuality}. */
export const ReasonQuality: Mesonet["ReasonQuality"] = all.ReasonQuality;
/** See {@link Mesonet.worst}. */
export const worst: Mesonet["worst"] = all.worst;
/** See {@link Mesonet.distinctWorstFirst}. */
export const distinctWorstFirst: Mesonet["distinctWorstFirst"] = all.distinctWorstFirst;
/** See {@link Mesonet.decodeTile}. */
export const decodeTile: Mesonet["decodeTile"] = all.decodeTile;
/** See {@link Mesonet.encodeTile}. */
export const encodeTile: Mesonet["encodeTile"] = all.encodeTile;
/** See {@link Mesonet.rotateWind}. */
export const rotateWind: Mesonet["rotateWind"] = all.rotateWind;
