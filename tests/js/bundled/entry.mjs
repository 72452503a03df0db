// What a page uses, for the bundlers: an inlined entry, one that loads its WebAssembly, the client,
// and workers.
import { decodeTile } from "mesonet";
import { connect } from "mesonet/client";
import { load } from "mesonet/grids";
import { workerPool } from "mesonet/workers";

const encoding = { scale: 2, offset: 0.5, nodata: 0 };
const value = decodeTile(new Uint8Array([1, 0]), encoding)[0];
const definition = {
  ...{ rows: 73, columns: 144, projection: "lat_lon", first_lon: 0, first_lat: 90 },
  ...{ column_step: 2.5, row_step: -2.5, grid_relative_winds: false },
};
load()
  .then(async ({ nativeGrid }) => {
    const { row, column } = nativeGrid(definition).nearest({ lat: 45, lon: -75 });
    const pool = workerPool({ workers: 1 });
    const [worked] = await pool.decodeTile(new Uint8Array([1, 0]), encoding);
    const cells = (await pool.positions(definition)).lat.length;
    pool.close();
    window.results = { value, row, column, client: typeof connect("http://127.0.0.1").getIndex, worked, cells };
  })
  .catch((error) => {
    window.results = { error: String(error?.stack ?? error) };
  });
