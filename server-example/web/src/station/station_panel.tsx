// A station: what it reports, how that was judged and why, its plots, and its data to take away.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { askBytes, askJson, askNamed, observations } from "../api/client";
import type { Reading, Readings, SeriesType, StationDetail, StationReports, StationWeather } from "../api/types";
import { HOUR_MS, iso, OLD_S, span } from "../domain/time";
import { inBulletin, variableName, withUnit } from "../domain/variables";
import { goTo } from "../map/map_view";
import { ReportBox } from "../metar/report_box";
import { elsewhere, short, zoneOfStation } from "../ui/clock";
import { ToTime } from "../ui/hint";
import { Mark } from "../ui/legend_parts";
import { Skeleton, Trouble } from "../ui/states";
import { useAsked } from "../ui/use_asked";
import { word } from "../ui/words";
import { at_ms, isPlaced, language, locale, nameStation, system } from "../view";
import { ExplainPanel } from "./explain_panel";
import { Extremes } from "./extremes";
import { favourites, toggleFavourite } from "./favourites";
import { end_ms, refreshes, shown_ms } from "./network";
import { Plots, save } from "./plots";

const DAY_MS = 24 * HOUR_MS;
/** What the panel shows of a station. */
const FIELDS = "network,name,presentWeather,coordinates,elevation,altitude,updateTime,types,identifiers";

/** A station by any of its identifiers: finds it, and goes there. */
export function NamedStation({ name }: { name: string }) {
  const { answer, trouble, again } = useAsked(
    (signal) => askNamed<StationDetail>(observations(`/stations/${encodeURIComponent(name)}`), { signal }),
    [name],
  );
  useEffect(() => {
    if (!answer) return;
    const [lon, lat] = answer.of.coordinates;
    nameStation(answer.own);
    if (!isPlaced.value) goTo(lat, lon);
    isPlaced.value = true;
  }, [answer]);
  if (trouble) return <Trouble text={trouble} retry={again} />;
  return <Skeleton lines={12} />;
}

export function StationPanel({ id }: { id: string }) {
  const explained = useSignal<{ typeId: number; timestamp: string } | undefined>(undefined);
  const decoded = useSignal<{ readonly text: string } | undefined>(undefined);
  const { answer: detail, trouble, again } = useAsked(
    (signal) => askJson<StationDetail>(observations(`/stations/${id}?tz=local&fields=${FIELDS}`), { signal }),
    [id, refreshes.value],
  );
  useEffect(() => {
    if (detail?.timeZone) zoneOfStation.value = { id, zone: detail.timeZone };
  }, [detail]);
  if (trouble && !detail) return <Trouble text={trouble} retry={again} />;
  if (!detail) return <Skeleton lines={12} />;
  const [lon, lat] = detail.coordinates;
  const codes = [...new Set(Object.values(detail.identifiers ?? {}).flat())];
  const explain = (typeId: number, timestamp: string) => {
    explained.value = { typeId, timestamp };
  };
  return (
    <article>
      <header>
        <div class="named">
          <h2>{detail.name}</h2>
          <button type="button" class="star" aria-pressed={favourites.value.includes(id)} aria-label={word("favourite")} title={word("favourite")} onClick={() => toggleFavourite(id)}>
            {favourites.value.includes(id) ? "★" : "☆"}
          </button>
        </div>
        <p class="quiet">
          {[...codes, detail.network].join(" · ")} · {lat.toFixed(3)}, {lon.toFixed(3)}
          {detail.altitude !== undefined && ` · ${word("altitude")} ${withUnit(Math.round(detail.altitude), "m", system.value, locale.value)}`}
          {detail.elevation > 0 && ` · ${word("elevation")} ${withUnit(detail.elevation, "m", system.value, locale.value)}`}
        </p>
        {detail.updateTime && (
          <p class="quiet" title={elsewhere(Date.parse(detail.updateTime))}>
            {word("updated")} {short(Date.parse(detail.updateTime))}
          </p>
        )}
      </header>
      <Latest id={id} detail={detail} onExplain={explain} />
      {explained.value && <ExplainPanel stationId={id} {...explained.value} at={detail.coordinates} onClose={() => (explained.value = undefined)} />}
      <Extremes id={id} detail={detail} />
      <section>
        <h3>{word("series")}</h3>
        <Plots id={id} detail={detail} onExplain={explain} />
      </section>
      <Weather id={id} />
      <Reports id={id} decoded={decoded} />
      <ReportBox given={decoded} />
      <Bulk id={id} name={detail.name} />
    </article>
  );
}

