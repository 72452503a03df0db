// The feeds: how old the newest report of each is, how old it may be, and which are late.
import { now_ms } from "../api/client";
import { failures } from "../api/loads";
import { span } from "../domain/time";
import { elsewhere, short } from "../ui/clock";
import { LateMark } from "../ui/legend_parts";
import { Skeleton } from "../ui/states";
import { word } from "../ui/words";
import { isFeedsOpen, locale } from "../view";
import { feeds, lateFeeds } from "./feeds";

export function FeedsPanel() {
  const all = feeds.value;
  if (!all) return failures.value.has("feeds") ? null : <Skeleton lines={6} />;
  const now = now_ms();
  // The late ones first.
  const sorted = [...all].sort((a, b) => Number(b.late) - Number(a.late) || (a.network < b.network ? -1 : 1));
  return (
    <article class="quality">
      <h2>{word("feeds")}</h2>
      <p>{lateText()}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{word("network")}</th>
            <th scope="col">{word("stationsShort")}</th>
            <th scope="col">{word("newest")}</th>
            <th scope="col">{word("age")}</th>
            <th scope="col">{word("allowed")}</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ network, stations, newest, late, lateAfterMinutes }) => {
            const ms = Date.parse(newest ?? "");
            return (
              <tr key={network}>
                <th scope="row">
                  {late && <LateMark />} {network}
                </th>
                <td class="number">{stations.toLocaleString(locale.value)}</td>
                <td class="number" title={newest === undefined ? "" : elsewhere(ms)}>
                  {newest === undefined ? "–" : short(ms)}
                </td>
                <td class={`number ${late ? "late" : ""}`}>
                  {newest === undefined ? "–" : span(Math.max((now - ms) / 1000, 0), locale.value)} {late && word("feedLate")}
                </td>
                <td class="number quiet">{lateAfterMinutes === undefined ? word("never") : `${lateAfterMinutes}\u202fmin`}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="quiet">{word("feedsHint")}</p>
    </article>
  );
}

const lateText = () => (lateFeeds.value.length > 0 ? word("feedsLate", lateFeeds.value.length) : word("feedsOnTime"));

/** The way to the feeds, with a mark if one is late. */
export function FeedsLink() {
  if (!feeds.value) return null;
  return (
    <section>
      <h3>{word("feeds")}</h3>
      <p>
        {lateFeeds.value.length > 0 && <LateMark />}{" "}
        <button type="button" class="link text" onClick={() => (isFeedsOpen.value = true)}>
          {lateText()}
        </button>
      </p>
    </section>
  );
}
