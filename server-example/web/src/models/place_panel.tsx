// A place in a model: its values, its forecast series, its sounding, and the nearest station beside it.
import { askJson, modelService, observations } from "../api/client";
import type { ModelPoint, ModelProduct, ModelSeries, StationDetail } from "../api/types";
import { distanceKm } from "../domain/mercator";
import { HOUR_MS, runStart_ms } from "../domain/time";
import { digits, withUnit } from "../domain/variables";
import { details, places } from "../station/network";
import { Plot, type Curve } from "../station/plot";
import { curveColours } from "../station/plots";
import { mainSeries, readSeries } from "../station/series";
import { long } from "../ui/clock";
import { Trouble } from "../ui/states";
import { useAsked } from "../ui/use_asked";
import { word } from "../ui/words";
import { hour, locale, model, station, system } from "../view";
import { fieldName } from "./field_names";
import { coverage, products } from "./fields";
import { Sounding } from "./sounding";
import { dewPoint, type Level } from "./thermodynamics";

/** The variable of stations that a field of a model is compared with. */
const COMPARED: Readonly<Record<string, string>> = {
  temperature_2m: "airTemperature",
  relative_humidity_2m: "relativeHumidity",
  wind_gust: "windGust10m",
  pressure_msl: "mslp",
};

/** Readings farther from a run are not compared with it. */
const COMPARABLE_MS = 20 * 24 * HOUR_MS;

export function PlacePanel({ lat, lon }: { lat: number; lon: number }) {
  const of = coverage.value;
  const all = products.value;
  const names = all.map(({ name }) => name);
  const { answer, trouble, again } = useAsked(
    async (signal) => {
      if (!of || names.length === 0) return undefined;
      const query = new URLSearchParams({ run: of.latest_run, hour: String(hour.value), lat: String(lat), lon: String(lon), fields: names.join(","), winds: "earth" });
      return askJson<ModelPoint>(modelService(`models/${model.value}/point?${query}`), { signal });
    },
    [lat, lon, of?.latest_run, model.value, hour.value, names.join()],
  );
  return (
    <article>
      <header>
        <h2>
          {lat.toFixed(2)}, {lon.toFixed(2)}
        </h2>
        {answer && (
          <p class="quiet">
            {model.value} · {word("valid")} {long(Date.parse(answer.valid_time))}
          </p>
        )}
      </header>
      {trouble && <Trouble text={trouble} retry={again} />}
      {answer && !trouble && <Column point={answer} />}
      {of && of.forecast_hour_axis.length > 1 && !trouble && <Meteogram lat={lat} lon={lon} all={all} />}
      {answer && !trouble && <Surface point={answer} />}
      <Nearest lat={lat} lon={lon} />
    </article>
  );
}

/** The sounding, where the model has temperatures at levels. */
function Column({ point }: { point: ModelPoint }) {
  const temperature = point.fields.temperature;
  if (!temperature?.levels_hpa) return null;
  const at = (name: string, hPa: number) => {
    const entry = point.fields[name];
    const value = entry?.values?.[entry.levels_hpa?.indexOf(hPa) ?? -1];
    return value ?? undefined;
  };
  const ground_hPa = (point.fields.pressure_surface?.value ?? Infinity) / 100;
  const levels = temperature.levels_hpa
    .map((hPa): Level | undefined => {
      const kelvin = at("temperature", hPa);
      // Levels below the ground are extrapolated by the model.
      if (kelvin === undefined || hPa > ground_hPa) return undefined;
      const humidity = at("relative_humidity", hPa);
      return {
        hPa,
        celsius: kelvin - 273.15,
        dew: humidity === undefined ? undefined : dewPoint(kelvin - 273.15, humidity),
        u: at("u_wind", hPa),
        v: at("v_wind", hPa),
        height_m: at("geopotential_height", hPa),
      };
    })
    .filter((level) => level !== undefined)
    .sort((a, b) => b.hPa - a.hPa);
  return levels.length > 1 ? <Sounding levels={levels} /> : null;
}

