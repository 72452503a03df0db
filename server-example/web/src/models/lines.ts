// Lines of equal value of a grid.
import { contours } from "d3-contour";

export interface Line {
  readonly value: number;
  /** Places of Mercator, in pieces. */
  readonly pieces: readonly (readonly (readonly [number, number])[])[];
}

/** Lines at whole steps, without the edge of the grid and of what has no values, which are no lines. */
export function linesOf(grid: Float32Array, width: number, height: number, step: number, toWorld: (x: number, y: number) => readonly [number, number]): Line[] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of grid) {
    if (Number.isNaN(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const values = Array.from({ length: Math.max(Math.floor(high / step) - Math.ceil(low / step) + 1, 0) || 0 }, (_, at) => (Math.ceil(low / step) + at) * step);
  const has = (x: number, y: number) => x >= 0 && y >= 0 && x < width && y < height && !Number.isNaN(grid[y * width + x]!);
  // A point of a line lies between the centres of two cells, at 0.5, 1.5 …; beside one without a value it is at the other's.
  const isInside = ([x, y]: readonly [number, number]) => {
    const [left, top, right, bottom] = [Math.floor(x - 0.5), Math.floor(y - 0.5), Math.ceil(x - 0.5), Math.ceil(y - 0.5)];
    if (left !== right || top !== bottom) return has(left, top) && has(right, bottom);
    return has(left - 1, top) && has(left + 1, top) && has(left, top - 1) && has(left, top + 1);
  };
  return contours()
    .size([width, height])
    .thresholds(values)(grid as unknown as number[])
    .map(({ value, coordinates }) => ({
      value,
      pieces: coordinates.flat().flatMap((ring) => {
        const pieces: (readonly [number, number])[][] = [[]];
        for (const point of ring as [number, number][]) {
          if (isInside(point)) pieces.at(-1)!.push(toWorld(...point));
          else if (pieces.at(-1)!.length > 0) pieces.push([]);
        }
        return pieces.filter((piece) => piece.length > 1);
      }),
    }));
}
