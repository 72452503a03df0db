// Where the nearest values are when the map shows none: at another time, or at another place.
import { distanceKm } from "../domain/mercator";
import { withUnit } from "../domain/variables";
import { goTo, isInView } from "../map/map_view";
import type { Columns } from "../station/columns";
import { cell, columns, details, isWhole, latestReport_ms, places, position, shown_ms } from "../station/network";
import { at_ms, camera, locale, station, system } from "../view";
import { short } from "./clock";
import { word } from "./words";

export function Hint() {
  const of = columns.value;
  if (!of || !isWhole.value) return null;
  const reporting = reportingAt(of, Math.min(position.value, of.times_ms.length - 1));
  if (reporting.length > 0) return <Nearest ids={reporting} />;
  const latest = of.times_ms.findLast((_, at) => reportingAt(of, at).length > 0);
  const time = latest ?? latestReport_ms.value;
  return (
    <p class="hint-line">
      {word("noValues")} {time !== undefined && time !== shown_ms.value && <ToTime time={time} />}
    </p>
  );
}

/** A time that has readings, to go to. */
export function ToTime({ time }: { time: number }) {
  return (
    <button type="button" class="link" onClick={() => (at_ms.value = time)}>
      {word("latestAt", short(time))}
    </button>
  );
}

/** The station nearest to the middle of the map, where none is in it. */
function Nearest({ ids }: { ids: readonly string[] }) {
  const { lat, lon } = camera.value;
  let nearest: { id: string; km: number; lat: number; lon: number } | undefined;
  for (const id of ids) {
    const place = places.value.get(id);
    if (!place) continue;
    if (isInView(place.lat, place.lon)) return null;
    const km = distanceKm([lon, lat], [place.lon, place.lat]);
    if (!nearest || km < nearest.km) nearest = { id, km, ...place };
  }
  if (!nearest) return null;
  const { id, km, lat: ownLat, lon: ownLon } = nearest;
  return (
    <p class="hint-line">
      {word("noneInView")}{" "}
      <button
        type="button"
        class="link"
        onClick={() => {
          goTo(ownLat, ownLon, 0);
          station.value = id;
        }}
      >
        {details.value.get(id)?.name ?? word("nearest")}, {withUnit(Math.round(km), "km", system.value, locale.value, true)}
      </button>
    </p>
  );
}

/** The stations that have a value at a position. */
function reportingAt(of: Columns, at: number): readonly string[] {
  return of.ids.filter((_, station) => of.names.some((_, name) => !Number.isNaN(of.values[cell(of, name, at, station)]!)));
}
