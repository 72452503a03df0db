// What a page uses, for the bundlers: an inlined entry, one that loads its WebAssembly, the client.
import { decodeTile } from "mesonet";
import { connect } from "mesonet/client";
import { load } from "mesonet/grids";

const value = decodeTile(new Uint8Array([1, 0]), { scale: 2, offset: 0.5, nodata: 0 })[0];
const definition = {
  ...{ rows: 73, columns: 144, projection: "lat_lon", first_lon: 0, first_lat: 90 },
  ...{ column_step: 2.5, row_step: -2.5, grid_relative_winds: false },
};
load()
  .then(({ nativeGrid }) => {
    const { row, column } = nativeGrid(definition).nearest({ lat: 45, lon: -75 });
    window.results = { value, row, column, client: typeof connect("http://127.0.0.1").getIndex };
  })
  .catch((error) => {
    window.results = { error: String(error?.stack ?? error) };
  });
