// A field of a model: which run, hour and level, in which colours, and its tiles.
import type { Client, ModelCoverage, ModelProduct, RequestOptions, RunDetail } from "./client.js";
import { MesonetError } from "./error.js";
import { type FieldTile, type Painting, SIDE, type TileCache, painted } from "./map_tiles.js";
import type { Box } from "./map_view.js";
import {
  type Legend,
  type Scale,
  type ScaleName,
  conversionTo,
  inSystem,
  legend,
  plainScale,
  scaleOf,
  scaleOfProduct,
} from "./scales.js";

/** Which field is shown, by the parameters of the service, and in which colours. */
export interface FieldOptions {
  /** The name of the model, such as `nam211`. */
  readonly model: string;
  /** The name of the product, such as `temperature_2m`. */
  readonly product: string;
  /** A run; by default the latest, or with `valid` the latest that has that time. */
  readonly run?: string | undefined;
  /** The index of an hour of the run; by default 0. */
  readonly hour?: number | undefined;
  /** A valid time in place of `hour`. */
  readonly valid?: Date | string | undefined;
  /** The pressure of a product that has levels; by default the level nearest to 500 hPa. */
  readonly level_hpa?: number | undefined;
  /** The member of an ensemble. */
  readonly member?: number | undefined;
  /** The colours; by default those that the explorer has for the product, else a scale over its values. */
  readonly scale?: ScaleName | Scale | undefined;
}

/** A field of a model. Everything that its tiles are made of is fixed, so they never change. */
export interface Field {
  readonly title: string;
  /** The credit that the data must carry. */
  readonly attribution: string;
  readonly run: string;
  readonly hour: number;
  /** The time for which the field is. */
  readonly validTime: Date;
  /** The valid times of all hours of the run, by their index. */
  readonly validTimes: readonly Date[];
  readonly level_hpa: number | undefined;
  /** The colours, in the unit in which the values are shown. */
  readonly scale: Scale;
  readonly legend: Legend;
  /** The box around the cells. */
  readonly bounds: Box;
  /** The zoom beyond which tiles only repeat the cells: larger ones may be made of it. */
  readonly maxZoom: number;
  /**
   * A tile of Web Mercator. The service samples its pixels, bilinear or nearest, as `/models/{model}/products` says.
   *
   * @throws {ServiceError} if the service refuses it, and the reason of the signal.
   */
  tile(z: number, x: number, y: number, request?: RequestOptions): Promise<FieldTile>;
}

export async function fieldOf(
  service: Client,
  cache: TileCache,
  units: string,
  options: FieldOptions,
  request: RequestOptions,
): Promise<Field> {
  const { model, product: name, member } = options;
  const [{ models }, { details }] = await Promise.all([
    service.getModelCoverage({}, request),
    service.listModelRuns({ model }, request),
  ]);
  const coverage = models[model];
  const detail = runOf(details, options);
  if (coverage === undefined || detail === undefined) {
    throw new MesonetError(`the model ${JSON.stringify(model)} has no run ${options.run ?? ""}`.trimEnd());
  }
  const { run, forecast_hour_axis: axis } = detail;
  const validTimes = axis.map((hours) => new Date(startMs(run) + hours * HOUR_MS));
  const hour = hourOf(validTimes, options);
  const { products } = await service.listModelProducts({ model, run }, request);
  const product = products.find((one) => one.name === name);
  if (product === undefined) {
    throw new MesonetError(`the model ${model} has no product ${JSON.stringify(name)}; known are ${products.map((one) => one.name).join(", ")}`);
  }
  const level_hpa = levelOf(product, options.level_hpa);
  const fixed = { model, name, run, hour, ...(level_hpa !== undefined && { level_hpa }), ...(member !== undefined && { member }) };
  const ask = (z: number, x: number, y: number, { signal }: RequestOptions) =>
    service.getModelTile({ ...fixed, z, x, y }, { signal });

  const given = options.scale === undefined ? scaleOfProduct(name, product.unit, level_hpa) : scaleOf(options.scale);
  const own = given ?? (await scaleOfValues(product, await ask(0, 0, 0, request)));
  const scale = inSystem(own, units);
  const conversion = conversionTo(scale.unit, product.unit);
  if (conversion === undefined) {
    throw new MesonetError(`a scale of ${scale.unit} has no values of ${name}, which are in ${product.unit}`);
  }
  const { scale: step, offset, nodata } = product.encoding;
  const painting: Painting = { encoding: { scale: step, offset, nodata }, conversion, scale };
  const key = JSON.stringify([fixed, painting]);
  const { minLon, minLat, maxLon, maxLat } = coverage.bounds;
  return Object.freeze<Field>({
    title: product.title ?? coverage.title,
    attribution: coverage.attribution ?? "",
    run,
    hour,
    validTime: validTimes[hour]!,
    validTimes,
    level_hpa,
    scale,
    legend: legend(scale),
    bounds: [minLon, minLat, maxLon, maxLat],
    maxZoom: maxZoomOf(coverage),
    async tile(z, x, y, own = {}) {
      own.signal?.throwIfAborted();
      const at = `${key} ${z}/${x}/${y}`;
      const known = cache.tile(at);
      if (known !== undefined) {
        return known;
      }
      const made = painted(await ask(z, x, y, own), painting, cache.table(painting));
      cache.keep(at, made);
      return made;
    },
  });
}

