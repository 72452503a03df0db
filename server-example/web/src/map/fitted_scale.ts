// The scale of the variable on the map: fixed, so that two pictures compare, or fitted to the values that are seen.
import { computed } from "@preact/signals";

import { fittedScale, type Scale } from "../domain/colour";
import { boxAround } from "../domain/mercator";
import { mapVariable } from "../domain/variables";
import { cell, columns, places } from "../station/network";
import { camera, isFitted, variable } from "../view";

/** The scale that is used now, and by the legend. That of all times of the slider: colours do not change while it plays. */
export const mapScale = computed<Scale>(() => {
  const of = columns.value;
  // What has come, until the variable that is chosen has.
  const { scale } = mapVariable(of?.names[0] ?? variable.value);
  if (!isFitted.value || !of) return scale;
  const { lat, lon, zoom } = camera.value;
  const box = boxAround(lat, lon, zoom, innerWidth, innerHeight);
  const [west, east, south, north] = [box.minLon, box.maxLon, box.minLat, box.maxLat].map(Number) as [number, number, number, number];
  const values: number[] = [];
  of.ids.forEach((id, station) => {
    const place = places.value.get(id);
    if (!place || place.lat < south || place.lat > north) return;
    // Across 180° the west is greater than the east.
    if (west <= east ? place.lon < west || place.lon > east : place.lon < west && place.lon > east) return;
    for (let at = 0; at < of.times_ms.length; at += 1) values.push(of.values[cell(of, 0, at, station)]!);
  });
  return fittedScale(scale, values);
});
