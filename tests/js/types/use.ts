// Compiled, not run: what the types allow, and (by ts-expect-error) what they do not.
import {
  BaseQuality,
  type BaseQualityName,
  MADIS,
  MesonetError,
  type UnitResolution,
  colours,
  convert,
  decodeTile,
  dewPointC,
  encodeTile,
  planGrid,
  resample,
  resolveUnit,
  rotateWind,
  tileColours,
  toCanonical,
  worst,
} from "mesonet";
import { type AlertCollection, type AlertFunctions, type AlertState, load as loadAlerts } from "mesonet/alerts";
import { type Checks, type Explanation, load as loadChecks } from "mesonet/checks";
import { type GridDefinition, type GridFunctions, load as loadGrids } from "mesonet/grids";
import { type Client, type Readings, RateLimitError, connect } from "mesonet/client";
import { type MetarReport, type Metars, load as loadMetars } from "mesonet/metar";
import { type MetarGroups, type ReportFunctions, load as loadReport } from "mesonet/report";
import { type Network, load as loadNetwork } from "mesonet/network";
import { type Mesonet, load } from "mesonet/slim";
import { WorkerError, type WorkerPool, workerPool } from "mesonet/workers";

const name: BaseQualityName = worst(["Good", 3]);
const code: number = BaseQuality[name];
const values: Float64Array = decodeTile(new Uint8Array(2), { scale: 1, offset: 0, nodata: code });
const raw: Int16Array = encodeTile(values, { scale: 1, offset: 0, nodata: 0 });
const { u }: { u: number } = rotateWind({ cos: 1, sin: 0 }, 1, 2);
const many: Float64Array = rotateWind({ cos: values, sin: values }, values, values).v;
const slim: Promise<Mesonet> = load("/mesonet.wasm");
const error: RangeError = new MesonetError("");
const dew: number = dewPointC(20, 50);
const dews: Float64Array = dewPointC(values, 50);
const knots: number = convert(7, "kt", "km/h");
const singles: Float32Array = convert(new Float32Array(1), "kg/m²", "mm", { liquidWater: true });
const unit: UnitResolution = resolveUnit("F", "cf");
const symbol: string = unit.state === "exact" ? unit.unit : "";
const stored: Float64Array = toCanonical("windSpeed", values, "kt").values;
const letter: string | undefined = MADIS.flag("Good");
declare const checks: Checks;
const loading: Promise<Checks> = loadChecks("/checks.wasm");
const air = {
  variable: "airTemperature",
  intervalType: "Instantaneous",
  intervalMinutes: 0,
  tsMs: values,
  value: values,
} as const;
const bases: Uint8Array[] = checks.checkStation({ lon: 0, lat: 0 }, [air]).map(({ base }) => base);
const why: Explanation = checks.explain({ lon: 0, lat: 0, altitudeM: null }, [air], 0, 0, "");
const decided: BaseQualityName = why.verdict.baseQuality;
declare const grids: GridFunctions;
const loadingGrids: Promise<GridFunctions> = loadGrids("/grids.wasm");
const definition: GridDefinition = {
  rows: 73,
  columns: 144,
  projection: "lat_lon",
  first_lon: 0,
  first_lat: 90,
  column_step: 2.5,
  row_step: -2.5,
  grid_relative_winds: false,
};
const grid = grids.nativeGrid(definition);
const { row }: { row: number } = grid.nearest({ lat: 45, lon: -75 });
const rows: Uint32Array = grid.nearest({ lat: values, lon: values }).row;
const there: Float64Array = grid.position({ row: rows, column: rows }).lat;
const turned: number = rotateWind(grid.windRotation({ row, column: 0 }), 1, 2).u;
export { loadingGrids, there, turned };
export { bases, decided, loading };
export { dew, dews, knots, letter, singles, stored, symbol };
export { error, many, raw, slim, u };

const plan: number | undefined = planGrid({ startMs: 0, endMs: 1, stepMinutes: 1 }).coarsening?.factor;
const single: Float32Array = decodeTile(new Uint8Array(2), { scale: 1, offset: 0, nodata: code }, { out: new Float32Array(1) });
const cells: Float32Array = resample(new Int32Array(1), values, {
  ...{ startMs: 0, endMs: 1, stepMinutes: 1, out: { value: new Float32Array(2) } },
}).value;
const filled: Int32Array = resample(values, values, { startMs: 0, endMs: 1, stepMinutes: 1 }).reading;
const pixels: Uint8ClampedArray = tileColours({ scale: 1, offset: 0, nodata: 0 }, [
  { value: 0, rgba: [0, 0, 0, 255] },
]).paint(new Uint8Array(2));
const image = new ImageData(colours(values, []), 1);
const service: Client = connect("http://127.0.0.1", { token: () => undefined });
const readings: Promise<Readings> = service.getReadings({ names: ["windGust"], start: new Date() });
const latest = service.watch("getAlerts", { active: true }, { intervalMs: 5000 });
const newest: Promise<string | undefined> = latest.next().then(({ value }) => value?.features[0]?.id);
export { newest };
// @ts-expect-error: its answers have no tag
service.watch("getReadings", {});
const index: Promise<{ version: string }> = service.getIndex();
const limited = (error: unknown): boolean => error instanceof RateLimitError && error.status === 429;
const network: Promise<Network> = loadNetwork("/network.wasm");
export { filled, image, index, limited, network, pixels, plan, readings };

