// The alerts as a list, a row for each event: what, where, until when, how grave; and filters for the list and the map.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { failures } from "../api/loads";
import type { AlertFeature } from "../api/types";
import { short } from "../ui/clock";
import { Skeleton } from "../ui/states";
import { word } from "../ui/words";
import { alert, alertFilters, openAlert } from "../view";
import { type AlertEvent, areasOf, choicesOf, choiceText, eventOf, events, type Filter, FILTERS, lastEnd, wanted } from "./events";
import { active, alerts, colourOfAlert, onlyActive, statusOf } from "./record";
import { statusWord } from "./timeline";

/** Whether a phone shows the list over the map. */
const isOpen = signal(false);
/** The event whose parts are listed, by its first message. */
const openEvent = signal<string | undefined>(undefined);

export function AlertList() {
  const all = alerts.value;
  if (!all) return failures.value.has("alerts") ? null : <Skeleton lines={8} />;
  const isFiltered = FILTERS.some((filter) => alertFilters.value[filter] !== "");
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
      <div class="filters">
        {FILTERS.map((filter) => (
          <Choice key={filter} of={filter} />
        ))}
        <p class="quiet">
          {word("eventCount", events.value.length, wanted.value.length)}{" "}
          {isFiltered && (
            <button type="button" class="link" onClick={() => (alertFilters.value = { hazard: "", severity: "", office: "", region: "" })}>
              {word("clearFilters")}
            </button>
          )}
        </p>
      </div>
      {active.value.length === 0 && <p class="quiet">{word("noAlerts")}</p>}
      <Rows />
    </section>
  );
}

function Choice({ of }: { of: Filter }) {
  return (
    <select
      id={`filter-${of}`}
      aria-label={word(`filter.${of}`)}
      value={alertFilters.value[of]}
      onChange={({ currentTarget }) => (alertFilters.value = { ...alertFilters.value, [of]: currentTarget.value })}
    >
      <option value="">{word(`all.${of}`)}</option>
      {choicesOf(of).map(([value, count]) => (
        <option key={value} value={value}>
          {choiceText(of, value)} ({count})
        </option>
      ))}
    </select>
  );
}

/** The rows: one stop of the Tab key, from which arrows go to each. */
function Rows() {
  const list = useRef<HTMLUListElement>(null);
  const buttons = () => [...(list.current?.querySelectorAll<HTMLButtonElement>("button") ?? [])];
  useEffect(() => {
    const all = buttons();
    if (all.some((one) => one.tabIndex === 0)) return;
    const first = all.find((one) => one.getAttribute("aria-current") === "true") ?? all[0];
    if (first) first.tabIndex = 0;
  });
  const stopAt = (button: HTMLButtonElement) => {
    for (const one of buttons()) one.tabIndex = -1;
    button.tabIndex = 0;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const all = buttons();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    const button = next === undefined ? undefined : all[Math.min(Math.max(next, 0), all.length - 1)];
    if (!button) return;
    stopAt(button);
    button.focus();
    event.preventDefault();
  };
  return (
    <ul ref={list} aria-label={word("alerts")} onKeyDown={onKeyDown} onFocusIn={({ target }) => target instanceof HTMLButtonElement && stopAt(target)}>
      {events.value.map((one) => (
        <Row key={one.parts[0]!.id} of={one} />
      ))}
    </ul>
  );
}

function Row({ of: { parts, messageCount } }: { of: AlertEvent }) {
  const head = parts[0]!;
  const isListed = openEvent.value === head.id;
  const isCurrent = parts.some(({ id }) => id === alert.value);
  return (
    <li>
      <button type="button" tabIndex={-1} aria-current={isCurrent} onClick={() => openAlert(head.id)}>
        <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
          <rect x={2} y={2} width={12} height={12} rx={2} fill={colourOfAlert(head)} fill-opacity={statusOf(head) === "Active" ? 0.9 : 0.25} />
        </svg>
        <span>
          <b>{eventOf(head)}</b>
          <Where parts={parts} />
          <small>
            {head.properties.issuer}
            {messageCount > parts.length && ` · ${word("messageCount", messageCount)}`}
          </small>
        </span>
      </button>
      {parts.length > 1 && (
        <button type="button" class="more" tabIndex={-1} aria-expanded={isListed} onClick={() => (openEvent.value = isListed ? undefined : head.id)}>
          {word("partCount", parts.length)}
        </button>
      )}
      {isListed && (
        <ul>
          {parts.map((part) => (
            <li key={part.id}>
              <button type="button" tabIndex={-1} aria-current={part.id === alert.value} onClick={() => openAlert(part.id)}>
                <span>
                  <Where parts={[part]} />
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Where some messages hold, until when, and how grave they are. */
function Where({ parts }: { parts: readonly AlertFeature[] }) {
  const areas = areasOf(parts);
  const end = lastEnd(parts);
  const { severity } = parts[0]!.properties;
  const status = statusOf(parts[0]!);
  const facts = [
    status !== "Active" && statusWord(status),
    end !== undefined && word("until", short(end)),
    severity && severity !== "Unknown" && word(severity),
  ].filter(Boolean);
  return (
    <>
      {areas[0] !== undefined && (
        <small class="where">
          {areas[0]} {areas.length > 1 && word("andMore", areas.length - 1)}
        </small>
      )}
      <small>{facts.join(" · ")}</small>
    </>
  );
}
