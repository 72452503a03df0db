// Colours of values: the scales of the package, and how they are fitted and shown here.
import { colourOf, css, plainScale as scaleBetween, scales, type Rgb, type Scale } from "mesonet/map";

export { colourOf, css, scales, type Rgb, type Scale };

/** A scale for what has none of its own, over the values that are there. */
export const plainScale = (from: number, to: number): Scale => scaleBetween("", from, to);

/** So many values at least tell what is there. */
const ENOUGH = 8;
/** The part of the values at each end that has the colour of the end. */
const BEYOND = 0.02;

/** A scale with the same colours between whole numbers about the values that are there; itself if they are few. */
export function fittedScale(scale: Scale, values: readonly number[]): Scale {
  const known = values.filter((value) => !Number.isNaN(value) && (scale.nothingUpTo === undefined || value > scale.nothingUpTo)).sort((a, b) => a - b);
  if (known.length < ENOUGH) return scale;
  const at = (part: number) => known[Math.round((known.length - 1) * part)]!;
  const [low, high] = [at(BEYOND), at(1 - BEYOND)];
  const step = niceStep(Math.max(high - low, (scale.to - scale.from) / 100) / 8);
  const from = Math.floor(low / step) * step;
  return { ...scale, from, to: Math.max(Math.ceil(high / step) * step, from + step) };
}

/** The least of 1, 2, 5, 10, 20 … and of their tenths that is not below a step. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least * 0.999) ?? 10 * power;
}

/** Black or white, whichever is read better on a colour. */
export const inkOn = ([red, green, blue]: Rgb): string => (0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111" : "#fff");

/** The steps of a scale that a legend shows. */
export function legendStops(scale: Scale, count = 24): string[] {
  return Array.from({ length: count }, (_, at) => {
    const value = scale.from + ((at + 0.5) / count) * (scale.to - scale.from);
    return css(colourOf({ ...scale, nothingUpTo: -Infinity }, value)!);
  });
}