/** Values of one level at the place. */
function Surface({ point }: { point: ModelPoint }) {
  const single = Object.entries(point.fields).filter(([, entry]) => entry.values === undefined);
  return (
    <section>
      <h3>{word("atPlace")}</h3>
      <table>
        <tbody>
          {single.map(([name, { unit, value }]) => (
            <tr key={name}>
              <th scope="row">{fieldName(name)}</th>
              <td class="number">{value == null ? "–" : fieldValue(name, value, unit)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A value of a field; a lifted index is a difference, which the zero of a scale does not move. */
function fieldValue(name: string, value: number, unit: string): string {
  if (name !== "lifted_index") return withUnit(value, unit, system.value, locale.value);
  return `${digits(value, "", locale.value)}\u202f${unit}`;
}

/** The fields of one level over the hours of the run, with the nearest station's readings where they overlap. */
function Meteogram({ lat, lon, all }: { lat: number; lon: number; all: readonly ModelProduct[] }) {
  const run = coverage.value?.latest_run ?? "latest";
  const single = all.filter(({ levels_hpa }) => !levels_hpa).map(({ name }) => name);
  const { answer, trouble, again } = useAsked(
    async (signal) => {
      if (single.length === 0) return undefined;
      const query = new URLSearchParams({ run, lat: String(lat), lon: String(lon), fields: single.join(","), winds: "earth" });
      const series = await askJson<ModelSeries>(modelService(`models/${model.value}/series?${query}`), { signal });
      return Promise.all(
        Object.entries(series.fields).map(async ([name, { unit, series: items }]) => {
          const known = items.filter(({ value }) => value != null);
          const curve: Curve = {
            label: model.value,
            unit,
            times_s: known.map(({ valid_time }) => Date.parse(valid_time) / 1000),
            values: known.map(({ value }) => value!),
            colour: curveColours()[2]!,
          };
          const beside = await observed(name, lat, lon, curve.times_s, signal);
          return { name, curves: beside ? [curve, beside] : [curve] };
        }),
      );
    },
    [lat, lon, run, model.value, single.join()],
  );
  if (trouble) return <Trouble text={trouble} retry={again} />;
  if (!answer) return null;
  return (
    <section>
      <h3>{word("meteogram")}</h3>
      <div class="plots">
        {answer
          .filter(({ curves }) => curves[0]!.values.length > 1)
          .map(({ name, curves }) => (
            <Plot key={name} title={fieldName(name)} curves={curves} range_s={[curves[0]!.times_s[0]!, curves[0]!.times_s.at(-1)!]} height={130} />
          ))}
      </div>
    </section>
  );
}

/** Readings of the nearest station during a forecast, if it has any. */
async function observed(name: string, lat: number, lon: number, times_s: readonly number[], signal: AbortSignal): Promise<Curve | undefined> {
  const near = nearest(lat, lon);
  const variable = COMPARED[name];
  if (!near || !variable || times_s.length < 2) return undefined;
  try {
    const { name: label, types } = await askJson<StationDetail>(observations(`/stations/${near.id}`), { signal });
    const type = mainSeries(types, variable);
    if (!type) return undefined;
    const own = await readSeries(near.id, type, times_s[0]! * 1000 - HOUR_MS, times_s.at(-1)! * 1000 + HOUR_MS, signal);
    if (own.values.length === 0) return undefined;
    return { label, unit: own.unit, times_s: own.times_s, values: own.values, colour: curveColours()[0]!, dashed: true };
  } catch {
    // Beyond the lookback of the plan: the forecast stands alone.
    return undefined;
  }
}

function nearest(lat: number, lon: number): { id: string; km: number } | undefined {
  let best: { id: string; km: number } | undefined;
  for (const [id, place] of places.value) {
    if (Math.abs(place.lat - lat) > 4 || !details.value.has(id)) continue;
    const km = distanceKm([lon, lat], [place.lon, place.lat]);
    if (!best || km < best.km) best = { id, km };
  }
  return best && best.km < 300 ? best : undefined;
}

const day = (time: number) => new Date(time).toLocaleDateString(locale.value, { timeZone: "UTC", dateStyle: "long" });

/** The nearest station, and whether its readings are of the time of the model. */
function Nearest({ lat, lon }: { lat: number; lon: number }) {
  const near = nearest(lat, lon);
  const detail = near && details.value.get(near.id);
  if (!near || !detail) return null;
  const reported_ms = Date.parse(detail.updateTime ?? "");
  const run_ms = coverage.value ? runStart_ms(coverage.value.latest_run) : NaN;
  const isOfOtherTime = Math.abs(reported_ms - run_ms) > COMPARABLE_MS;
  return (
    <section>
      <h3>{word("besides")}</h3>
      <p>
        <button type="button" class="link text" onClick={() => (station.value = near.id)}>
          {detail.name}
        </button>{" "}
        {withUnit(near.km, "km", system.value, locale.value)}
      </p>
      {isOfOtherTime && <p class="quiet">{word("besidesNone", day(reported_ms), day(run_ms))}</p>}
    </section>
  );
}
