// The time that is shown: a slider over the times of the readings, or over the hours of a model.
import { useSignalEffect } from "@preact/signals";

import { about, isOffline, now_ms } from "../api/client";
import { isPlaying, moveTime } from "../keys";
import { local, utc } from "../domain/time";
import { coverage, valid_ms } from "../models/fields";
import { file } from "../products/catalogue";
import { columns, positions_ms, shown_ms } from "../station/network";
import { at_ms, hour, layer, locale, step_min } from "../view";
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
  if (layer.value === "products") return <Fixed texts={[file.value ? utc(Date.parse(file.value.timestamp), locale.value) : "…"]} />;
  const isModel = layer.value === "models";
  const times = positions_ms.value;
  const count = isModel ? (coverage.value?.forecast_hour_axis.length ?? 1) : times.length;
  const at = isModel ? hour.value : Math.max(times.findLastIndex((time) => time <= shown_ms.value + 1_000), 0);
  const time = isModel ? valid_ms.value : shown_ms.value;
  const text = time > 0 ? utc(time, locale.value) : "…";
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
      <output id="clock" title={time > 0 ? local(time, locale.value) : ""}>
        {text}
      </output>
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
  const asOf = (text: string) => utc(Date.parse(text), locale.value);
  const text = feeds
    ? [`${word("canada")} ${asOf(feeds.canada)}`, `${word("unitedStates")} ${asOf(feeds.unitedStates)}`]
    : [asOf(replay ?? new Date(now_ms()).toISOString())];
  return <Fixed texts={text} />;
}

/** Times that no slider moves. */
function Fixed({ texts }: { texts: readonly string[] }) {
  return (
    <div class={`time ${isOffline.value ? "stale" : ""}`} role="group" aria-label={word("time")}>
      <output id="clock" class={texts.length > 1 ? "many" : ""}>
        {texts.map((text) => (
          <span key={text}>{text}</span>
        ))}
      </output>
    </div>
  );
}
