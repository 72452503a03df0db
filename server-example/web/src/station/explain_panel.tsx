// Why a reading has its verdict: a sentence first, then each check with what it saw, its limit and its source.
import { useEffect, useRef } from "preact/hooks";

import { askJson, observations } from "../api/client";
import type { CheckInput, CheckReport, Explanation, Neighbour, Quality } from "../api/types";
import { isBad } from "../domain/quality";
import { short } from "../ui/clock";
import { digits, shortName, withUnit } from "../domain/variables";
import { Mark } from "../ui/legend_parts";
import { Skeleton, Trouble } from "../ui/states";
import { useAsked } from "../ui/use_asked";
import { checkName, has, word } from "../ui/words";
import { language, locale, station, system } from "../view";
import { places } from "./network";
import { figures, limitText, said, sentence } from "./verdict_sentence";

export interface ExplainProps {
  readonly stationId: string;
  readonly typeId: number;
  readonly timestamp: string;
  readonly at: readonly [number, number];
  readonly onClose: () => void;
}

export function ExplainPanel({ stationId, typeId, timestamp, at, onClose }: ExplainProps) {
  const top = useRef<HTMLElement>(null);
  const { answer, trouble, again } = useAsked(
    (signal) => {
      const query = new URLSearchParams({ stationId, typeId: String(typeId), timestamp });
      return askJson<Explanation>(observations(`/observations/explain?${query}`), { signal });
    },
    [stationId, typeId, timestamp],
  );
  useEffect(() => top.current?.focus(), [answer]);
  if (trouble && !answer) return <Trouble text={trouble} retry={again} />;
  if (!answer) return <Skeleton lines={5} />;
  const decisive = answer.checks.filter(({ outcome }) => outcome && isBad(outcome.baseQuality));
  const verdict = answer.quality ?? decisive[0]?.outcome ?? { baseQuality: "Good", reasonQuality: "None" };
  const ran = answer.checks.filter((check) => check.ran);
  const ordered = [...decisive, ...ran.filter((check) => !decisive.includes(check))];
  const idle = answer.checks.filter((check) => !check.ran);
  const behind = figures(answer, verdict as Quality, decisive[0]);
  const neighbours = answer.checks.find((check) => check.neighbours)?.neighbours ?? [];
  return (
    <section class="explain" ref={top} tabIndex={-1} aria-label={word("explanation")}>
      <h3>
        {word("explanation")}
        <button type="button" class="link" onClick={onClose}>
          {word("close")}
        </button>
      </h3>
      <p class="sentence">
        <Mark quality={verdict.baseQuality} /> {sentence(answer, verdict as Quality, decisive[0])}
      </p>
      {behind && <p>{behind}</p>}
      <p class="quiet">
        {shortName(answer.variable, language.value)} · {short(Date.parse(answer.timestamp))}
      </p>
      <ol class="chain">
        {ordered.map((check) => (
          <Check key={check.check} of={check} />
        ))}
      </ol>
      {idle.length > 0 && (
        <details>
          <summary>
            {idle.length} {word("notRun")}
          </summary>
          <ul class="quiet">
            {idle.map(({ check, notRunBecause }) => (
              <li key={check}>
                <b>{checkName(check)}</b>: <span lang="en">{notRunBecause}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {neighbours.length > 0 && <Neighbours all={neighbours} at={at} own={answer} />}
    </section>
  );
}

function Check({ of: { check, inputs, limits, outcome } }: { of: CheckReport }) {
  const sources = [...new Set(limits.map(({ source }) => source))];
  return (
    <li>
      <h4>
        {outcome && <Mark quality={outcome.baseQuality} />} {checkName(check)}
        {outcome && (
          <span class={isBad(outcome.baseQuality) ? "verdict bad" : "verdict"}>
            {word(outcome.baseQuality)}
            {outcome.reasonQuality !== "None" && `: ${word(outcome.reasonQuality)}`}
          </span>
        )}
      </h4>
      <dl>
        <dt>{word("saw")}</dt>
        <dd>{inputs.map(inputText).join(" · ")}</dd>
        {limits.length > 0 && (
          <>
            <dt>{word("limit")}</dt>
            <dd>
              {limits.map((limit) => `${termOf(limit.name)} ${limitText(limit)}`).join(" · ")}
              {sources.map((source) => (
                <small key={source} lang="en">
                  {source}
                </small>
              ))}
            </dd>
          </>
        )}
      </dl>
    </li>
  );
}

/** The name of what a check saw or holds to: a variable, or a word of the check. */
const termOf = (name: string) => (has(`term.${name}`) ? word(`term.${name}`) : shortName(name, language.value).toLocaleLowerCase(locale.value));

function inputText({ name, value, unit, timestamp }: CheckInput): string {
  const time = timestamp ? ` (${short(Date.parse(timestamp))})` : "";
  return `${termOf(name)} ${said(value, unit, name)}${time}`;
}

/** What a value on the map of the neighbours takes, in its units. */
const [TEXT_WIDTH, TEXT_HEIGHT] = [24, 9];

/** The neighbours on a map of their own, north up, and as a list that leads to them. */
function Neighbours({ all, at: [lon, lat], own }: { all: readonly Neighbour[]; at: readonly [number, number]; own: Explanation }) {
  const farthest = Math.max(...all.map(({ distanceKm }) => distanceKm), 1);
  const spot = (id: string): readonly [number, number] | undefined => {
    const place = places.value.get(id);
    if (!place) return undefined;
    const east = (place.lon - lon) * Math.cos((lat * Math.PI) / 180) * 111.2;
    return [(east / farthest) * 80, (-(place.lat - lat) * 111.2 * 80) / farthest];
  };
  // A text that would lie on another stands below its place, or is left to the list.
  const taken: (readonly [number, number])[] = [[0, 17]];
  const free = (x: number, ys: readonly number[]): number | undefined => {
    const y = ys.find((one) => taken.every(([otherX, otherY]) => Math.abs(x - otherX) > TEXT_WIDTH || Math.abs(one - otherY) > TEXT_HEIGHT));
    if (y !== undefined) taken.push([x, y]);
    return y;
  };
  const spots = all.flatMap((one) => {
    const place = spot(one.stationId);
    return place ? [{ ...one, x: place[0], y: place[1], textY: free(place[0], [place[1] - 6, place[1] + 12]) }] : [];
  });
  return (
    <>
      <h4>{word("neighbours")}</h4>
      <svg class="around" viewBox="-140 -95 280 190" role="img" aria-label={`${word("neighbours")}: ${all.length}`}>
        {[40, 80].map((radius) => (
          <circle key={radius} r={radius} class="ring" />
        ))}
        <text y={free(0, [-83, 91]) ?? -83} class="faint">
          {withUnit(Math.round(farthest), "km", system.value, locale.value, true)}
        </text>
        {spots.map(({ stationId, value, x, y, textY }) => (
          <g key={stationId}>
            <line x2={x} y2={y} />
            <circle cx={x} cy={y} r={3} />
            {textY !== undefined && (
              <text x={x} y={textY}>
                {withUnit(value, own.unit, system.value, locale.value).split("\u202f")[0]}
              </text>
            )}
          </g>
        ))}
        <circle r={5} class="own" />
        <text y={17} class="own">
          {withUnit(own.value, own.unit, system.value, locale.value)}
        </text>
      </svg>
      <table>
        <tbody>
          {all.map(({ stationId, name, distanceKm, value, standardizedDifference }) => (
            <tr key={stationId}>
              <th scope="row">
                <button type="button" class="link text" onClick={() => (station.value = stationId)}>
                  {name}
                </button>
              </th>
              <td class="number">{withUnit(distanceKm, "km", system.value, locale.value)}</td>
              <td class="number">{withUnit(value, own.unit, system.value, locale.value)}</td>
              <td class="number quiet">{standardizedDifference === undefined ? "" : `${digits(Math.round(standardizedDifference * 10) / 10, "", locale.value, false)} σ`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
