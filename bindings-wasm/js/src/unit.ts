import { attached, className, flag, isClass, number, object, optionalText, text } from "./check.js";
import { refusing } from "./error.js";
import type { VariableName, VocabularyName } from "./generated/names.js";
import type { Raw } from "./raw.js";

/** What the text of a unit stands for, with the symbols of the units. */
export type UnitResolution =
  | { readonly state: "exact"; readonly unit: string }
  | { readonly state: "ambiguous"; readonly units: readonly string[] }
  | { readonly state: "unknown" };

/** How to convert. */
export interface ConvertOptions {
  /** Whether 1 kg/m² is 1 mm: for liquid precipitation, not for snow. */
  readonly liquidWater?: boolean;
}

/** Units and conversion. */
export interface UnitFunctions {
  /**
   * Values in another unit: a number gives a number; an array gives a new array of the same class.
   * A unit is a symbol or an alias (`kt`, `wmoUnit:km_h-1`). NaN stays NaN.
   *
   * @throws {MesonetError} for texts that are ambiguous or unknown, and units of different
   * dimensions.
   */
  convert<T extends number | Float64Array | Float32Array>(
    values: T,
    from: string,
    to: string,
    options?: ConvertOptions,
  ): T extends number ? number : T;
  /**
   * What a text stands for in a vocabulary, or in all of them. An ambiguous text is never guessed.
   */
  resolveUnit(text: string, vocabulary?: VocabularyName): UnitResolution;
  /**
   * Values of a variable as the service stores them, and their unit: the canonical unit if the
   * reported unit is certain, otherwise values and unit as reported.
   *
   * @throws {MesonetError} for an unknown variable or vocabulary.
   */
  toCanonical<T extends number | Float64Array>(
    variable: VariableName,
    values: T,
    reportedUnit: string,
    vocabulary?: VocabularyName,
  ): { values: T extends number ? number : T; unit: string };
}

export function unitFunctions(raw: Raw): UnitFunctions {
  const convert = (values: unknown, from: unknown, to: unknown, options: unknown = {}) => {
    const { liquidWater = false } = object(options, "options");
    const units = [text(from, "from"), text(to, "to"), flag(liquidWater, "liquidWater")] as const;
    if (isClass(values, "Float32Array")) {
      const singles = attached(values, "values");
      return refusing(() => raw.convert_f32(singles, ...units));
    }
    const [column, one] = columnOf(values, "a number, a Float64Array or a Float32Array");
    const converted = refusing(() => raw.convert(column, ...units));
    return one ? converted[0]! : converted;
  };
  const toCanonical = (variable: unknown, values: unknown, unit: unknown, vocabulary: unknown) => {
    const [given, one] = columnOf(values, "a number or a Float64Array");
    const name = text(variable, "variable");
    const reported = text(unit, "reportedUnit");
    const column = given.slice(); // The module converts in place.
    const stored = refusing(() =>
      raw.to_canonical(name, column, reported, optionalText(vocabulary, "vocabulary")),
    );
    return { values: one ? column[0]! : column, unit: stored };
  };
  return {
    convert: convert as UnitFunctions["convert"],
    resolveUnit(given, vocabulary) {
      const [unit, of] = [text(given, "text"), optionalText(vocabulary, "vocabulary")];
      const units = refusing(() => raw.resolve_unit(unit, of));
      if (units.length === 0) {
        return { state: "unknown" };
      }
      return units.length === 1
        ? { state: "exact", unit: units[0]! }
        : { state: "ambiguous", units };
    },
    toCanonical: toCanonical as UnitFunctions["toCanonical"],
  };
}

/** The values as a column, and whether they were one number. */
function columnOf(values: unknown, allowed: string): [column: Float64Array, one: boolean] {
  if (isClass(values, "Float64Array")) {
    return [attached(values, "values"), false];
  }
  if (typeof values !== "number") {
    throw new TypeError(`values must be ${allowed}; got ${className(values)}`);
  }
  return [Float64Array.of(number(values, "values")), true];
}
