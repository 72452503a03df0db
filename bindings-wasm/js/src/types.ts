export type { Crosswalk } from "./crosswalk.js";
export type { Formula } from "./derived.js";
export { MesonetError } from "./error.js";
export type {
  BaseQualityName,
  ReasonQualityName,
  VariableName,
  VocabularyName,
} from "./generated/names.js";
export type { Mesonet } from "./mesonet.js";
export type { Codes } from "./quality.js";
export type { Encoding } from "./tile.js";
export type { ConvertOptions, UnitResolution } from "./unit.js";
export type { Rotation, Wind } from "./wind.js";