declare const files: AlertFunctions;
const loadingAlerts: Promise<AlertFunctions> = loadAlerts("/alerts.wasm");
const alerts = files.readCap(["<alert>", new Uint8Array(1)], { zones: new ArrayBuffer(1) });
const collection: AlertCollection = alerts.toGeoJSON({ atMs: 0, active: true, bbox: [0, 0, 1, 1], language: "fr" });
const outline: "Polygon" | "MultiPolygon" | undefined = collection.features[0]?.geometry?.type;
const state: AlertState["status"] | undefined = alerts.states()[0]?.status;
const codes: string[] | undefined = alerts.messages()[0]?.parts[0]?.eventCodes["SAME"];
export { codes, loadingAlerts, outline, state };

const pool: WorkerPool = workerPool({ workers: 2, mesonet: new ArrayBuffer(1), worker: () => new Worker("worker.js") });
const worked: Promise<Float64Array> = pool.decodeTile(new Uint8Array(2), { scale: 1, offset: 0, nodata: 0 }, { transfer: true });
const painted = pool.paintTile(new ArrayBuffer(2), { scale: 1, offset: 0, nodata: 0 }, [], { signal: AbortSignal.timeout(1) });
const imaged: Promise<ImageData> = painted.then((pixels) => new ImageData(pixels, 1));
const centres: Promise<Float64Array> = pool.positions(definition).then(({ lat }) => lat);
const lost: Error = new WorkerError("");
export { centres, imaged, lost, worked };

// @ts-expect-error: arrays only
pool.locate(definition, { lon: 0, lat: 0 });
// @ts-expect-error: a time is a number
alerts.states({ atMs: new Date() });
// @ts-expect-error: four sides
alerts.toGeoJSON({ bbox: [0, 0] });
declare const metars: Metars;
const loadingMetars: Promise<Metars> = loadMetars("/metar.wasm");
const report: MetarReport = metars.parseMetar("KBUF 312354Z 21014KT", { receivedMs: 0 });
const gust: number | null | undefined = report.remarks.peakWind?.speedKt;
const shown: "kt" | "m/s" | "km/h" | undefined = report.wind?.unit;
const times: Float64Array = metars.readMetars(new Uint8Array(1)).tsMs;
const groups: MetarGroups = report;
const loadingReport: Promise<ReportFunctions> = loadReport("/report.wasm");
export { groups, loadingReport };
export { gust, loadingMetars, shown, times };

// @ts-expect-error: a step is needed
planGrid({ startMs: 0, endMs: 1 });
// @ts-expect-error: four parts
tileColours({ scale: 1, offset: 0, nodata: 0 }, [{ value: 0, rgba: [0, 0, 0] }]);
// @ts-expect-error: no such variable
service.getReadings({ names: ["wind"] });
// @ts-expect-error: its id is needed
service.getStation();
// @ts-expect-error: a time is a number
metars.parseMetar("KBUF 312354Z", { receivedMs: new Date() });
// @ts-expect-error: bytes are a Uint8Array
metars.readMetars([77, 69]);
// @ts-expect-error: what is decoded is not changed
report.station = "KROC";
// @ts-expect-error: no such name
worst(["good"]);
// @ts-expect-error: not a single string
const one: BaseQualityName = worst(6);
// @ts-expect-error: single precision
encodeTile(new Float32Array(1), { scale: 1, offset: 0, nodata: 0 });
// @ts-expect-error: nodata is missing
decodeTile(new Uint8Array(2), { scale: 1, offset: 0 });
// @ts-expect-error: integers hold no values
decodeTile(new Uint8Array(2), { scale: 1, offset: 0, nodata: 0 }, { out: new Int16Array(1) });
// @ts-expect-error: one input is missing
dewPointC(20);
// @ts-expect-error: integers
convert(new Int16Array(1), "kt", "km/h");
// @ts-expect-error: no such variable
toCanonical("wind", 1, "kt");
// @ts-expect-error: no such vocabulary
resolveUnit("kt", "SWOB");
// @ts-expect-error: unknown quality name
MADIS.flag("good");
// @ts-expect-error: a table of codes is constant
BaseQuality.Good = 1;
// @ts-expect-error: no such interval type
checks.checkStation({ lon: 0, lat: 0 }, [{ ...air, intervalType: "average" }]);
// @ts-expect-error: no place
checks.checkStation({ lon: 0 }, [air]);
// @ts-expect-error: times are numbers
checks.checkStation({ lon: 0, lat: 0 }, [{ ...air, tsMs: new BigInt64Array(1) }]);
// @ts-expect-error: a cone without its parallels
grids.nativeGrid({ ...definition, projection: "lambert_conformal", radius_m: 1, origin_lat: 0 });
// @ts-expect-error: no place
grid.locate({ lat: 45 });
// @ts-expect-error: cells are whole
grid.position({ row: values, column: values });
export { one };

export type { Leaflet, LeafletMap } from "mesonet/leaflet";
export type { Field, StationCollection, Weather } from "mesonet/map";
export type { MapLibre, MapLibreMap, WeatherLayers } from "mesonet/maplibre";
