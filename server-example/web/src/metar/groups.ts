// Which groups of a report say what. The report is decoded again and again, each time with one group more: what
// changes is what this group says.
import type { MetarGroups } from "mesonet/report";

/** Groups that stand together, and what they say. */
export interface Row {
  readonly groups: readonly string[];
  /** Paths of members of the report, `wind`, `clouds.0`, `remarks.peakWind`; none where nothing was understood. */
  readonly facts: readonly string[];
  /** Whether the decoder does not know these groups; others without facts stand for missing values. */
  readonly isUnknown: boolean;
}

export type Parse = (text: string) => MetarGroups;

/** What is said in other words or by other members. */
const LEFT_OUT = new Set(["text", "station", "day", "hour", "minute", "ceilingFt", "notUnderstood", "remarks"]);

interface Found {
  /** Places of the groups in the report. */
  readonly at: number[];
  readonly facts: string[];
}

/** All groups of a report, each in one row, in their order. */
export function rowsOf(report: MetarGroups, parse: Parse): readonly Row[] {
  const groups = report.text.split(" ");
  const { rows, owners, loose } = told(groups, parse);
  const unknown = [...report.notUnderstood];
  const rest = loose.map((at) => {
    // Some stations leave out the blank behind RMK.
    const found = unknown.findIndex((one) => one === groups[at] || `RMK${one}` === groups[at]);
    if (found >= 0) unknown.splice(found, 1);
    return { from: at, at: [at], facts: found >= 0 ? [] : saidAgain(groups[at]!), isUnknown: found >= 0 };
  });
  // A word that says nothing by itself belongs to what cannot be read without it.
  const whole = [...factsOf(report).keys()];
  const alone = rest.filter((row) => {
    if (row.isUnknown || row.facts.length > 0) return true;
    const without = attempt(groups.filter((_, at) => at !== row.from).join(" "), parse);
    const left = without ? factsOf(without) : new Map<string, string>();
    const owner = owners.get(whole.find((key) => !left.has(key)) ?? "");
    owner?.at.push(row.from);
    return owner === undefined;
  });
  const said = rows.map((row) => ({ ...row, from: Math.min(...row.at), isUnknown: false }));
  return [...said, ...alone]
    .sort((a, b) => a.from - b.from)
    .map(({ at, facts, isUnknown }) => ({ groups: at.sort((a, b) => a - b).map((one) => groups[one]!), facts, isUnknown }));
}

/** What a group says that another has said already: the altimeter setting in the other unit. */
function saidAgain(group: string): string[] {
  if (group === "RMK") return ["remarks"];
  return /^[AQ]\d{4}$/.test(group) ? ["altimeter"] : [];
}

/** What the groups say one after the other: rows, the row of each fact, and the groups after which nothing was new. */
function told(groups: readonly string[], parse: Parse) {
  const rows: Found[] = [];
  const owners = new Map<string, Found>();
  const loose: number[] = [];
  let before: { facts: ReadonlyMap<string, string>; unknown: number } | undefined;
  let inRemarks = false;
  groups.forEach((group, at) => {
    inRemarks ||= group.startsWith("RMK");
    const now = attempt(groups.slice(0, at + 1).join(" "), parse);
    if (!now) {
      loose.push(at);
      return;
    }
    const facts = factsOf(now);
    // Tenths in the remarks change the temperature of the body, which has its row.
    const changed = [...facts.keys()].filter((key) => facts.get(key) !== before?.facts.get(key) && (key.startsWith("remarks.") || !inRemarks));
    // Words of a phrase are unknown until its last one comes. All groups up to the time are the first phrase.
    const taken = before ? Math.max(before.unknown - now.notUnderstood.length, 0) : loose.length;
    const own = [...loose.splice(loose.length - taken), at];
    if (!before) changed.unshift("station");
    before = { facts, unknown: now.notUnderstood.length };
    if (changed.length === 0) {
      loose.push(...own);
      return;
    }
    const known = changed.map((key) => owners.get(key)).filter((row) => row !== undefined);
    const fresh = changed.filter((key) => !owners.has(key));
    const row = known.find((one) => one === rows.at(-1)) ?? (fresh.length === 0 ? known[0] : undefined) ?? { at: [], facts: [] };
    row.at.push(...own);
    row.facts.push(...fresh);
    for (const key of fresh) owners.set(key, row);
    if (!rows.includes(row)) rows.push(row);
  });
  return { rows, owners, loose };
}

function attempt(text: string, parse: Parse): MetarGroups | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** The members of a report that have a value, as text. */
function factsOf(report: MetarGroups): ReadonlyMap<string, string> {
  const facts = new Map<string, string>();
  const add = (path: string, value: unknown) => {
    if (value === null || value === false || (path === "revision" && value === 0)) return;
    // Outages are not in the order of the groups.
    if (Array.isArray(value)) value.forEach((one, at) => add(`${path}.${path.endsWith("outages") ? one : at}`, one));
    else facts.set(path, JSON.stringify(value));
  };
  for (const [name, value] of Object.entries(report)) if (!LEFT_OUT.has(name)) add(name, value);
  for (const [name, value] of Object.entries(report.remarks)) add(`remarks.${name}`, value);
  return facts;
}
