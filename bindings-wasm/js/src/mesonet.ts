import { type CrosswalkFunctions, crosswalkFunctions } from "./crosswalk.js";
import { type DerivedFunctions, derivedFunctions } from "./derived.js";
import { type QualityFunctions, qualityFunctions } from "./quality.js";
import type { Raw } from "./raw.js";
import { type TileFunctions, tileFunctions } from "./tile.js";
import { type UnitFunctions, unitFunctions } from "./unit.js";
import { type WindFunctions, windFunctions } from "./wind.js";

/** Everything this package does. */
export interface Mesonet
  extends
    CrosswalkFunctions,
    DerivedFunctions,
    QualityFunctions,
    TileFunctions,
    UnitFunctions,
    WindFunctions {}

/** The checked functions over the flat ones of an initialised module. */
export function mesonet(raw: Raw): Mesonet {
  return {
    ...crosswalkFunctions(raw),
    ...derivedFunctions(raw),
    ...qualityFunctions(raw),
    ...tileFunctions(raw),
    ...unitFunctions(raw),
    ...windFunctions(raw),
  };
}
