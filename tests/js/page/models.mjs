// A map of NAM's temperature at 2 m, made only from answers of the model service, whose origin is
// in the address of the page. A click shows the value of the cell under it.
import { load as loadGrids } from "mesonet/grids";
import { load } from "mesonet/slim";

import { colourOf, columnOf, latOf, lonOf, rowOf } from "/js/map.mjs";

const [MODEL, PRODUCT, ZOOM, SIDE] = ["nam211", "temperature_2m", 3, 256];
const api = new URL(location.href).searchParams.get("api");

async function get(path) {
  const response = await fetch(`${api}/models${path}`);
  // A refusal is a string that says what is allowed.
  return response.ok ? response : Promise.reject(new Error(await response.json()));
}
const json = async (path) => (await get(path)).json();

async function show(canvas, output) {
  const [{ decodeTile }, { nativeGrid }] = await Promise.all([load(), loadGrids()]);
  const { models } = await json("/coverage");
  const { title, bounds, latest_run: run } = models[MODEL];
  const { products } = await json(`/${MODEL}/products?run=${run}`);
  const { encoding, unit } = products.find(({ name }) => name === PRODUCT);
  const grid = nativeGrid(await json(`/${MODEL}/grid?run=${run}`));
  document.querySelector("h1").textContent = title;

  const tileOf = (pixel) => Math.floor(pixel / SIDE);
  const [left, right] = [bounds.minLon, bounds.maxLon].map((lon) => tileOf(columnOf(lon, ZOOM)));
  const [top, bottom] = [bounds.maxLat, bounds.minLat].map((lat) => tileOf(rowOf(lat, ZOOM)));
  canvas.width = (right - left + 1) * SIDE;
  canvas.height = (bottom - top + 1) * SIDE;
  const context = canvas.getContext("2d");
  const tiles = [];
  for (let y = top; y <= bottom; y += 1) {
    for (let x = left; x <= right; x += 1) {
      tiles.push({ x, y });
    }
  }
  await Promise.all(
    tiles.map(async ({ x, y }) => {
      const path = `/${MODEL}/products/${PRODUCT}/data/${ZOOM}/${x}/${y}?run=${run}&hour=0`;
      const values = decodeTile(await (await get(path)).arrayBuffer(), encoding);
      const image = context.createImageData(SIDE, SIDE);
      values.forEach((value, pixel) => image.data.set(colourOf(value), 4 * pixel));
      context.putImageData(image, (x - left) * SIDE, (y - top) * SIDE);
    }),
  );

  canvas.addEventListener("click", async ({ offsetX, offsetY }) => {
    const lon = lonOf(left * SIDE + offsetX, ZOOM);
    const lat = latOf(top * SIDE + offsetY, ZOOM);
    try {
      const query = `run=${run}&hour=0&lat=${lat}&lon=${lon}&fields=${PRODUCT}`;
      const { row, col, fields } = await json(`/${MODEL}/point?${query}`);
      const cell = grid.nearest({ lat, lon });
      const same = cell.row === row && cell.column === col ? "" : " (another for the library)";
      output.textContent = `row ${row}, column ${col}${same}: ${fields[PRODUCT].value} ${unit}`;
    } catch (refused) {
      output.textContent = refused.message;
    }
  });
  return { left, top, tiles: tiles.length };
}

try {
  window.results = await show(document.querySelector("canvas"), document.querySelector("output"));
} catch (error) {
  window.results = { error: String(error?.stack ?? error) };
}
