// Requests of the tests of the model service.
import assert from "node:assert/strict";

/** Gets JSON from a path of an origin. */
export function client(origin) {
  return async (path, status = 200) => {
    const response = await fetch(origin + path);
    const body = await response.text();
    assert.equal(response.status, status, `${path}: ${body}`);
    return JSON.parse(body);
  };
}

/** Interpolates between the four cells around a place, as a bilinear tile does. */
export async function between(grid, at, valueOf) {
  const place = grid.locate(at);
  const [top, left] = [Math.floor(place.row), Math.floor(place.column)];
  const [down, right] = [place.row - top, place.column - left];
  const along = async (row) =>
    (1 - right) * (await valueOf({ row, column: left })) +
    right * (await valueOf({ row, column: left + 1 }));
  return (1 - down) * (await along(top)) + down * (await along(top + 1));
}
