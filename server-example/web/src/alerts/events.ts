// Alerts by event: all messages and parts of one bulletin are one row; and which of them are asked for.
import { computed } from "@preact/signals";

import type { AlertArea, AlertFeature } from "../api/types";
import { regionCalled, regionName } from "../domain/regions";
import { word } from "../ui/words";
import { alertFilters, language } from "../view";
import { active, alerts, end_ms, onlyActive, sent_ms, statusOf } from "./record";

export interface AlertEvent {
  /** The messages that are shown, the newest first. */
  readonly parts: readonly AlertFeature[];
  /** How many messages it has on record. */
  readonly messageCount: number;
}

/** What an alert is about; its headline where that alone is in the language of the page. */
export const eventOf = ({ properties: { event, alertHeadline, language: own } }: AlertFeature): string =>
  language.value === "fr" && own?.startsWith("fr") ? alertHeadline : (event ?? alertHeadline);

/** The bulletin that a message of the United States was cut from, a part for each group of zones. */
const bulletinOf = ({ id, properties: { event } }: AlertFeature): string | undefined => {
  const [, bulletin] = /^(urn:oid:2\.49\.0\.1\.840\.0\.[0-9a-f]{20,})\.\d+\.\d+$/.exec(id) ?? [];
  return bulletin && `${bulletin} ${event}`;
};

/** The event of each message: those that follow one another, on record or not, and the parts of one bulletin. */
const eventIds = computed<ReadonlyMap<string, string>>(() => {
  const parents = new Map<string, string>();
  const find = (id: string): string => {
    let at = id;
    for (let next = parents.get(at); next !== undefined && next !== at; next = parents.get(at)) at = next;
    return at;
  };
  const join = (a: string, b: string) => parents.set(find(a), find(b));
  const all = alerts.value ?? [];
  for (const one of all) {
    const { previousIds = [], nextIds = [] } = one.properties;
    for (const other of [...previousIds, ...nextIds, bulletinOf(one)]) if (other !== undefined) join(one.id, other);
  }
  return new Map(all.map(({ id }) => [id, find(id)]));
});

const SEVERITIES = ["Extreme", "Severe", "Moderate", "Minor", "Unknown"];
const severityOf = ({ properties: { severity } }: AlertFeature): string => severity ?? "Unknown";

/** The sea and the great lakes have codes of their own. */
const MARINE = /^(A[MN]|GM|P[HKMSZ]|L[CEHMOS]|SL)$/;

/** Provinces and states of an alert: `CA ON`, `US TX`; `marine` is at sea. */
function regionsOf({ properties: { areas = [], coverage } }: AlertFeature): readonly string[] {
  const found = new Set<string>();
  for (const { ugcCode } of areas) {
    const code = ugcCode?.slice(0, 2);
    if (code) found.add(MARINE.test(code) ? "marine" : `US ${code}`);
  }
  if (found.size === 0 && coverage) found.add(regionCalled(coverage) ?? coverage);
  return [...found];
}

export type Filter = keyof typeof alertFilters.value;
export const FILTERS: readonly Filter[] = ["hazard", "severity", "office", "region"];

/** What an alert has for a filter. */
const VALUES: Readonly<Record<Filter, (one: AlertFeature) => readonly string[]>> = {
  hazard: ({ properties: { event, alertHeadline } }) => [event ?? alertHeadline],
  severity: (one) => [severityOf(one)],
  office: ({ properties: { issuer } }) => [issuer],
  region: regionsOf,
};

/** A choice of a filter in words. */
export function choiceText(filter: Filter, value: string): string {
  if (filter === "severity") return value === "Unknown" ? word("unknownSeverity") : word(value);
  if (filter !== "region") return value;
  if (value === "marine") return word("marine");
  const [country, code] = value.split(" ");
  return (country === "CA" || country === "US") && code ? regionName(country, code, language.value) : value;
}

const asked = computed(() => (onlyActive.value ? active.value : (alerts.value ?? [])));

const isWanted = (one: AlertFeature, but?: Filter): boolean =>
  FILTERS.every((filter) => filter === but || alertFilters.value[filter] === "" || VALUES[filter](one).includes(alertFilters.value[filter]));

/** The alerts that the list and the map show. */
export const wanted = computed(() => asked.value.filter((one) => isWanted(one)));

/** The choices of a filter beside the other filters, with how many alerts each would leave. */
export function choicesOf(filter: Filter): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const one of asked.value) {
    if (!isWanted(one, filter)) continue;
    for (const value of VALUES[filter](one)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const chosen = alertFilters.value[filter];
  if (chosen !== "" && !counts.has(chosen)) counts.set(chosen, 0);
  const order = (value: string) => (filter === "severity" ? SEVERITIES.indexOf(value) : 0);
  return [...counts].sort(([a], [b]) => order(a) - order(b) || choiceText(filter, a).localeCompare(choiceText(filter, b)));
}

const TYPES = ["Warning", "Watch", "Advisory", "Statement"];

/** The events of the alerts that are shown, the gravest first. */
export const events = computed<readonly AlertEvent[]>(() => {
  const counts = new Map<string, number>();
  for (const id of eventIds.value.values()) counts.set(id, (counts.get(id) ?? 0) + 1);
  const groups = new Map<string, AlertFeature[]>();
  for (const one of wanted.value) {
    const id = eventIds.value.get(one.id)!;
    const known = groups.get(id);
    if (known) known.push(one);
    else groups.set(id, [one]);
  }
  const rank = (order: readonly string[], name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  const gravity = ({ parts: [head] }: AlertEvent) => rank(TYPES, head!.properties.alertType) * 10 + rank(SEVERITIES, severityOf(head!));
  const isPast = (one: AlertFeature) => (statusOf(one) === "Active" ? 0 : 1);
  const all = [...groups].map(([id, parts]): AlertEvent => {
    parts.sort((a, b) => isPast(a) - isPast(b) || sent_ms(b) - sent_ms(a) || (a.id < b.id ? -1 : 1));
    return { parts, messageCount: counts.get(id) ?? parts.length };
  });
  const name = ({ parts: [head] }: AlertEvent) => `${head!.properties.event} ${head!.properties.issuer}`;
  return all.sort((a, b) => gravity(a) - gravity(b) || name(a).localeCompare(name(b)));
});

/** When the last of some messages ends. */
export function lastEnd(parts: readonly AlertFeature[]): number | undefined {
  const known = parts.map(end_ms).filter((time) => time !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

/** The first area of a message, and how many more there are. */
export function whereOf(one: AlertFeature): string | undefined {
  const areas = areasOf([one]);
  return areas.length > 1 ? `${areas[0]} ${word("andMore", areas.length - 1)}` : areas[0];
}

/** The names of the areas of some messages, each once. */
export function areasOf(parts: readonly AlertFeature[]): readonly string[] {
  const named = (area: AlertArea) => area.kind !== "ThreatArea";
  return [...new Set(parts.flatMap(({ properties: { areas = [] } }) => areas.filter(named).map(({ description }) => description)))];
}