/** The newest reading of each series at the time shown, with its verdict and its age. */
function Latest({ id, detail, onExplain }: { id: string; detail: StationDetail; onExplain: (typeId: number, timestamp: string) => void }) {
  const names = [...new Set(detail.types.map(({ name }) => name))].sort(inBulletin);
  const at = shown_ms.value;
  const { answer, trouble, again } = useAsked(
    (signal) => {
      const query = new URLSearchParams({ names: names.join(","), start: iso(at - 12 * HOUR_MS), end: iso(at) });
      return askJson<Readings>(observations(`/stations/readings?${query}`), { signal, body: { stationIds: [id] } });
    },
    [id, at, refreshes.value],
  );
  if (trouble) return <Trouble text={trouble} retry={again} />;
  if (!answer) return null;
  const readings = answer.stations[id]?.readings ?? [];
  if (readings.length === 0) {
    const newest = Date.parse(detail.updateTime ?? "");
    return (
      <p class="quiet">
        {word("noReadings")} {Number.isNaN(newest) || newest === at ? null : <ToTime time={newest} />}
      </p>
    );
  }
  const typeOf = (reading: Reading) => detail.types.find((type) => type.id === reading.typeId);
  const groupOf = (reading: Reading) => typeOf(reading)?.groupBucketName ?? "";
  // Layers of clouds from below, then by what a series stands for.
  const sorted = [...readings].sort((a, b) => inBulletin(a.type, b.type) || groupOf(a).localeCompare(groupOf(b)) || intervalOf(typeOf(a)) - intervalOf(typeOf(b)) || a.typeId - b.typeId);
  // The weather comes after wind and visibility; it is that of the newest report.
  const isNewest = Date.parse(detail.updateTime ?? "") <= at && at_ms.value === undefined && detail.presentWeather !== undefined;
  const weatherRow = isNewest ? Math.max(sorted.findIndex(({ type }) => inBulletin(type, "cloudCover") >= 0), 0) : -1;
  return (
    <section>
      <h3>{word("latest")}</h3>
      <table>
        <thead class="hidden">
          <tr>
            <th scope="col">{word("variable")}</th>
            <th scope="col">{word("value")}</th>
            <th scope="col">{word("verdict")}</th>
            <th scope="col">{word("age")}</th>
            <th scope="col">{word("explain")}</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((reading, row) => {
            const type = typeOf(reading);
            const title = variableName(reading.type, type?.prettyName ?? reading.type, language.value);
            const age_s = (at - Date.parse(reading.timestamp)) / 1000;
            const { baseQuality } = reading.quality;
            const cells = (
              <tr key={`${reading.typeId}`} class={age_s > OLD_S ? "old" : ""}>
                <th scope="row">
                  {title} <small>{type && detailOf(type)}</small>
                </th>
                <td class="number">{withUnit(reading.value, type?.reportedUnit ?? "", system.value, locale.value)}</td>
                <td title={word(baseQuality)}>
                  <Mark quality={baseQuality} />
                  <span class={baseQuality === "Good" || baseQuality === "Unknown" ? "hidden" : ""}>{word(baseQuality)}</span>
                </td>
                <td class="number quiet">{span(age_s, locale.value)}</td>
                <td>
                  <button type="button" class="link" aria-label={`${word("explain")} ${title}`} onClick={() => onExplain(reading.typeId, reading.timestamp)}>
                    {word("explain")}
                  </button>
                </td>
              </tr>
            );
            return row === weatherRow ? [<WeatherRow key="weather" words={detail.presentWeather!} />, cells] : cells;
          })}
        </tbody>
      </table>
    </section>
  );
}

/** The weather of the newest report, in the words of its source. */
function WeatherRow({ words }: { words: readonly string[] }) {
  return (
    <tr>
      <th scope="row">{word("weather")}</th>
      <td colSpan={4}>{words.length > 0 ? <span lang="en">{words.join(", ")}</span> : <span class="quiet">{word("noWeather")}</span>}</td>
    </tr>
  );
}

const intervalOf = (type: SeriesType | undefined): number => type?.intervalMinutes ?? 0;

