import { signal } from "@preact/signals";

import type { Scale } from "../domain/colour";

/** The colours and unit of the product on the map. */
export const productPaint = signal<{ scale: Scale; unit: string } | undefined>(undefined);
