// What a model forecasts at the cell of a station, in the variables of stations.
import { askJson, modelService } from "../api/client";
import type { ModelCoverage, ModelProduct, ModelSeries } from "../api/types";
import { HOUR_MS, runStart_ms } from "../domain/time";

export interface Forecast {
  readonly model: string;
  readonly run_ms: number;
  readonly curves: Readonly<Record<string, Curve>>;
}

interface Curve {
  readonly unit: string;
  readonly times_s: readonly number[];
  readonly values: readonly number[];
}

/** The fields that stand for variables. */
const FIELDS: Readonly<Record<string, string>> = {
  airTemperature: "temperature_2m",
  dewPointTemperature: "dew_point_2m",
  relativeHumidity: "relative_humidity_2m",
  windGust10m: "wind_gust",
  mslp: "pressure_msl",
};
const WIND = ["u_wind_10m", "v_wind_10m"] as const;

/** The forecast of the newest run that has the station and any of the times; undefined if there is none that one may see. */
export async function forecastAt(lat: number, lon: number, from_ms: number, until_ms: number, signal: AbortSignal): Promise<Forecast | undefined> {
  const { models } = await askJson<{ models: Record<string, ModelCoverage> }>(modelService("models/coverage"), { signal });
  const fitting = Object.entries(models).filter(([, of]) => {
    const { minLat, maxLat, minLon, maxLon } = of.bounds;
    // A box across 180° has an east that is less than its west, or beyond 180.
    const across = (((maxLon - minLon) % 360) + 360) % 360 || 360;
    const isInside = lat >= minLat && lat <= maxLat && (((lon - minLon) % 360) + 360) % 360 <= across;
    const valid = of.forecast_hour_axis.map((hour) => runStart_ms(of.latest_run) + hour * HOUR_MS);
    return isInside && valid.some((ms) => ms >= from_ms && ms <= until_ms);
  });
  const [model, of] = fitting.sort(([, a], [, b]) => runStart_ms(b.latest_run) - runStart_ms(a.latest_run))[0] ?? [];
  if (model === undefined || !of) return undefined;
  const { products } = await askJson<{ products: ModelProduct[] }>(modelService(`models/${model}/products`), { signal });
  const wanted = [...Object.values(FIELDS), ...WIND].filter((name) => products.some((one) => one.name === name && !one.levels_hpa));
  if (wanted.length === 0) return undefined;
  const query = new URLSearchParams({ run: of.latest_run, lat: String(lat), lon: String(lon), fields: wanted.join(","), winds: "earth", from: new Date(from_ms).toISOString(), to: new Date(until_ms).toISOString() });
  const { fields } = await askJson<ModelSeries>(modelService(`models/${model}/series?${query}`), { signal });
  const curves: Record<string, Curve> = {};
  for (const [variable, name] of Object.entries(FIELDS)) {
    const known = fields[name]?.series.filter(({ value }) => value != null) ?? [];
    if (known.length > 0) curves[variable] = { unit: fields[name]!.unit, times_s: known.map(({ valid_time }) => Date.parse(valid_time) / 1000), values: known.map(({ value }) => value!) };
  }
  const [u, v] = WIND.map((name) => fields[name]);
  if (u && v) {
    const both = u.series.flatMap(({ valid_time, value }) => {
      const other = v.series.find((one) => one.valid_time === valid_time)?.value;
      return value == null || other == null ? [] : [{ time_s: Date.parse(valid_time) / 1000, east: value, north: other }];
    });
    const times_s = both.map(({ time_s }) => time_s);
    curves.windSpeed10m = { unit: u.unit, times_s, values: both.map(({ east, north }) => Math.hypot(east, north)) };
    curves.windDirection = { unit: "°", times_s, values: both.map(({ east, north }) => ((Math.atan2(-east, -north) * 180) / Math.PI + 360) % 360) };
  }
  return Object.keys(curves).length > 0 ? { model, run_ms: runStart_ms(of.latest_run), curves } : undefined;
}
