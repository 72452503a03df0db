/**
 * What a map shows of the service, for any map library: tiles of model fields in colour, stations and alerts as
 * GeoJSON with their colours, and legends. `mesonet/maplibre` and `mesonet/leaflet` are made of it. It loads no
 * WebAssembly.
 *
 * @example
 * import { weather } from "mesonet/map";
 * const source = weather("http://127.0.0.1:8080");
 * const field = await source.field({ model: "nam211", product: "temperature_2m" });
 * const { pixels } = await field.tile(3, 1, 3);
 */
import { integer, refuseOptions } from "./check.js";
import { type Client, type ClientOptions, type RequestOptions, connect } from "./client.js";
import { MesonetError } from "./error.js";
import { type Field, type FieldOptions, fieldOf } from "./map_field.js";
import {
  type AlertCollection,
  type AlertOptions,
  type StationCollection,
  type StationOptions,
  alertsOf,
  stationsOf,
} from "./map_features.js";
import { TileCache } from "./map_tiles.js";
import type { Box } from "./map_view.js";

export { ServiceError } from "./client.js";
export { MesonetError } from "./error.js";
export type { Client, ClientOptions, RequestOptions } from "./client.js";
export type { ColourStop } from "./colour.js";
export type { Field, FieldOptions } from "./map_field.js";
export type {
  AlertCollection,
  AlertMapFeature,
  AlertOptions,
  StationCollection,
  StationFeature,
  StationOptions,
} from "./map_features.js";
export type { FieldTile } from "./map_tiles.js";
export type { Box } from "./map_view.js";
export type { Legend, Rgb, Scale, ScaleName } from "./scales.js";
export { ALERT_COLOURS } from "./map_features.js";
export { colourOf, colourStops, css, inUnit, legend, plainScale, scaleOfProduct, scaleOfVariable, scales } from "./scales.js";

/** How the weather is shown. */
export interface WeatherOptions extends ClientOptions {
  /** The units of values, labels and legends; by default `metric`. */
  readonly units?: "metric" | "us" | "si" | undefined;
  /** The language of alerts and labels; by default `en`. */
  readonly lang?: "en" | "fr" | undefined;
  /** How many bytes of tiles are kept for the next look; by default 64 MiB. A tile takes 384 KiB. */
  readonly cacheBytes?: number | undefined;
}

/** The weather of a service. All functions reject with a `ServiceError`, whose message is the sentence of the server. */
export interface Weather {
  /** The client that asks. */
  readonly service: Client;
  /** A field of a model, of which tiles are made. */
  field(options: FieldOptions, request?: RequestOptions): Promise<Field>;
  /** The latest values of a variable at the stations, in a box or everywhere. */
  stations(options: StationOptions, request?: RequestOptions & { readonly box?: Box | undefined }): Promise<StationCollection>;
  /** The alerts with an outline, the gravest last, so that it is drawn on top. */
  alerts(options?: AlertOptions, request?: RequestOptions): Promise<AlertCollection>;
}

/**
 * The weather of a service at an address, or asked by a client that you have.
 *
 * @throws {TypeError} for an invalid address. @throws {MesonetError} for options that are not allowed.
 */
export function weather(service: string | URL | Client, options: WeatherOptions = {}): Weather {
  const { units = "metric", lang = "en", cacheBytes = 64 * 2 ** 20, ...own } = options;
  oneOf(units, "units", ["metric", "us", "si"]);
  oneOf(lang, "lang", ["en", "fr"]);
  const isAddress = typeof service === "string" || service instanceof URL;
  if (!isAddress) {
    refuseOptions(own, "client");
  }
  const client = isAddress ? connect(service, own) : service;
  const tiles = new TileCache(integer(cacheBytes, "cacheBytes", 0, Number.MAX_SAFE_INTEGER));
  return Object.freeze<Weather>({
    service: client,
    field: (given, request = {}) => fieldOf(client, tiles, units, given, request),
    stations: (given, request = {}) => stationsOf(client, { units, lang }, given, request),
    alerts: (given = {}, request = {}) => alertsOf(client, lang, given, request),
  });
}

function oneOf(value: string, what: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) {
    throw new MesonetError(`${what} must be one of ${allowed.join(", ")}; got ${JSON.stringify(value)}`);
  }
}
