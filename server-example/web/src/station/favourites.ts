// The stations that a user keeps: in the browser, and nowhere else.
import { signal } from "@preact/signals";

import { isStationId } from "../domain/station_id";

const KEY = "mesonet.favourites";
const MOST = 50;

function stored(): readonly string[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(all) ? all.filter((one): one is string => typeof one === "string" && isStationId(one)).slice(0, MOST) : [];
  } catch {
    return [];
  }
}

/** Their ids, the newest first. */
export const favourites = signal<readonly string[]>(stored());

/** Keeps a station, or no longer. */
export function toggleFavourite(id: string): void {
  // Another tab may have changed them since.
  const others = stored().filter((one) => one !== id);
  favourites.value = favourites.value.includes(id) ? others : [id, ...others].slice(0, MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(favourites.value));
  } catch {
    // A browser that keeps nothing: they last as long as the page.
  }
}
