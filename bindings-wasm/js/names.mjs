// Writes src/generated/names.ts: the names of the core and two of its messages, taken from the modules
// themselves, so that there is no second list to keep.

/** Units of the scales of colours, with the units of stations and models that they are made of. */
const SCALE_UNITS = {
  "°C": ["K", "°F"],
  "km/h": ["m/s", "kt", "mph"],
  hPa: ["Pa", "inHg"],
  mm: ["kg/m²", "m", "cm", "in"],
  km: ["m", "mi"],
  m: ["ft"],
};

/** The source of names.ts, from the glue of the modules `mesonet` and `checks`. */
export function namesSource(mesonet, checks) {
  const union = (names) => names.map((name) => JSON.stringify(name)).join(" | ");
  const bases = mesonet.base_quality_names();
  return `/** Names of the base qualities, worst first. */
export const BASE_QUALITY_NAMES = ${JSON.stringify(bases)} as const;
/** The name of a base quality. */
export type BaseQualityName = (typeof BASE_QUALITY_NAMES)[number];
/** Names of the reasons. */
export const REASON_QUALITY_NAMES = ${JSON.stringify(mesonet.reason_quality_names())} as const;
/** The name of a reason. */
export type ReasonQualityName = (typeof REASON_QUALITY_NAMES)[number];
/** The core's message for a number that is not a code, before and after the number. */
export const NOT_A_BASE_QUALITY_CODE: readonly string[] = ${parts((got) => mesonet.not_a_base_quality_code(got))};
/** The core's message for a text that is not a name, before and after the text. */
export const NOT_A_BASE_QUALITY_NAME: readonly string[] = ${parts((got) => mesonet.not_a_base_quality_name(got))};
/** By the unit of a scale, the factor and the shift of values in others. */
export const TO_SCALE: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> = ${JSON.stringify(conversions(mesonet))};
/** Names of the variables. */
export type VariableName = ${union(mesonet.variable_names())};
/** Names of the types of intervals. */
export type IntervalTypeName = ${union(checks.interval_type_names())};
/** Names of the plans, lowest first. */
export type PlanName = ${union(mesonet.plan_names())};
/** Names of the conventions of writing units. */
export type VocabularyName = ${union(mesonet.vocabulary_names())};
`;
}

/** The conversions of the core, all of which are linear. */
function conversions(mesonet) {
  const to = (unit) => (from) => {
    const [zero, one] = mesonet.convert(Float64Array.of(0, 1), from, unit, true);
    return [from, [one - zero, zero]];
  };
  const all = Object.entries(SCALE_UNITS).map(([unit, others]) => [unit, Object.fromEntries(others.map(to(unit)))]);
  return Object.fromEntries(all);
}

/** What a message says before and after what was given. */
function parts(message) {
  const around = message(MARK).split(MARK);
  if (around.length !== 2) {
    throw new Error(`what was given is not once in ${JSON.stringify(around.join(MARK))}`);
  }
  return JSON.stringify(around);
}
const MARK = "\u0000";
