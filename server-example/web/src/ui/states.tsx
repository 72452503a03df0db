// What is under way, what went wrong, and what to do about it: said over the map, which stays.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { isOffline, limitedUntil_ms, loading } from "../api/client";
import { failures } from "../api/loads";
import { loadReadings, trouble } from "../station/network";
import { word } from "./words";

export function Progress() {
  return (
    <div class="states" role="status" aria-live="polite">
      {isOffline.value && <p class="notice bad">{word("offline")}</p>}
      <Limited />
      {trouble.value && (
        <p class="notice bad">
          {trouble.value}{" "}
          <button type="button" onClick={() => void loadReadings()}>
            {word("retry")}
          </button>
        </p>
      )}
      {[...failures.value].map(([name, { text, again }]) => (
        <p key={name} class="notice bad">
          {word("failed", word(name), text)}{" "}
          <button type="button" onClick={again}>
            {word("retry")}
          </button>
        </p>
      ))}
      {[...loading.value].map(([name, part]) => (
        <p key={name} class="notice">
          {word("loadingOf", name)}
          <progress value={part} max={1} aria-label={word("loadingOf", name)} />
        </p>
      ))}
    </div>
  );
}

/** Counts down while the server takes no more requests. */
function Limited() {
  const left_s = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => (left_s.value = Math.max(Math.ceil((limitedUntil_ms.value - Date.now()) / 1000), 0)), 250);
    return () => clearInterval(timer);
  }, []);
  return left_s.value > 0 ? <p class="notice bad">{word("limited", left_s.value)}</p> : null;
}

/** Words for a place where something could not be had. */
export function Trouble({ text, retry }: { text: string; retry?: () => void }) {
  return (
    <p class="trouble" role="alert">
      {text}{" "}
      {retry && (
        <button type="button" onClick={retry}>
          {word("retry")}
        </button>
      )}
    </p>
  );
}

/** What is on its way, in outline: lines of a text. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label={word("loading")}>
      {Array.from({ length: lines }, (_, at) => (
        <i key={at} />
      ))}
    </div>
  );
}
