// The network's quality: how readings were judged, where to look, and how old the feeds are.
import { askBytes, observations } from "../api/client";
import { QUALITIES, QUALITY_MARKS } from "../domain/quality";
import { HOUR_MS, iso } from "../domain/time";
import { mapVariable, shortName, withUnit } from "../domain/variables";
import { goTo } from "../map/map_view";
import { details, places, shown_ms, typesOfAll } from "../station/network";
import { Mark } from "../ui/legend_parts";
import { Trouble } from "../ui/states";
import { useAsked } from "../ui/use_asked";
import { word } from "../ui/words";
import { language, locale, station, system } from "../view";
import { inWorker } from "../worker_pool";
import { ByCheck } from "./by_check";
import { FeedsLink } from "./feeds_panel";

const NAMES = ["airTemperature", "dewPointTemperature", "windSpeed10m", "windGust10m", "windDirection", "mslp", "relativeHumidity", "visibility", "seaSurfaceTemperature"];
const SPAN_MS = 3 * HOUR_MS;
const MOST = 40;

/** The verdicts at the time shown, once the time of the service is known. */
export function QualityPanel() {
  return shown_ms.value > 0 ? <Verdicts at={shown_ms.value} /> : null;
}

function Verdicts({ at }: { readonly at: number }) {
  const { answer, trouble, again } = useAsked(
    async (signal) => {
      const query = new URLSearchParams({ names: NAMES.join(","), start: iso(at - SPAN_MS), end: iso(at) });
      const [body, types] = await Promise.all([
        askBytes(observations(`/stations/readings?${query}`), { signal, name: word("quality") }),
        // A value that could not be converted has another unit than its variable.
        typesOfAll(),
      ]);
      return { ...(await inWorker({ kind: "verdicts", body })), types };
    },
    [at],
  );
  return (
    <article class="quality">
      <h2>{word("quality")}</h2>
      {trouble && <Trouble text={trouble} retry={again} />}
      {answer && (
        <>
          <section>
            <h3>{word("verdicts")}</h3>
            <table class="shares">
              <thead>
                <tr>
                  <th scope="col">{word("variable")}</th>
                  <th scope="col" colSpan={2}>
                    {word("inDoubt")}
                  </th>
                  <th scope="col">{word("readingsShort")}</th>
                </tr>
              </thead>
              <tbody>
                {answer.byVariable.map(({ name, counts }) => (
                  <tr key={name}>
                    <th scope="row">{shortName(name, language.value)}</th>
                    <td class="bars">
                      <Bar counts={counts} />
                    </td>
                    <td class="number">{doubtText(counts)}</td>
                    <td class="number quiet">{total(counts).toLocaleString(locale.value)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            <p class="quiet">{word("logScale")}</p>
          </section>
          <section>
            <h3>{word("reasons")}</h3>
            {answer.byReason.length === 0 && <p class="quiet">{word(answer.byVariable.length === 0 ? "noReadingsYet" : "allGood")}</p>}
            <table>
              <tbody>
                {answer.byReason.map(({ reason, quality, name, count }) => (
                  <tr key={`${reason}${quality}${name}`}>
                    <th scope="row">
                      <Mark quality={quality} /> {word(reason)}
                    </th>
                    <td>{shortName(name, language.value)}</td>
                    <td class="number">{count}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
          {answer.worst.length > 0 && <ByCheck worst={answer.worst} />}
          <section>
            <h3>
              {word("worst")} <small>{answer.worst.length}</small>
            </h3>
            <ul class="worst">
              {answer.worst.slice(0, MOST).map(({ id, readings }) => {
                const detail = details.value.get(id);
                return (
                  <li key={id}>
                    <button
                      type="button"
                      class="text"
                      onClick={() => {
                        const where = places.value.get(id);
                        if (where) goTo(where.lat, where.lon, 7);
                        station.value = id;
                      }}
                    >
                      <Mark quality={readings[0]!.quality} />
                      <span>
                        <b>{detail?.name ?? id}</b>
                        {readings.map(({ name, value, reason, typeId }) => {
                          const unit = answer.types[id]?.types.find((type) => type.id === typeId)?.reportedUnit ?? mapVariable(name).unit;
                          return (
                            <small key={typeId}>
                              {shortName(name, language.value)} {withUnit(value, unit, system.value, locale.value)} · {word(reason)}
                            </small>
                          );
                        })}
                      </span>
                    </button>
                  </li>
                );
              })}
            </ul>
            {answer.worst.length > MOST && <p class="quiet">{word("moreStations", answer.worst.length - MOST)}</p>}
          </section>
        </>
      )}
      <FeedsLink />
    </article>
  );
}

const BAD = QUALITIES.indexOf("Good");
const total = (counts: readonly number[]) => counts.reduce((sum, one) => sum + one, 0);
/** The part of a variable's readings whose verdict is worse than Good, in percent. */
const doubt = (counts: readonly number[]) => (total(counts.slice(0, BAD)) / total(counts)) * 100;

/** The share in doubt, as a percentage with two figures that count. */
function doubtText(counts: readonly number[]): string {
  const share = doubt(counts);
  return `${share.toLocaleString(locale.value, { maximumSignificantDigits: 2 })}\u202f%`;
}

/** Powers of ten from the left to the right end of a bar: a share of one in ten thousand is seen beside one in ten. */
const [LEAST_POWER, DECADES] = [-2, 4];

/** The share in doubt as a bar whose length goes by powers of ten, parted by verdict. */
function Bar({ counts }: { counts: readonly number[] }) {
  const text = counts.map((count, at) => (count > 0 ? `${word(QUALITIES[at]!)} ${count}` : "")).filter(Boolean).join(", ");
  const bad = counts.slice(0, BAD);
  const length = Math.min(Math.max(((Math.log10(doubt(counts)) - LEAST_POWER) / DECADES) * 100, 0), 100);
  let left = 0;
  return (
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={text}>
      <title>{text}</title>
      {Array.from({ length: DECADES + 1 }, (_, at) => (
        <path key={at} class="decade" d={`M${(at * 100) / DECADES} 0v8`} />
      ))}
      {total(bad) > 0 &&
        bad.map((count, at) => {
          if (count === 0) return null;
          const quality = QUALITIES[at]!;
          const [from, width] = [left, (count / total(bad)) * length];
          left += width;
          return <rect key={quality} x={from} y={1} width={width} height={6} fill={QUALITY_MARKS[quality].colour} />;
        })}
    </svg>
  );
}
