export type { Capabilities, ProductAccess } from "./access.js";
export type { ColourStop, TileColours, TileRoom } from "./colour.js";
export type { Crosswalk } from "./crosswalk.js";
export type { Formula } from "./derived.js";
export { MesonetError } from "./error.js";
export type {
  BaseQualityName,
  PlanName,
  ReasonQualityName,
  VariableName,
  VocabularyName,
} from "./generated/names.js";
export type { Mesonet } from "./mesonet.js";
export type { Codes } from "./quality.js";
export type { Resident } from "./resident.js";
export type { Encoding, OutOptions } from "./tile.js";
export type {
  Caps,
  Coarsening,
  Grid,
  GridCells,
  Picks,
  ResampleOptions,
  Resampled,
  SeriesTable,
  TimeGrid,
} from "./time_grid.js";
export type { ConvertOptions, UnitResolution } from "./unit.js";
export type { Rotation, Wind } from "./wind.js";
