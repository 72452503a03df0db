import { attached, className, isClass } from "./check.js";
import { MesonetError, refusing } from "./error.js";
import type { BaseQualityName, ReasonQualityName } from "./generated/names.js";
import type { Raw as ValuesRaw } from "./raw.js";

/** What both modules share. */
type Raw = Pick<
  ValuesRaw,
  | "base_quality_names"
  | "reason_quality_names"
  | "base_quality_code"
  | "not_a_base_quality_code"
  | "worst"
  | "distinct_worst_first"
>;

/** Base codes as bytes, or codes and names one by one. */
export type Codes = Uint8Array | Iterable<BaseQualityName | number>;

/** Quality codes and their ranking. */
export interface QualityFunctions {
  /** Code of each base quality, worst first; `Unknown` (not checked) is the best. */
  readonly BaseQuality: Readonly<Record<BaseQualityName, number>>;
  /** Code of each reason why a value has its base quality; not a ranking. */
  readonly ReasonQuality: Readonly<Record<ReasonQualityName, number>>;
  /**
   * The worst of several base qualities; for an empty list, the best of the ranking.
   *
   * @throws {MesonetError} for a number or name that is not a code.
   */
  worst(codes: Codes): BaseQualityName;
  /**
   * The distinct base qualities among many, worst first.
   *
   * @throws {MesonetError} for a number or name that is not a code.
   */
  distinctWorstFirst(codes: Codes): BaseQualityName[];
}

export function qualityFunctions(raw: Raw): QualityFunctions {
  const baseNames = raw.base_quality_names() as BaseQualityName[];
  const reasonNames = raw.reason_quality_names() as ReasonQualityName[];
  const baseCodes = codesOf(baseNames);

  const code = (value: unknown): number => {
    if (typeof value === "string") {
      return refusing(() => baseCodes[value as BaseQualityName] ?? raw.base_quality_code(value));
    }
    if (typeof value !== "number") {
      throw new TypeError(`a quality code is a number or a name; got ${className(value)}`);
    }
    if (!Number.isInteger(value) || value < 0 || value > 0xff) {
      throw new MesonetError(raw.not_a_base_quality_code(String(value)));
    }
    return value;
  };
  const bytes = (codes: unknown): Uint8Array => {
    if (isClass(codes, "Uint8Array")) {
      return attached(codes, "codes");
    }
    // Numbers in any other typed array are checked one by one. A string is not a list of codes.
    if (typeof codes !== "object" || codes === null || !(Symbol.iterator in codes)) {
      throw new TypeError(`codes must be a Uint8Array or iterable; got ${className(codes)}`);
    }
    return Uint8Array.from(codes as Iterable<unknown>, code);
  };

  return {
    BaseQuality: baseCodes,
    ReasonQuality: codesOf(reasonNames),
    worst(codes) {
      const checked = bytes(codes);
      return baseNames[refusing(() => raw.worst(checked))]!;
    },
    distinctWorstFirst(codes) {
      const checked = bytes(codes);
      const distinct = refusing(() => raw.distinct_worst_first(checked));
      return Array.from(distinct, (at) => baseNames[at]!);
    },
  };
}

function codesOf<Name extends string>(names: Name[]): Readonly<Record<Name, number>> {
  // The object has no prototype, so "constructor" is not a name.
  const codes = Object.create(null) as Record<Name, number>;
  names.forEach((name, code) => (codes[name] = code));
  return Object.freeze(codes);
}
