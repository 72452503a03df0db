import { int32, text } from "./check.js";
import { MesonetError, refusing } from "./error.js";
import {
  BASE_QUALITY_NAMES,
  type BaseQualityName,
  REASON_QUALITY_NAMES,
  type ReasonQualityName,
} from "./generated/names.js";
import { codeOf } from "./quality.js";
import type { Raw } from "./raw.js";

/** The flags of one scheme and the base qualities that they stand for. */
export interface Crosswalk<Flag extends number | string> {
  /** What a flag stands for; Unknown for a flag that is not in the scheme. */
  quality(flag: Flag): { base: BaseQualityName; reason: ReasonQualityName };
  /**
   * The flag for a base quality; undefined if the scheme has no counterpart.
   *
   * @throws {MesonetError} for an unknown name.
   */
  flag(base: BaseQualityName): Flag | undefined;
}

/** Quality flags of other schemes. */
export interface CrosswalkFunctions {
  /** `qa_summary` of Canadian SWOB-ML. */
  readonly SWOB_QA_SUMMARY: Crosswalk<number>;
  /** BUFR code table 0 33 020. */
  readonly BUFR_033020: Crosswalk<number>;
  /** Letters of NOAA's MADIS. */
  readonly MADIS: Crosswalk<string>;
  /** Flags of QARTOD. */
  readonly QARTOD: Crosswalk<number>;
  /** Letters and digits of NCEI's Integrated Surface Data, as text. */
  readonly ISD: Crosswalk<string>;
  /** Letters of the checks of NCEI's GHCNh. */
  readonly GHCNH_CHECKS: Crosswalk<string>;
}

export function crosswalkFunctions(raw: Raw): CrosswalkFunctions {
  const scheme = <Flag extends number | string>(
    quality: (flag: Flag) => Uint8Array,
    flag: (base: number) => Flag | undefined,
    check: (flag: unknown) => Flag,
  ): Crosswalk<Flag> =>
    Object.freeze({
      quality(given: Flag) {
        const [base, reason] = quality(check(given));
        return { base: BASE_QUALITY_NAMES[base!]!, reason: REASON_QUALITY_NAMES[reason!]! };
      },
      flag(base: BaseQualityName) {
        const code = codeOf(text(base, "base"));
        return refusing(() => flag(code));
      },
    });
  const integer = (flag: unknown) => int32(flag, "flag");
  return {
    SWOB_QA_SUMMARY: scheme(raw.swob_qa_summary_quality, raw.swob_qa_summary_flag, integer),
    BUFR_033020: scheme(raw.bufr_033020_quality, raw.bufr_033020_flag, integer),
    MADIS: scheme(raw.madis_quality, raw.madis_flag, letter),
    QARTOD: scheme(raw.qartod_quality, raw.qartod_flag, integer),
    ISD: scheme(raw.isd_quality, raw.isd_flag, letter),
    GHCNH_CHECKS: scheme(raw.ghcnh_checks_quality, raw.ghcnh_checks_flag, letter),
  };
}

function letter(flag: unknown): string {
  const checked = text(flag, "flag");
  if ([...checked].length !== 1) {
    throw new MesonetError(`flag must be one letter; got ${JSON.stringify(checked)}`);
  }
  return checked;
}
