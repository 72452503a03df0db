// Which checks spoke against readings: the explanation of each is asked for, as a verdict alone names no check.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { askJson, observations } from "../api/client";
import type { BaseQuality, Explanation } from "../api/types";
import { rank } from "../domain/quality";
import type { WorstStation } from "../station/columns";
import { Mark } from "../ui/legend_parts";
import { Trouble } from "../ui/states";
import { checkName, word } from "../ui/words";

/** So many readings are asked about at most. */
const MOST = 120;

interface Tally {
  readonly check: string;
  readonly quality: BaseQuality;
  readonly count: number;
}

export function ByCheck({ worst }: { worst: readonly WorstStation[] }) {
  const all = worst.flatMap(({ id, readings }) => readings.map((reading) => ({ stationId: id, ...reading })));
  const asked = all.slice(0, MOST);
  const state = useSignal<{ done: number; tallies?: readonly Tally[]; trouble?: string; running?: AbortController }>({ done: 0 });
  useEffect(() => {
    state.value = { done: 0 };
    return () => state.peek().running?.abort();
  }, [worst]);
  const ask = async () => {
    const running = new AbortController();
    state.value = { done: 0, running };
    const counts = new Map<string, Tally>();
    try {
      await Promise.all(
        asked.map(async ({ stationId, typeId, timestamp, quality }) => {
          const query = new URLSearchParams({ stationId, typeId: String(typeId), timestamp });
          const check = whoSaid(await askJson<Explanation>(observations(`/observations/explain?${query}`), { signal: running.signal, isTile: true }), quality);
          const key = `${check} ${quality}`;
          counts.set(key, { check, quality, count: (counts.get(key)?.count ?? 0) + 1 });
          if (!running.signal.aborted) state.value = { running, done: state.peek().done + 1 };
        }),
      );
      if (running.signal.aborted) return;
      const tallies = [...counts.values()].sort((a, b) => b.count - a.count || rank(a.quality) - rank(b.quality) || (a.check < b.check ? -1 : 1));
      state.value = { done: asked.length, tallies };
    } catch (error) {
      if (!running.signal.aborted) state.value = { done: 0, trouble: (error as Error).message };
      running.abort();
    }
  };
  const { done, tallies, trouble, running } = state.value;
  return (
    <section class={tallies ? "" : "pressed"}>
      <h3>{word("byCheck")}</h3>
      {trouble && <Trouble text={trouble} retry={() => void ask()} />}
      {!tallies && !running && !trouble && (
        <p>
          <button type="button" onClick={() => void ask()}>
            {word("askChecks", asked.length)}
          </button>
        </p>
      )}
      {running && (
        <p class="quiet" role="status">
          {word("doneOf", done, asked.length)} <progress value={done} max={asked.length} aria-label={word("byCheck")} />
        </p>
      )}
      {tallies && (
        <table class="checks">
          <tbody>
            {tallies.map(({ check, quality, count }) => (
              <tr key={`${check} ${quality}`}>
                <th scope="row">
                  <Mark quality={quality} /> {checkName(check)}
                </th>
                <td>{word(quality)}</td>
                <td class="number">{count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {tallies && asked.length < all.length && <p class="quiet">{word("firstOf", asked.length, all.length)}</p>}
    </section>
  );
}

/** The check whose outcome is the verdict: the first of those that say so, else the source, else the inputs of a calculated value. */
function whoSaid({ checks, source }: Explanation, quality: BaseQuality): string {
  const found = checks.find(({ outcome }) => outcome?.baseQuality === quality);
  if (found) return found.check;
  return source.baseQuality === quality ? "source" : "inputs";
}
