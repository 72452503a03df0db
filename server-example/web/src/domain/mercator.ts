// Web Mercator as a square of side 1, the corner in the north-west.

export const worldX = (lon: number): number => (lon + 180) / 360;

export function worldY(lat: number): number {
  const limited = Math.max(Math.min(lat, 85.0511), -85.0511);
  const sine = Math.sin((limited * Math.PI) / 180);
  return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
}

export const lonOf = (x: number): number => x * 360 - 180;
/** A longitude from -180 to below 180: the map goes round the world. */
export const wrapLon = (lon: number): number => ((((lon + 180) % 360) + 360) % 360) - 180;
/** The longitude of the same meridian that is nearest to another. */
export const nearLon = (lon: number, to: number): number => lon + 360 * Math.round((to - lon) / 360);
export const latOf = (y: number): number => (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI;

/** The distance between two places, km. */
export function distanceKm(a: readonly [number, number], b: readonly [number, number]): number {
  const rad = Math.PI / 180;
  const [dLat, dLon] = [(b[1] - a[1]) * rad, (b[0] - a[0]) * rad];
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(a[1] * rad) * Math.cos(b[1] * rad) * Math.sin(dLon / 2) ** 2;
  return 2 * 6371 * Math.asin(Math.sqrt(h));
}

/** West, south, east and north of places, the shorter way round the world: east may be above 180. */
export function boxOf(places: readonly (readonly number[])[]): readonly [number, number, number, number] {
  const [lons, lats] = [places.map(([lon]) => lon!), places.map(([, lat]) => lat!)];
  const least = (all: readonly number[]) => all.reduce((a, b) => Math.min(a, b));
  const most = (all: readonly number[]) => all.reduce((a, b) => Math.max(a, b));
  const turned = lons.map((lon) => (lon < 0 ? lon + 360 : lon));
  const across = most(turned) - least(turned) < most(lons) - least(lons) ? turned : lons;
  return [least(across), least(lats), most(across), most(lats)];
}

/** The box around a place that a picture of so many pixels shows, as the service is asked for it: across 180° the west is greater than the east. */
export function boxAround(lat: number, lon: number, zoom: number, width: number, height: number): Record<"minLat" | "minLon" | "maxLat" | "maxLon", string> {
  const scale = 256 * 2 ** zoom;
  const [x, y] = [worldX(lon), worldY(lat)];
  const [west, east] = width >= scale ? [-180, 180] : [wrapLon(lonOf(x - width / 2 / scale)), wrapLon(lonOf(x + width / 2 / scale))];
  const rounded = (degrees: number) => String(Math.round(degrees * 100) / 100);
  return {
    minLat: rounded(latOf(Math.min(y + height / 2 / scale, 1))),
    minLon: rounded(west),
    maxLat: rounded(latOf(Math.max(y - height / 2 / scale, 0))),
    maxLon: rounded(east),
  };
}