/** What tells a series from others of its variable: its layer or other group, and the interval that it stands for. */
function detailOf({ groupBucketName, intervalType, intervalMinutes }: SeriesType): string {
  const [, layer] = /^layer (\d+)$/.exec(groupBucketName) ?? [];
  const kind = intervalType === "Average" || intervalType === "Unknown" ? "" : `${word(intervalType)} `;
  return [layer === undefined ? groupBucketName : word("cloudLayer", layer), intervalMinutes > 0 && `${kind}${intervalMinutes}\u202fmin`].filter(Boolean).join(", ");
}

/** The newest reports of the station as they came in. */
function Reports({ id, decoded }: { id: string; decoded: Signal<{ readonly text: string } | undefined> }) {
  const until_ms = end_ms.value;
  const { answer } = useAsked(
    (signal) => {
      const query = new URLSearchParams({ start: iso(until_ms - 6 * HOUR_MS), end: iso(until_ms) });
      return askJson<StationReports>(observations(`/stations/${id}/reports?${query}`), { signal });
    },
    [id, until_ms, refreshes.value],
  );
  // Some records keep no texts, and most networks have none.
  if (!answer || answer.reports.length === 0) return null;
  return (
    <section>
      <h3>{word("reports")}</h3>
      <ol class="texts">
        {answer.reports.toReversed().map(({ timestamp, header, text }) => (
          <li key={timestamp}>
            <code lang="en" title={header}>
              {text}
            </code>{" "}
            <button type="button" class="link" aria-label={`${word("decode")} ${short(Date.parse(timestamp))}`} onClick={() => (decoded.value = { text })}>
              {word("decode")}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What the reports of the station said of the weather. */
function Weather({ id }: { id: string }) {
  const until_ms = end_ms.value;
  const { answer } = useAsked(
    (signal) => {
      const query = new URLSearchParams({ stationId: id, start: iso(until_ms - 12 * HOUR_MS), end: iso(until_ms) });
      return askJson<StationWeather>(observations(`/observations/weather?${query}`), { signal });
    },
    [id, until_ms, refreshes.value],
  );
  if (!answer || answer.reports.length === 0) return null;
  return (
    <section>
      <h3>{word("weather")}</h3>
      <ol class="reports">
        {answer.reports.toReversed().map(({ timestamp, presentWeather }) => (
          <li key={timestamp}>
            <time dateTime={timestamp} title={elsewhere(Date.parse(timestamp))}>{short(Date.parse(timestamp))}</time>{" "}
            {presentWeather.length > 0 ? <span lang="en">{presentWeather.join(", ")}</span> : <span class="quiet">{word("noWeather")}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

interface Capabilities {
  readonly products: Readonly<Record<string, { readonly allowed: boolean; readonly requires: string }>>;
}

/** All that the station reported in a week, as the bulk export gives it. */
function Bulk({ id, name }: { id: string; name: string }) {
  const trouble = useSignal<string | undefined>(undefined);
  const { answer } = useAsked((signal) => askJson<Capabilities>(observations("/capabilities"), { signal }), [id]);
  const bulk = answer?.products["historical.bulk"];
  if (!bulk) return null;
  const until_ms = end_ms.value;
  const fetchIt = async (accept: string, ending: string) => {
    trouble.value = undefined;
    const query = new URLSearchParams({ start: iso(until_ms - 7 * DAY_MS), end: iso(until_ms + 60_000) });
    try {
      const bytes = await askBytes(observations(`/historical/bulk?${query}`), { body: { stationId: id }, accept, name });
      save(new Blob([bytes], { type: accept }), `${name}.${ending}`);
    } catch (error) {
      trouble.value = (error as Error).message;
    }
  };
  return (
    <section class="pressed">
      <h3>
        {word("download")} <small>{span((7 * DAY_MS) / 1000, locale.value)}</small>
      </h3>
      {bulk.allowed ? (
        <p class="row">
          <button type="button" onClick={() => void fetchIt("text/csv", "csv")}>
            {word("asCsv")}
          </button>
          <button type="button" onClick={() => void fetchIt("application/vnd.apache.parquet", "parquet")}>
            {word("asParquet")}
          </button>
        </p>
      ) : (
        <p class="quiet">
          {word("asParquet")}: {word("bulkNeeds", bulk.requires)}
        </p>
      )}
      {trouble.value && <Trouble text={trouble.value} />}
    </section>
  );
}
