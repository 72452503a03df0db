// The column of plots of a station.
import { useSignal } from "@preact/signals";

import type { StationDetail } from "../api/types";
import { HOUR_MS, zoneName } from "../domain/time";
import { theme, locale } from "../view";
import { short, zone } from "../ui/clock";
import { Skeleton, Trouble } from "../ui/states";
import { useAsked } from "../ui/use_asked";
import { word } from "../ui/words";
import { mapVariable } from "../domain/variables";
import { type Forecast, forecastAt } from "./forecast";
import { end_ms, refreshes } from "./network";
import { type Curve, Plot, type Wind } from "./plot";
import { mainSeries, readSeries, type Sequence } from "./series";

const SPAN_MS = 12 * HOUR_MS;
/** A forecast is plotted so far ahead. */
const AHEAD_MS = 24 * HOUR_MS;

/** What stands in one plot; the first variable gives it its unit. */
const PLOTS: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: "temperatureAndDew", names: ["airTemperature", "dewPointTemperature"] },
  { title: "wind", names: ["windSpeed10m", "windGust10m"] },
  { title: "direction", names: ["windDirection"] },
  { title: "mslp", names: ["mslp"] },
  { title: "relativeHumidity", names: ["relativeHumidity"] },
  { title: "visibility", names: ["visibility"] },
  { title: "ceilingHeight", names: ["ceilingHeight"] },
  { title: "precipitation", names: ["precipitation"] },
  { title: "waveHeight", names: ["waveHeight"] },
  { title: "seaSurfaceTemperature", names: ["seaSurfaceTemperature"] },
];

export interface PlotsProps {
  readonly id: string;
  readonly detail: StationDetail;
  readonly onExplain: (typeId: number, timestamp: string) => void;
}

export const curveColours = () => (theme.value === "dark" ? ["#ff8a70", "#63c592", "#7db8ff"] : ["#b3331b", "#1b7a48", "#0b63b5"]);

export function Plots({ id, detail, onExplain }: PlotsProps) {
  const zoom = useSignal<[number, number] | undefined>(undefined);
  const [lon, lat] = detail.coordinates;
  const until_ms = end_ms.value || Date.parse(detail.updateTime ?? "");
  const { answer, trouble, again } = useAsked(
    async (signal) => {
      const wanted = PLOTS.map(({ title, names }) => ({
        title,
        types: names.map((name) => mainSeries(detail.types, name)).filter((type) => type !== undefined),
      })).filter(({ types }) => types.length > 0);
      const all = await Promise.all(
        wanted.map(async ({ title, types }) => ({
          title,
          sequences: await Promise.all(types.map((type) => readSeries(id, type, until_ms - SPAN_MS, until_ms, signal))),
        })),
      );
      return all
        .map(({ title, sequences }) => ({ title, sequences: sequences.filter(({ values }) => values.length > 0) }))
        .filter(({ sequences }) => sequences.length > 0);
    },
    [id, until_ms, refreshes.value],
  );
  const { answer: forecast } = useAsked((signal) => forecastAt(lat, lon, until_ms - SPAN_MS, until_ms + AHEAD_MS, signal), [id, until_ms, refreshes.value]);
  if (trouble && !answer) return <Trouble text={trouble} retry={again} />;
  if (!answer) return <Skeleton lines={12} />;
  if (answer.length === 0) return <p class="quiet">{word("noSeries")}</p>;
  const first_s = Math.min(...answer.flatMap(({ sequences }) => sequences.map(({ times_s }) => times_s[0]!)));
  const ahead_s = Math.max(...Object.values(forecast?.curves ?? {}).map(({ times_s }) => times_s.at(-1)!), until_ms / 1000);
  const range = zoom.value ?? [Math.max(first_s - 900, (until_ms - SPAN_MS) / 1000), ahead_s + 300];
  return (
    <div class="plots">
      <p class="quiet">
        {word("seriesHint")} {word("timesIn", zoneName(until_ms, locale.value, zone.value))}
      </p>
      {forecast && <p class="quiet">{word("forecast", forecast.model, short(forecast.run_ms))}</p>}
      {answer.map(({ title, sequences }) => (
        <Plot
          key={title}
          title={titleOf(title)}
          curves={curvesOf(sequences, title === "direction", forecast)}
          range_s={range as [number, number]}
          onZoom={(next) => (zoom.value = next)}
          onPick={(_, at) => onExplain(sequences[0]!.type.id, sequences[0]!.series[at]!.timestamp)}
          {...(title === "direction" && { between: [0, 360] as const })}
          {...(title === "wind" && { winds: windsOf(answer), isSouthern: lat < 0 })}
        />
      ))}
      <p class="row pressed">
        {word("download")}{" "}
        <button type="button" onClick={() => saveCsv(detail.name, answer.flatMap(({ sequences }) => sequences))}>
          {word("asCsv")}
        </button>
        <button type="button" onClick={({ currentTarget }) => savePng(currentTarget, detail.name)}>
          {word("asPng")}
        </button>
      </p>
    </div>
  );
}

