// A network of many stations for the explorer, as the service would answer it.

/** Ids and readings of so many stations on a lattice over the continent. */
function network(count) {
  const ids = Array.from({ length: count }, (_, at) => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`);
  const place = (at) => [-125 + (at % 125) * 0.46, 26 + Math.floor(at / 125) * 0.35];
  const features = ids.map((id, at) => ({ type: "Feature", id, geometry: { type: "Point", coordinates: place(at) }, properties: {} }));
  const readings = (time) =>
    Object.fromEntries(
      ids.map((id, at) => [
        id,
        {
          readings: [
            { timestamp: time, type: "airTemperature", typeId: 1, value: (at % 60) - 20, quality: { baseQuality: "Good", reasonQuality: "None" }, age: 0 },
          ],
        },
      ]),
    );
  /** The first of them with their values, as the service answers in GeoJSON. */
  const seen = (query) => {
    const all = features.slice(0, Number(query.get("nearest") ?? count));
    const time = query.get("end") ?? new Date().toISOString();
    return all.map((one, at) => ({ ...one, properties: { network: "test", name: one.id, time, quality: "Good", airTemperature: (at % 60) - 20 } }));
  };
  return { features, readings, seen };
}

/** Answers the page's questions for stations with a network of so many. */
export async function answerWithNetwork(page, count) {
  const { features, readings, seen } = network(count);
  await page.route("**/stations/map/markers", (route) => route.fulfill({ json: { type: "FeatureCollection", features } }));
  await page.route("**/stations/map/details*", (route) => route.fulfill({ json: {} }));
  await page.route("**/stations/readings?*", (route) => {
    const query = new URL(route.request().url()).searchParams;
    if (query.get("format") === "geojson") return route.fulfill({ json: { type: "FeatureCollection", features: seen(query) } });
    return route.fulfill({ json: { stations: readings(query.get("end")), step: Number(query.get("step")) } });
  });
}

/** Moves the map step by step; gives how long each picture of the stations took to draw and each frame from the last, ms. */
export const pan = (page, steps) =>
  page.evaluate(async (count) => {
    const { map, stations } = window.explorer;
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    stations.took_ms.length = 0;
    const frames_ms = [];
    let last = await frame();
    for (let step = 0; step < count; step += 1) {
      map.panBy([step < count / 2 ? 6 : -6, 2], { animate: false });
      const now = await frame();
      frames_ms.push(now - last);
      last = now;
    }
    await frame();
    return { drawn_ms: [...stations.took_ms], frames_ms };
  }, steps);
