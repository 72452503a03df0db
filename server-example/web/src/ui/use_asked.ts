// A component's question to the server: its answer, or why there is none.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { isOffline, returns } from "../api/client";
import { word } from "./words";

export interface Asked<T> {
  readonly answer: T | undefined;
  readonly trouble: string | undefined;
  readonly again: () => void;
}

/** Asks when the component appears, when `of` changes, and when the server is back. */
export function useAsked<T>(ask: (signal: AbortSignal) => Promise<T>, of: readonly unknown[]): Asked<T> {
  const state = useSignal<{ answer?: T; trouble?: string }>({});
  const round = useSignal(0);
  useEffect(() => {
    const running = new AbortController();
    ask(running.signal).then(
      (answer) => !running.signal.aborted && (state.value = { answer }),
      (error: Error) => {
        if (!running.signal.aborted) state.value = { ...state.peek(), trouble: isOffline.value ? word("offline") : error.message };
      },
    );
    return () => running.abort();
  }, [...of, round.value, returns.value]);
  return {
    answer: state.value.answer,
    trouble: state.value.trouble,
    again: () => {
      state.value = {};
      round.value += 1;
    },
  };
}