function titleOf(title: string): string {
  const known = mapVariable(title);
  const label = known.name === title ? known.label[locale.value.startsWith("fr") ? "fr" : "en"] : undefined;
  return label ?? word(title);
}

const curveCache = new WeakMap<object, { readonly curves: Curve[]; readonly colour: string; readonly forecast: Forecast | undefined }>();

/** The curves of sequences, each followed by its forecast; the same object for the same sequences so that a plot is made once. */
function curvesOf(sequences: readonly Sequence[], points: boolean, forecast: Forecast | undefined): Curve[] {
  const colours = curveColours();
  const known = curveCache.get(sequences);
  if (known && known.colour === colours[0] && known.forecast === forecast) return known.curves;
  const measured = sequences.map(
    ({ type, unit, times_s, values, series }, at): Curve => ({
      label: titleOf(type.name),
      unit,
      times_s,
      values,
      verdicts: series.map(({ quality }) => quality.baseQuality),
      colour: colours[at % colours.length]!,
      points,
    }),
  );
  const ahead = sequences.flatMap(({ type }, at): Curve[] => {
    const of = forecast?.curves[type.name];
    return of ? [{ ...of, label: `${titleOf(type.name)}, ${forecast!.model}`, colour: colours[at % colours.length]!, points, isForecast: true }] : [];
  });
  const curves = [...measured, ...ahead];
  curveCache.set(sequences, { curves, colour: colours[0]!, forecast });
  return curves;
}

type Answer = readonly { readonly title: string; readonly sequences: readonly Sequence[] }[];
const windCache = new WeakMap<Answer, readonly Wind[]>();

/** The winds that have a speed and a direction of the same time. */
function windsOf(answer: Answer): readonly Wind[] {
  const known = windCache.get(answer);
  if (known) return known;
  const of = (name: string) => answer.flatMap(({ sequences }) => sequences).find(({ type }) => type.name === name);
  const [speed, direction] = [of("windSpeed10m"), of("windDirection")];
  const directions = new Map(direction?.times_s.map((time_s, at) => [time_s, direction.values[at]!]));
  const winds = (speed?.times_s ?? []).flatMap((time_s, at): Wind[] => {
    const from_deg = directions.get(time_s);
    return from_deg === undefined ? [] : [{ time_s, speed_kmh: speed!.values[at]!, from_deg }];
  });
  windCache.set(answer, winds);
  return winds;
}

/** Saves what is plotted as CSV, in the units of the series. */
function saveCsv(name: string, sequences: readonly Sequence[]): void {
  const rows = sequences.flatMap(({ type, unit, series }) =>
    series.map(({ timestamp, value, quality }) => [timestamp, type.name, value, unit, quality.baseQuality, quality.reasonQuality].join(",")),
  );
  const text = ["timestamp,variable,value,unit,quality_base,quality_reason", ...rows.sort()].join("\n");
  save(new Blob([`${text}\n`], { type: "text/csv" }), `${name}.csv`);
}

/** Saves the plots of a column as one picture. */
function savePng(button: HTMLElement, name: string): void {
  const all = [...(button.closest(".plots")?.querySelectorAll("canvas") ?? [])];
  const whole = document.createElement("canvas");
  whole.width = Math.max(...all.map(({ width }) => width), 1);
  whole.height = all.reduce((sum, { height }) => sum + height, 0);
  const context = whole.getContext("2d");
  if (!context) return;
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--panel").trim();
  context.fillRect(0, 0, whole.width, whole.height);
  let top = 0;
  for (const canvas of all) {
    context.drawImage(canvas, 0, top);
    top += canvas.height;
  }
  whole.toBlob((blob) => blob && save(blob, `${name}.png`));
}

export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replaceAll(/[^\p{L}\p{N}. -]/gu, "_");
  link.click();
  URL.revokeObjectURL(link.href);
}
