// A verdict in a sentence that needs no knowledge of checks; the figures that are behind it; values of checks as text.
import type { CheckLimit, CheckReport, Explanation, Quality } from "../api/types";
import { isBad } from "../domain/quality";
import { span } from "../domain/time";
import { digits, shown, withUnit } from "../domain/variables";
import { checkName, word } from "../ui/words";
import { locale, system } from "../view";

/** Names of inputs and limits that are differences. */
const DIFFERENCES = /deviation|change|spread|resolution|instrumentation|difference|tolerance/i;
/** A difference that is less is none: no variable is reported more exactly. */
const NOTHING = 0.05;
const WARMTH = /temperature|humidex|heatIndex|windChill/i;

/** A value of a check as text. */
export function said(value: number, unit: string, name: string, isRound?: boolean): string {
  return DIFFERENCES.test(name) ? differenceText(value, unit) : withUnit(value, unit, system.value, locale.value, isRound);
}

/** A difference as text: the zero of a scale does not move it. */
function differenceText(value: number, unit: string): string {
  if (unit !== "°C" && unit !== "K") return withUnit(value, unit, system.value, locale.value);
  const difference = shown(value, "°C", system.value) - shown(0, "°C", system.value);
  return `${digits(difference, "", locale.value)}\u202f${system.value === "us" ? "°F" : "°C"}`;
}

export function limitText({ name, min, max, unit }: CheckLimit): string {
  const text = (value: number) => said(value, unit, name, true);
  if (min !== undefined && max !== undefined) return `${text(min)} … ${text(max)}`;
  // Its name says which end it is.
  if (name === "notBelow" && min !== undefined) return text(min);
  return min === undefined ? (max === undefined ? "" : `≤ ${text(max)}`) : `≥ ${text(min)}`;
}

const inputOf = (check: CheckReport | undefined, name: string): number | undefined => check?.inputs.find((one) => one.name === name)?.value;

/** The verdict, for a neighbour; `decisive` is the check that led to it. */
export function sentence(of: Explanation, { baseQuality, reasonQuality }: Quality, decisive: CheckReport | undefined): string {
  const verdict = word(baseQuality);
  const value = withUnit(of.value, of.unit, system.value, locale.value);
  if (!decisive && isBad(baseQuality)) return word(of.source.baseQuality === baseQuality ? "says.source" : "says.inputs", verdict, value);
  const beside = decisive ?? of.checks.find(({ neighbours }) => neighbours);
  const [from, count] = [inputOf(beside, "fromNeighbours"), inputOf(beside, "neighbours")];
  if (from !== undefined && count !== undefined) return besideNeighbours(of, verdict, from, count);
  if (!decisive) return word("says.good", verdict, value);
  const own = decisive.inputs.filter(({ name, timestamp }) => name === of.variable && timestamp !== undefined).sort((a, b) => Date.parse(a.timestamp!) - Date.parse(b.timestamp!));
  const [first, last] = [own[0], own.at(-1)];
  const [change, elapsed_s] = first && last ? [last.value - first.value, (Date.parse(last.timestamp!) - Date.parse(first.timestamp!)) / 1000] : [0, 0];
  const moved = [verdict, differenceText(Math.abs(change), of.unit), span(elapsed_s, locale.value)];
  const lasted = inputOf(decisive, "lasted");
  if (decisive.check === "persistence" && lasted !== undefined && lasted > 0) return word("says.stuck", verdict, value, span(lasted * 3600, locale.value));
  const around = inputOf(decisive, "changeOfNeighbours");
  if (decisive.check === "neighbourChange" && around !== undefined) return word(change > 0 ? "says.roseApart" : "says.fellApart", ...moved, differenceText(around, of.unit));
  if ((decisive.check === "step" || decisive.check === "jump") && elapsed_s > 0) return word(change > 0 ? "says.rose" : "says.fell", ...moved);
  if (decisive.check === "spike") return word("says.spike", verdict, value);
  if (decisive.check === "range" || decisive.check === "record") {
    const limit = decisive.limits.find(({ min, max }) => (min !== undefined && of.value < min) || (max !== undefined && of.value > max));
    return word(decisive.check === "range" ? "says.range" : "says.record", verdict, value, limit ? limitText(limit) : "");
  }
  return word("says.other", verdict, value, checkName(decisive.check), word(reasonQuality));
}

function besideNeighbours({ value, unit, variable }: Explanation, verdict: string, from: number, count: number): string {
  const difference = value - from;
  const text = differenceText(Math.abs(difference), unit);
  if (Math.abs(difference) < NOTHING) return word("says.same", verdict, text, count);
  const [more, less] = WARMTH.test(variable) ? ["says.warmer", "says.colder"] : ["says.higher", "says.lower"];
  return word(difference > 0 ? more : less, verdict, text, count);
}

/** The figures behind a comparison with neighbours, where that is what the sentence says. */
export function figures({ value, unit, checks }: Explanation, { baseQuality }: Quality, decisive: CheckReport | undefined): string | undefined {
  if (!decisive && isBad(baseQuality)) return undefined;
  const beside = decisive ?? checks.find(({ neighbours }) => neighbours);
  const [from, times] = [inputOf(beside, "fromNeighbours"), inputOf(beside, "standardizedDifference")];
  if (from === undefined) return undefined;
  const text = (one: number) => withUnit(one, unit, system.value, locale.value);
  return times === undefined ? word("says.expected", text(value), text(from)) : word("says.spread", text(value), text(from), digits(Math.abs(times), "", locale.value));
}
