// The alerts as a list, for who does not point at a map.
import { signal } from "@preact/signals";

import { loading } from "../api/client";
import type { AlertFeature } from "../api/types";
import { alert, area, language, station } from "../view";
import { word } from "../ui/words";
import { active, alerts, colourOfAlert, onlyActive, statusOf } from "./record";

/** The name of the event; its headline where that alone is in the language of the page. */
const nameOf = ({ properties: { event, alertHeadline, language: own } }: AlertFeature) =>
  language.value === "fr" && own?.startsWith("fr") ? alertHeadline : (event ?? alertHeadline);

const ORDER = ["Warning", "Watch", "Advisory", "Statement"];

/** Whether a phone shows the list over the map. */
const isOpen = signal(false);

export function AlertList() {
  const all = alerts.value;
  if (!all) return loading.value.size > 0 ? null : <p class="quiet">…</p>;
  const shown = onlyActive.value ? active.value : all;
  const rank = (type: string) => (ORDER.indexOf(type) + 5) % 5;
  const sorted = [...shown].sort((a, b) => rank(a.properties.alertType) - rank(b.properties.alertType) || a.properties.issuer.localeCompare(b.properties.issuer));
  return (
    <section class="list" aria-label={word("alerts")} data-open={isOpen.value ? "" : undefined}>
      <h2>
        <span>{word("activeAlerts", active.value.length, all.length)}</span>
        <button type="button" class="toggle" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
          {word("listAlerts")}
        </button>
        <label>
          <input type="checkbox" checked={onlyActive.value} onChange={({ currentTarget }) => (onlyActive.value = currentTarget.checked)} />{" "}
          {word("onlyActive")}
        </label>
      </h2>
      {active.value.length === 0 && <p class="quiet">{word("noAlerts")}</p>}
      <ul tabIndex={0} aria-label={word("alerts")}>
        {sorted.map((one) => (
          <li key={one.id}>
            <button
              type="button"
              aria-current={alert.value === one.id}
              onClick={() => {
                station.value = area.value = undefined;
                alert.value = one.id;
              }}
            >
              <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
                <rect x={2} y={2} width={12} height={12} rx={2} fill={colourOfAlert(one)} fill-opacity={statusOf(one) === "Active" ? 0.9 : 0.25} />
              </svg>
              <span>
                <b>{nameOf(one)}</b>
                <small>
                  {one.properties.issuer}
                  {statusOf(one) !== "Active" && ` · ${word(statusOf(one) === "Unknown" ? "NotHeard" : statusOf(one))}`}
                </small>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
