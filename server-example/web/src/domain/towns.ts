// Towns of Canada and the United States by name, for the search and the map: large ones with the map, all when they are first needed.
import { signal } from "@preact/signals";
import addresses from "virtual:towns";

export interface Town {
  readonly name: string;
  /** As it is searched, with its region: "montreal, qc". */
  readonly key: string;
  /** Its province or state, two letters. */
  readonly region: string;
  readonly country: "CA" | "US";
  readonly lat: number;
  readonly lon: number;
  /** Twice the logarithm of its population to the base 2. */
  readonly size: number;
}

/** Countries, regions, names, latitudes, longitudes, sizes: each with an entry for a region. */
type Columns = readonly [
  readonly ("CA" | "US")[],
  readonly string[],
  readonly string[],
  readonly (readonly number[])[],
  readonly (readonly number[])[],
  readonly (readonly number[])[],
];

const PER_DEGREE = 50;

/** The text of a file of the page. */
async function textOf(from: string): Promise<unknown> {
  const response = await fetch(from);
  if (!response.ok) throw new Error(response.statusText);
  return response.json();
}

function read([countries, regions, names, lats, lons, sizes]: Columns): readonly Town[] {
  return regions.flatMap((region, at) => {
    let lat = 0;
    return names[at]!.split("|").map((name, town) => ({
      name,
      key: plain(`${name}, ${region}`),
      region,
      country: countries[at]!,
      lat: (lat += lats[at]![town]!) / PER_DEGREE,
      lon: lons[at]![town]! / PER_DEGREE,
      size: sizes[at]![town]!,
    }));
  });
}

/** A text without its accents, in small letters: what is typed finds Québec and Quebec alike. */
export const plain = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** All towns, in no order; empty until they have come. */
export const towns = signal<readonly Town[]>([]);
/** Towns of 100,000 people and more, which the map names from afar. */
export const largeTowns = signal<readonly Town[]>([]);
/** Provinces and states with their middle. */
export const regions = signal<readonly Region[]>([]);

export interface Region {
  readonly country: "CA" | "US";
  readonly code: string;
  readonly lat: number;
  readonly lon: number;
}

let asked: Promise<void> | undefined;

/** Loads the towns once; the search works without them, and what failed is asked again. */
export function loadTowns(): Promise<void> {
  asked ??= textOf(addresses.places)
    .then((all) => {
      towns.value = read(all as Columns);
    })
    .catch(() => {
      asked = undefined;
    });
  return asked;
}

/** Loads what the map names from afar. A map without names is a map all the same. */
export async function loadLargeTowns(): Promise<void> {
  try {
    const [large, all] = (await textOf(addresses.names)) as [Columns, ["CA" | "US", string, number, number][]];
    regions.value = all.map(([country, code, lon, lat]) => ({ country, code, lon, lat }));
    largeTowns.value = read(large);
  } catch {
    // Without names.
  }
}

/** Towns whose name has a text, the best first: the whole name, its start, the start of a word; then by size. */
export function townsCalled(text: string, most: number): readonly { readonly town: Town; readonly rank: number }[] {
  const ranked: { town: Town; rank: number }[] = [];
  for (const town of towns.value) {
    const at = town.key.indexOf(text);
    if (at < 0 || (at > 0 && !/[ -]/.test(town.key[at - 1]!))) continue;
    const isWhole = town.key === text || town.key.startsWith(`${text}, `);
    ranked.push({ town, rank: at > 0 ? 3 : isWhole ? 0 : 1 });
  }
  ranked.sort((a, b) => a.rank - b.rank || b.town.size - a.town.size || (a.town.name < b.town.name ? -1 : 1));
  return ranked.slice(0, most);
}
