export { MesonetError } from "./error.js";
export type { BaseQualityName, ReasonQualityName } from "./generated/names.js";
export type { Mesonet } from "./mesonet.js";
export type { Codes } from "./quality.js";
export type { Encoding } from "./tile.js";
export type { Rotation, Wind } from "./wind.js";
