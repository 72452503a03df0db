// The raster products that the service has files of, and the one that is on the map.
import { computed, signal } from "@preact/signals";

import { askJson, observations } from "../api/client";
import type { ProductListing } from "../api/types";
import { plainScale, scales, type Scale } from "../domain/colour";
import { productFile } from "../view";

export interface ProductFile {
  /** Its product and its time, as the address of the page has them. */
  readonly key: string;
  /** What files of other times of the same product have too. */
  readonly series: string;
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly scale: number;
  readonly offset: number;
  readonly nodata: number;
  /** The value where a radar sees no echo. */
  readonly noEcho: number | undefined;
  readonly duration: string | undefined;
  readonly timestamp: string;
}

export const files = signal<readonly ProductFile[] | undefined>(undefined);
export const file = computed(() => files.value?.find(({ key }) => key === productFile.value) ?? files.value?.[0]);
/** The files of the same product, one for each time, the oldest first. */
export const filesBeside = computed(() => {
  const of = file.value;
  const all = files.value?.filter(({ series }) => series === of?.series) ?? [];
  return all.sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
});
/** The newest file of each product. */
export const newestFiles = computed(() => {
  const newest = new Map<string, ProductFile>();
  for (const one of files.value ?? []) {
    const known = newest.get(one.series);
    if (!known || known.timestamp < one.timestamp) newest.set(one.series, one);
  }
  return [...newest.values()];
});

/** The colours and the unit of the product on the map. */
export const productPaint = computed((): { scale: Scale; unit: string; noEcho: number | undefined } | undefined => {
  const of = file.value;
  return of && { scale: colours(of), unit: of.unit, noEcho: of.noEcho };
});

export async function loadFiles(): Promise<void> {
  const { products } = await askJson<ProductListing>(observations("/products"));
  files.value = Object.entries(products).flatMap(([name, { durations, title, unit, scale, offset, nodata, noEcho }]) =>
    durations.flatMap(({ duration, timestamps }) =>
      timestamps.map((timestamp) => {
        const series = [name, duration].filter(Boolean).join(" ");
        return { key: `${series} ${timestamp}`, series, name, title, unit, scale, offset, nodata, noEcho, duration, timestamp };
      }),
    ),
  );
}

export function addressOf({ name, duration, timestamp }: ProductFile): string {
  const query = new URLSearchParams({ timestamp, ...(duration !== undefined && { duration }) });
  return observations(`/products/${name}?${query}`);
}

function colours({ unit, name }: ProductFile): Scale {
  if (unit === "dBZ") return scales.radar;
  if (unit === "mm" || unit === "mm/h") return /hail/i.test(name) ? { ...scales.energy, from: 0, to: 75, nothingUpTo: 1 } : scales.rain;
  if (unit === "km") return { ...scales.energy, from: 0, to: 18, nothingUpTo: 0.1 };
  return { ...plainScale(0, 80), nothingUpTo: 0 };
}
