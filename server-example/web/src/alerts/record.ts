// The alerts as they stand, in the language of the page.
import { computed, signal } from "@preact/signals";

import { askJson, observations } from "../api/client";
import type { AlertFeature, AlertStatus } from "../api/types";
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
  const sent = (one: AlertFeature) => Date.parse(one.properties.sent ?? one.properties.effectiveTime ?? "");
  return [...seen].map((one) => byId.value.get(one)!).sort((a, b) => sent(a) - sent(b));
}
