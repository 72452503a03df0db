// The time that is shown: a slider over the times of the readings, or over the hours of a model.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { about, isOffline, now_ms } from "../api/client";
import { span } from "../domain/time";
import { isLooping, isPlaying, speed, SPEEDS, toggle } from "../playback";
import { columns, isWhole, loadedAt_ms } from "../station/network";
import { moveTime, timeline } from "../timeline";
import { at_ms, chooseClock, clock, CLOCKS, isEmbedded, layer, locale, step_min } from "../view";
import { elsewhere, long, nameOf, zoneOf } from "./clock";
import { word } from "./words";

const STEPS = [10, 30, 60];

export function TimeBar() {
  if (layer.value === "alerts") return <OfAlerts />;
  const of = timeline.value;
  if (layer.value === "products" && !of) return <Fixed times={[["", 0]]} />;
  const isOfStations = layer.value === "stations" || layer.value === "quality";
  const count = of?.times_ms.length ?? 0;
  const time = of?.shown_ms ?? 0;
  const text = time > 0 ? long(time) : "…";
  const coarsened = isOfStations && columns.value && isWhole.value && columns.value.times_ms.length > 2 && columns.value.step_min > step_min.value;
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
        onClick={toggle}
      >
        {isPlaying.value ? "❚❚" : "▶"}
      </button>
      <button type="button" disabled={count < 2} aria-label={word("later")} title={`${word("later")} (→)`} onClick={() => moveTime(1)}>
        ›
      </button>
      {count > 1 && <Pace />}
      <output id="clock" title={time > 0 ? elsewhere(time) : ""}>
        {text}
      </output>
      <ClockChoice at={time} />
      <input
        id="slider"
        type="range"
        min={0}
        max={Math.max(count - 1, 0)}
        value={of?.at ?? 0}
        disabled={count < 2}
        aria-label={word("time")}
        aria-valuetext={text}
        onInput={({ currentTarget }) => of?.go(Number(currentTarget.value))}
      />
      {isOfStations && (
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

/** How fast it plays, and whether it begins again. */
function Pace() {
  return (
    <>
      <label class="pace">
        <span class="hidden">{word("speed")}</span>
        <select id="speed" title={word("speed")} value={speed.value} onChange={({ currentTarget }) => (speed.value = Number(currentTarget.value))}>
          {SPEEDS.map((perSecond) => (
            <option key={perSecond} value={perSecond}>
              {perSecond}/s
            </option>
          ))}
        </select>
      </label>
      <button type="button" id="loop" aria-pressed={isLooping.value} aria-label={word("loop")} title={word("loop")} onClick={() => (isLooping.value = !isLooping.value)}>
        ⟲
      </button>
    </>
  );
}

/** The time that is shown, where nothing moves it. */
export function EmbeddedTime() {
  if (layer.value === "alerts") return <OfAlerts />;
  const ms = timeline.value?.shown_ms ?? 0;
  return <Fixed times={[["", ms]]} />;
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
      {!isEmbedded.value && <ClockChoice at={times[0]![1]} />}
    </div>
  );
}
