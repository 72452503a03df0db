// Towns of Canada and the United States by name, for the search: loaded when it is first used.
import { computed, signal } from "@preact/signals";
import address from "virtual:places";

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
const columns = signal<Columns>([[], [], [], [], [], []]);
let asked: Promise<void> | undefined;

/** A text without its accents, in small letters: what is typed finds Québec and Quebec alike. */
export const plain = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** All towns, in no order; empty until they have come. */
export const towns = computed<readonly Town[]>(() => {
  const [countries, regions, names, lats, lons, sizes] = columns.value;
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
});

/** Loads the towns once; the search works without them, and what failed is asked again. */
export function loadTowns(): Promise<void> {
  asked ??= fetch(address)
    .then(async (response) => {
      if (!response.ok) throw new Error(response.statusText);
      columns.value = (await response.json()) as Columns;
    })
    .catch(() => {
      asked = undefined;
    });
  return asked;
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
