// What the first picture needs, asked for while the program of the page is on its way: what the server is, and the
// readings of the part of the map that is seen. They come with places and names, so that one answer is a picture.
import { boxAround } from "./domain/mercator";

/** Where the map is if the address does not say. */
export const CAMERA = { lat: 46, lon: -96, zoom: 4 };
export const VARIABLE = "airTemperature";
/** The variables that the map shows, in the order of the menu. */
export const MAP_NAMES = ["airTemperature", "dewPointTemperature", "windSpeed10m", "windGust10m", "mslp", "relativeHumidity", "visibility", "ceilingHeight", "precipitation"] as const;
/** The variables of the quality layer. */
export const JUDGED: readonly string[] = ["airTemperature", "dewPointTemperature", "mslp", "windSpeed10m"];

/** The variables that a layer needs of each station. */
export const namesOf = (name: string): readonly string[] => (name === "windSpeed10m" || name === "windGust10m" ? [name, "windDirection"] : [name]);

/** A reading older than this is not shown at a time. */
export const LOOKBACK_MS = 90 * 60_000;

export interface First {
  readonly index: Promise<Response>;
  readonly picture?: Picture;
}

/** Stations with their readings as GeoJSON. */
export interface Picture {
  readonly names: readonly string[];
  /** The time that is asked for; undefined is now. */
  readonly at_ms: number | undefined;
  readonly answer: Promise<Response>;
}

/** From afar so many stations, those around the middle, are the first picture: all of a continent take seconds on a slow line. */
const MOST = 500;
/** From this zoom on all stations that are seen are. */
const ALL_ZOOM = 6;

/** Asks for the readings of the part of the map that is seen; without a time for those of now. */
export function pictureQuery(names: readonly string[], { lat, lon, zoom }: typeof CAMERA, at_ms?: number): URLSearchParams {
  const query = new URLSearchParams({ format: "geojson", names: names.join(","), ...boxAround(lat, lon, zoom, innerWidth, innerHeight) });
  if (at_ms !== undefined) {
    query.set("start", new Date(at_ms - LOOKBACK_MS).toISOString());
    query.set("end", new Date(at_ms).toISOString());
  }
  if (zoom < ALL_ZOOM) {
    query.set("lat", String(lat));
    query.set("lon", String(lon));
    query.set("nearest", String(MOST));
  }
  return query;
}

/** Asks for what the address shows first. Where the service has another prefix, the picture is not had this way. */
export function askFirst(hash: string): First {
  const index = fetch("./", { headers: { accept: "application/json" } });
  // Who waits for it says what went wrong.
  index.catch(() => undefined);
  const address = new URLSearchParams(hash.replace(/^#/, ""));
  const layer = address.get("layer") ?? "stations";
  const isElsewhere = !address.has("map") && address.size > 0 && !address.has("layer");
  if (isElsewhere || (layer !== "stations" && layer !== "quality")) return { index };
  const [lat, lon, zoom] = (address.get("map") ?? "").split(",").map(Number);
  const camera = [lat, lon, zoom].every(Number.isFinite) ? { lat: lat!, lon: lon!, zoom: zoom! } : CAMERA;
  const names = layer === "quality" ? JUDGED : namesOf(MAP_NAMES.find((name) => name === address.get("variable")) ?? VARIABLE);
  const time = Date.parse(address.get("time") ?? "");
  const at_ms = Number.isNaN(time) ? undefined : time;
  const answer = fetch(`api/v1/stations/readings?${pictureQuery(names, camera, at_ms)}`);
  answer.catch(() => undefined);
  return { index, picture: { names, at_ms, answer } };
}
