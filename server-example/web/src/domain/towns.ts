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

type Row = readonly ["CA" | "US", string, string, readonly number[], readonly number[], readonly number[]];

const PER_DEGREE = 50;
const rows = signal<readonly Row[]>([]);
let asked: Promise<void> | undefined;

/** A text without its accents, in small letters: what is typed finds Québec and Quebec alike. */
export const plain = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** All towns, in no order; empty until they have come. */
export const towns = computed<readonly Town[]>(() =>
  rows.value.flatMap(([country, region, names, lats, lons, sizes]) =>
    names.split("|").map((name, at) => ({
      name,
      key: plain(`${name}, ${region}`),
      region,
      country,
      lat: lats[at]! / PER_DEGREE,
      lon: lons[at]! / PER_DEGREE,
      size: sizes[at]!,
    })),
  ),
);

/** Loads the towns once; the search works without them, and what failed is asked again. */
export function loadTowns(): Promise<void> {
  asked ??= fetch(address)
    .then(async (response) => {
      if (!response.ok) throw new Error(response.statusText);
      rows.value = (await response.json()) as readonly Row[];
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
