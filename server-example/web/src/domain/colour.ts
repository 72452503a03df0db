// Colours of values: fixed scales that are even to the eye and safe for those who see fewer colours, so
// that two pictures compare.

export type Rgb = readonly [number, number, number];

/** A scale between two values; a value beyond its ends has the colour of the end. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly stops: readonly Rgb[];
  /** Values up to this have no colour. */
  readonly nothingUpTo?: number;
  /** Each stop fills its part, without mixing. */
  readonly stepped?: boolean;
}

const hex = (text: string): readonly Rgb[] =>
  text.split(" ").map((one) => {
    const number = Number.parseInt(one, 16);
    return [number >> 16, (number >> 8) & 255, number & 255] as const;
  });

// After F. Crameri's scientific colour maps, sampled.
const VIK = hex("001261 033e7d 1e6f9d 71a8c4 c9dde7 eaceBD d39774 be6533 8b2706 590008");
const BATLOW = hex("faccfa fdb8a0 f1a05a c0902f 829231 4d7e4c 1c6660 114360 011959".toLowerCase());
const HAWAII = hex("8c949b 5f9aa6 3d8d84 5f8f3a 9b951d a07a20 9a5a2d 943c41 8c0273");
const RAIN = hex("d6eaf8 a6cee8 6baed6 3182bd 08519c 08306b 4a1486");
const CLEAR = hex("3b2f63 5a5a93 7d8fb5 a9c1d0 dbe6ea");
const ENERGY = hex("f2f0e6 fee391 fec44f fe9929 ec7014 cc4c02 8c2d04");
const RADAR = hex("04e9e7 019ff4 0300f4 02fd02 01c501 008e00 fdf802 e5bc00 fd9500 fd0000 d40000 bc0000 f800fd 9854c6");

export const scales = {
  temperature: { from: -40, to: 40, stops: VIK },
  humidity: { from: 0, to: 100, stops: BATLOW },
  dewPoint: { from: -30, to: 28, stops: BATLOW },
  wind: { from: 0, to: 100, stops: HAWAII },
  direction: { from: 0, to: 360, stops: hex("5b3794 c6508c e8a23c 88a84a 3a8b94 5b3794") },
  pressure: { from: 973, to: 1053, stops: VIK },
  stationPressure: { from: 750, to: 1050, stops: BATLOW },
  rain: { from: 0.2, to: 30, stops: RAIN, nothingUpTo: 0.05 },
  visibility: { from: 0, to: 16, stops: CLEAR },
  ceiling: { from: 0, to: 3000, stops: CLEAR },
  energy: { from: 0, to: 3000, stops: ENERGY, nothingUpTo: 10 },
  radar: { from: 5, to: 75, stops: RADAR, nothingUpTo: 5, stepped: true },
} satisfies Record<string, Scale>;

/** A scale for what has none of its own, over the values that are there. */
export function plainScale(from: number, to: number): Scale {
  return { from, to: to > from ? to : from + 1, stops: BATLOW };
}

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

/** The colour of a value; undefined if it has none. */
export function colourOf(scale: Scale, value: number): Rgb | undefined {
  if (Number.isNaN(value) || (scale.nothingUpTo !== undefined && value <= scale.nothingUpTo)) return undefined;
  const part = Math.min(Math.max((value - scale.from) / (scale.to - scale.from), 0), 1);
  const { stops } = scale;
  if (scale.stepped) return stops[Math.min(Math.floor(part * stops.length), stops.length - 1)];
  const place = part * (stops.length - 1);
  const first = Math.min(Math.floor(place), stops.length - 2);
  const [a, b] = [stops[first]!, stops[first + 1]!];
  const mix = (channel: 0 | 1 | 2) => Math.round(a[channel] + (b[channel] - a[channel]) * (place - first));
  return [mix(0), mix(1), mix(2)];
}

/** Black or white, whichever is read better on a colour. */
export const inkOn = ([red, green, blue]: Rgb): string => (0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111" : "#fff");

export const css = ([red, green, blue]: Rgb): string => `rgb(${red},${green},${blue})`;

/** The steps of a scale that a legend shows. */
export function legendStops(scale: Scale, count = 24): string[] {
  return Array.from({ length: count }, (_, at) => {
    const value = scale.from + ((at + 0.5) / count) * (scale.to - scale.from);
    return css(colourOf({ ...scale, nothingUpTo: -Infinity }, value)!);
  });
}
