// The alerts as they stand, in the language of the page.
import { computed, signal } from "@preact/signals";

import { about, askJson, now_ms, observations } from "../api/client";
import type { AlertArea, AlertFeature, AlertStatus } from "../api/types";
import { language } from "../view";
import { word } from "../ui/words";

export const alerts = signal<readonly AlertFeature[] | undefined>(undefined);
export const onlyActive = signal(true);

export const byId = computed(() => new Map((alerts.value ?? []).map((one) => [one.id, one])));

export const statusOf = (one: AlertFeature): AlertStatus => one.properties.status ?? "Unknown";
export const active = computed(() => (alerts.value ?? []).filter((one) => statusOf(one) === "Active"));

export async function loadAlerts(): Promise<void> {
  const address = observations(`/alerts?lang=${language.value}`);
  alerts.value = (await askJson<{ features: AlertFeature[] }>(address, { name: word("alerts") })).features;
}

/** The texts of one alert in the other language of the page. */
export async function inOtherLanguage(id: string): Promise<AlertFeature | undefined> {
  const other = language.value === "fr" ? "en" : "fr";
  const { features } = await askJson<{ features: AlertFeature[] }>(observations(`/alerts?lang=${other}`));
  return features.find((one) => one.id === id);
}

const BY_TYPE: Readonly<Record<string, string>> = {
  Warning: "#c5221f",
  Watch: "#d97800",
  Advisory: "#b59a00",
  Statement: "#4a7fb5",
};
const BY_COLOUR: Readonly<Record<string, string>> = { Red: "#c5221f", Orange: "#e07000", Yellow: "#c9a800" };

/** The issuer's colour, else that of the type. */
export function colourOfAlert({ properties }: AlertFeature): string {
  return BY_COLOUR[properties.alertColour] ?? BY_TYPE[properties.alertType] ?? "#7a7f87";
}

/** When a message was sent, milliseconds since 1970. */
export const sent_ms = ({ properties: { sent, effectiveTime } }: AlertFeature): number => Date.parse(sent ?? effectiveTime ?? "");

/** When a message ends by itself: when it expires or when the event ends, whichever is later. */
export function end_ms({ properties: { expiryTime, eventEndTime } }: AlertFeature): number | undefined {
  const known = [expiryTime, eventEndTime].filter((text) => text !== undefined).map((text) => Date.parse(text));
  return known.length > 0 ? Math.max(...known) : undefined;
}

/** The first message on record that follows a message. */
export function followerOf({ properties: { nextIds = [] } }: AlertFeature): AlertFeature | undefined {
  const known = nextIds.map((id) => byId.value.get(id)).filter((one) => one !== undefined);
  return known.sort((a, b) => sent_ms(a) - sent_ms(b))[0];
}

/** The time for which an alert is shown: that of its country where feeds are replayed, else now. */
export function shownFor_ms({ properties: { areas = [] } }: AlertFeature): number {
  const feeds = about.value?.replayAlerts;
  if (!feeds) return now_ms();
  return Date.parse(areas.some(({ clcCode, ugcCode }) => clcCode !== undefined && ugcCode === undefined) ? feeds.canada : feeds.unitedStates);
}

/** An alert with all that it follows and that follows it, in the order they were sent. */
export function chainOf(id: string): readonly AlertFeature[] {
  const seen = new Set<string>();
  const open = [id];
  while (open.length > 0) {
    const one = open.pop()!;
    const known = byId.value.get(one);
    if (seen.has(one) || !known) continue;
    seen.add(one);
    open.push(...(known.properties.previousIds ?? []), ...(known.properties.nextIds ?? []));
  }
  return [...seen].map((one) => byId.value.get(one)!).sort((a, b) => sent_ms(a) - sent_ms(b));
}

/** The code of a zone; codes of fire weather zones are those of forecast zones too. */
export function codeOf({ ugcCode, clcCode, zoneKind }: AlertArea): string | undefined {
  const code = ugcCode ?? clcCode;
  return code !== undefined && zoneKind !== undefined ? `${code}/${zoneKind}` : code;
}

/** The area of an alert with a code. */
export const areaIn = ({ properties: { areas = [] } }: AlertFeature, code: string): AlertArea | undefined =>
  areas.find((one) => codeOf(one) === code);

/** The messages on record for an area: chain by chain, those of a chain in the order they were sent. */
export function messagesFor(code: string): readonly AlertFeature[] {
  const left = new Set((alerts.value ?? []).filter((one) => areaIn(one, code)));
  const all: AlertFeature[] = [];
  for (const one of [...left].sort((a, b) => sent_ms(a) - sent_ms(b))) {
    for (const linked of chainOf(one.id)) if (left.delete(linked)) all.push(linked);
  }
  return all;
}
