import { type AccessFunctions, accessFunctions } from "./access.js";
import { type ColourFunctions, colourFunctions } from "./colour.js";
import { type CrosswalkFunctions, crosswalkFunctions } from "./crosswalk.js";
import { type DerivedFunctions, derivedFunctions } from "./derived.js";
import { type QualityFunctions, qualityFunctions } from "./quality.js";
import type { Raw } from "./raw.js";
import { type TileFunctions, tileFunctions } from "./tile.js";
import { type TimeGridFunctions, timeGridFunctions } from "./time_grid.js";
import { type UnitFunctions, unitFunctions } from "./unit.js";
import { type WindFunctions, windFunctions } from "./wind.js";

/** Everything this package does. */
export interface Mesonet
  extends
    AccessFunctions,
    ColourFunctions,
    CrosswalkFunctions,
    DerivedFunctions,
    QualityFunctions,
    TileFunctions,
    TimeGridFunctions,
    UnitFunctions,
    WindFunctions {}

/** The checked functions over the flat ones of an initialised module. */
export function mesonet(raw: Raw): Mesonet {
  return {
    ...accessFunctions(raw),
    ...colourFunctions(raw),
    ...crosswalkFunctions(raw),
    ...derivedFunctions(raw),
    ...qualityFunctions,
    ...tileFunctions(raw),
    ...timeGridFunctions(raw),
    ...unitFunctions(raw),
    ...windFunctions(raw),
  };
}
