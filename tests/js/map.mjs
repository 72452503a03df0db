// Web Mercator in pixels, 256 to a tile, and the colours of a temperature map.

const SIDE = 256;

/** Returns the longitude of the centre of a pixel column of the world at a zoom. */
export const lonOf = (x, zoom) => ((x + 0.5) / (SIDE << zoom)) * 360 - 180;

/** Returns the latitude of the centre of a pixel row. */
export const latOf = (y, zoom) =>
  (Math.atan(Math.sinh(Math.PI * (1 - (2 * (y + 0.5)) / (SIDE << zoom)))) * 180) / Math.PI;

/** Returns the pixel column of a longitude. */
export const columnOf = (lon, zoom) => Math.floor(((lon + 180) / 360) * (SIDE << zoom));

/** Returns the pixel row of a latitude. */
export const rowOf = (lat, zoom) => {
  const turns = Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI;
  return Math.floor(((1 - turns) / 2) * (SIDE << zoom));
};

// From cold to warm.
const COLOURS = [
  [59, 76, 192],
  [221, 221, 221],
  [180, 4, 38],
];
const [COLDEST_K, WARMEST_K] = [260, 310];

/** Returns red, green, blue and opacity for a temperature; transparent if it is missing. */
export function colourOf(kelvin) {
  if (Number.isNaN(kelvin)) {
    return [0, 0, 0, 0];
  }
  const part = Math.min(Math.max((kelvin - COLDEST_K) / (WARMEST_K - COLDEST_K), 0), 1);
  const place = part * (COLOURS.length - 1);
  const first = Math.min(Math.floor(place), COLOURS.length - 2);
  const mixed = COLOURS[first].map((from, channel) => {
    const to = COLOURS[first + 1][channel];
    return Math.round(from + (to - from) * (place - first));
  });
  return [...mixed, 255];
}
