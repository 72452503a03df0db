/**
 * The whole package, with its WebAssembly inlined: it is ready as soon as it is imported. Where
 * size counts, `mesonet/slim` loads the same module from a file beside it. A bundle that uses only the
 * ranking of qualities has no WebAssembly.
 */
export * from "./inlined.js";
export { BaseQuality, ReasonQuality, distinctWorstFirst, worst } from "./quality.js";
export * from "./types.js";