const HOUR_MS = 3_600_000;

/** The start of a run, from its stamp. */
function startMs(run: string): number {
  return Date.parse(run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}

/** The run that is named, else the latest that has the time. */
function runOf(details: readonly RunDetail[], { run = "latest", valid }: FieldOptions): RunDetail | undefined {
  if (run !== "latest") {
    return details.find((one) => one.run === run);
  }
  const timeMs = valid === undefined ? undefined : new Date(valid).getTime();
  const has = ({ run, forecast_hour_axis: axis, published_hours: published }: RunDetail) =>
    published.some((hour) => startMs(run) + axis[hour]! * HOUR_MS === timeMs);
  return (timeMs === undefined ? undefined : details.find(has)) ?? details[0];
}

function hourOf(validTimes: readonly Date[], { hour = 0, valid }: FieldOptions): number {
  const range = validTimes.length === 0 ? "none" : [validTimes[0]!, validTimes.at(-1)!].map((one) => one.toISOString()).join(" to ");
  if (valid !== undefined) {
    const timeMs = new Date(valid).getTime();
    const at = validTimes.findIndex((one) => one.getTime() === timeMs);
    if (at < 0) {
      throw new MesonetError(`no hour of the run is valid at ${String(valid)}; they are ${range}`);
    }
    return at;
  }
  if (!Number.isInteger(hour) || validTimes[hour] === undefined) {
    throw new MesonetError(`hour must be an integer from 0 to ${validTimes.length - 1}; got ${hour}`);
  }
  return hour;
}

/** The level that is asked for, else the one nearest to 500 hPa. */
function levelOf({ name, levels_hpa }: ModelProduct, wanted: number | undefined): number | undefined {
  if (levels_hpa === null) {
    return undefined;
  }
  if (wanted !== undefined && !levels_hpa.includes(wanted)) {
    throw new MesonetError(`${name} has no level of ${wanted} hPa; its levels are ${levels_hpa.join(", ")}`);
  }
  const distance = (level: number) => Math.abs(level - 500);
  return wanted ?? levels_hpa.reduce((best, level) => (distance(level) < distance(best) ? level : best));
}

/** A scale over the values of the tile of the whole world. */
async function scaleOfValues({ encoding: { scale, offset, nodata }, unit }: ModelProduct, body: ArrayBuffer): Promise<Scale> {
  let [least, greatest] = [Infinity, -Infinity];
  for (const raw of new Int16Array(body)) {
    if (raw !== nodata) {
      const value = raw * scale + offset;
      [least, greatest] = [Math.min(least, value), Math.max(greatest, value)];
    }
  }
  return least <= greatest ? plainScale(unit, least, greatest) : plainScale(unit, 0, 1);
}

/** Pixels of a cell from which larger tiles show nothing new. */
const PIXELS_PER_CELL = 8;

function maxZoomOf({ bounds: { minLat, maxLat, minLon, maxLon }, nx, ny, max_zoom }: ModelCoverage): number {
  const width = (((maxLon - minLon) % 360) + 360) % 360 || 360;
  const cell = Math.min(width / nx, (maxLat - minLat) / ny);
  const zoom = Math.ceil(Math.log2((360 * PIXELS_PER_CELL) / (SIDE * cell)));
  return Math.min(Math.max(zoom, 1), max_zoom);
}
