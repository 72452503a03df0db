// The time that is shown: a slider over the times of the readings, or over the hours of a model.
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { about, isOffline, now_ms } from "../api/client";
import { isPlaying, moveTime } from "../keys";
import { span } from "../domain/time";
import { coverage, valid_ms } from "../models/fields";
import { file } from "../products/catalogue";
import { columns, loadedAt_ms, positions_ms, shown_ms } from "../station/network";
import { at_ms, chooseClock, clock, CLOCKS, hour, layer, locale, step_min } from "../view";
import { elsewhere, long, nameOf, zoneOf } from "./clock";
import { word } from "./words";

const FRAME_MS = 450;
const STEPS = [10, 30, 60];

export function TimeBar() {
  useSignalEffect(() => {
    if (!isPlaying.value) return undefined;
    const timer = setInterval(() => moveTime(1), FRAME_MS);
    return () => clearInterval(timer);
  });
  if (layer.value === "alerts") return <OfAlerts />;
  if (layer.value === "products") return <Fixed times={[["", file.value ? Date.parse(file.value.timestamp) : 0]]} />;
  const isModel = layer.value === "models";
  const times = positions_ms.value;
  const count = isModel ? (coverage.value?.forecast_hour_axis.length ?? 1) : times.length;
  const at = isModel ? hour.value : Math.max(times.findLastIndex((time) => time <= shown_ms.value + 1_000), 0);
  const time = isModel ? valid_ms.value : shown_ms.value;
  const text = time > 0 ? long(time) : "…";
  const coarsened = !isModel && columns.value && columns.value.times_ms.length > 2 && columns.value.step_min > step_min.value;
  return (
    <div class={`time ${isOffline.value ? "stale" : ""}`} role="group" aria-label={word("time")}>
      <button type="button" disabled={count < 2} aria-label={word("earlier")} title={`${word("earlier")} (←)`} onClick={() => moveTime(-1)}>
        ‹
      </button>
      <button
        type="button"
        id="play"
        aria-label={word(isPlaying.value ? "pause" : "play")}
        title={word(isPlaying.value ? "pause" : "play")}
        disabled={count < 2}
        onClick={() => (isPlaying.value = !isPlaying.value)}
      >
        {isPlaying.value ? "❚❚" : "▶"}
      </button>
      <button type="button" disabled={count < 2} aria-label={word("later")} title={`${word("later")} (→)`} onClick={() => moveTime(1)}>
        ›
      </button>
      <output id="clock" title={time > 0 ? elsewhere(time) : ""}>
        {text}
      </output>
      <ClockChoice at={time} />
      <input
        id="slider"
        type="range"
        min={0}
        max={Math.max(count - 1, 0)}
        value={at}
        disabled={count < 2}
        aria-label={word("time")}
        aria-valuetext={text}
        onInput={({ currentTarget }) => {
          const next = Number(currentTarget.value);
          if (isModel) hour.value = next;
          else at_ms.value = next >= times.length - 1 ? undefined : times[next];
        }}
      />
      {!isModel && (
        <>
          <button type="button" class="wide" disabled={at_ms.value === undefined} onClick={() => (at_ms.value = undefined)}>
            {word("now")}
          </button>
          <Updated />
          <label class="step">
            {word("step")}
            <select value={step_min.value} onChange={({ currentTarget }) => (step_min.value = Number(currentTarget.value))}>
              {STEPS.map((minutes) => (
                <option key={minutes} value={minutes}>
                  {minutes} min
                </option>
              ))}
            </select>
            {coarsened && <small>{columns.value?.step_min} min</small>}
          </label>
        </>
      )}
    </div>
  );
}

/** Alerts are shown as they stand: at the server's time, or at that of each feed of the demonstration. */
function OfAlerts() {
  const { replayAlerts: feeds, replay } = about.value ?? {};
  const times: readonly (readonly [string, number])[] = feeds
    ? [
        [word("canada"), Date.parse(feeds.canada)],
        [word("unitedStates"), Date.parse(feeds.unitedStates)],
      ]
    : [["", replay ? Date.parse(replay) : now_ms()]];
  return <Fixed times={times} />;
}

const UPDATE_MS = 10_000;

/** How long ago the readings came, where they change. */
function Updated() {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), UPDATE_MS);
    return () => clearInterval(timer);
  }, []);
  if (about.value?.replay !== undefined || loadedAt_ms.value === 0) return null;
  const age_s = Math.max(now.value - loadedAt_ms.value, 0) / 1000;
  return (
    <small id="updated" title={long(loadedAt_ms.value)}>
      {age_s < 60 ? word("updatedNow") : word("updatedAgo", span(age_s, locale.value))}
    </small>
  );
}

/** In which zone all times of the page are shown. */
function ClockChoice({ at }: { at: number }) {
  const text = (one: (typeof CLOCKS)[number]) => {
    const name = one === "utc" ? "" : nameOf(one, at);
    return name === "" ? word(`clock.${one}`) : `${word(`clock.${one}`)}, ${name}`;
  };
  return (
    <label class="clock">
      <span class="hidden">{word("clock")}</span>
      <select id="clock-choice" value={clock.value} onChange={({ currentTarget }) => chooseClock(CLOCKS[currentTarget.selectedIndex]!)}>
        {CLOCKS.map((one) => (
          <option key={one} value={one} disabled={one !== clock.value && zoneOf(one) === undefined}>
            {text(one)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Times that no slider moves. */
function Fixed({ times }: { times: readonly (readonly [string, number])[] }) {
  return (
    <div class={`time ${isOffline.value ? "stale" : ""}`} role="group" aria-label={word("time")}>
      <output id="clock" class={times.length > 1 ? "many" : ""}>
        {times.map(([of, time]) => (
          <span key={of} title={time > 0 ? elsewhere(time) : ""}>
            {of} {time > 0 ? long(time) : "…"}
          </span>
        ))}
      </output>
      <ClockChoice at={times[0]![1]} />
    </div>
  );
}
