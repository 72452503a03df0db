// Runs the vectors through all entries, then decodes a tile from the wire and draws it.
import { connect } from "mesonet/client";
import { load as loadNetwork } from "mesonet/network";
import { load } from "mesonet/slim";

import { runVectors } from "/js/run_vectors.mjs";
import { report } from "/page/report.mjs";

const get = async (path) => {
  const response = await fetch(path);
  if (!response.ok) {
    throw new Error(`${path}: ${response.status}`);
  }
  return response;
};

try {
  const ran = await runVectors({
    vectors: async (name) => (await get(`/vectors/${name}`)).json(),
    async content(path) {
      const { body } = await get(`/data/${path}`);
      const unpacked = new Response(body.pipeThrough(new DecompressionStream("gzip")));
      return new Uint8Array(await unpacked.arrayBuffer());
    },
  });

  const { encoding } = await (await get("/tile.json")).json();
  const bytes = await (await get("/tile.bin")).arrayBuffer();
  const { decodeTile } = await load();
  const values = decodeTile(bytes, encoding);
  const { checkNetwork } = await loadNetwork();
  const site = { lon: -100, lat: 45 };
  const air = { variable: "airTemperature", intervalType: "Instantaneous", intervalMinutes: 0 };
  const series = [{ ...air, tsMs: Float64Array.of(0), value: Float64Array.of(140) }];
  const [[verdicts]] = checkNetwork([{ site, series }]);
  // The client against the server of this page.
  const { openapi } = await connect(location.origin).getDescription();
  draw(values, document.querySelector("canvas"));
  const present = values.filter((value) => !Number.isNaN(value));
  await report({
    ran,
    verdict: verdicts.base[0],
    openapi,
    values: { count: values.length, present: present.length, first: values[0], last: values.at(-1) },
  });
  document.querySelector("#report").textContent = JSON.stringify(window.results, null, 2);
} catch (error) {
  await report({ error: String(error?.stack ?? error) });
}

/** Blue for the least value, red for the greatest, transparent if there is none. */
function draw(values, canvas) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  let [min, max] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isNaN(value)) {
      [min, max] = [Math.min(min, value), Math.max(max, value)];
    }
  }
  values.forEach((value, at) => {
    if (!Number.isNaN(value)) {
      const heat = (value - min) / (max - min);
      image.data.set([Math.round(255 * heat), 0, Math.round(255 * (1 - heat)), 255], at * 4);
    }
  });
  context.putImageData(image, 0, 0);
}
