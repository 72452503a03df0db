// The named scales of colours: fixed, even to the eye and safe for those who see fewer colours, so that two
// maps compare. They are those of the legends of the explorer.
import type { ColourStop } from "./colour.js";
import { MesonetError } from "./error.js";
import { TO_SCALE } from "./generated/names.js";

/** Red, green and blue, from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** The colours of values between two ends; a value beyond an end has the colour of the end. */
export interface Scale {
  /** The unit of its values. */
  readonly unit: string;
  readonly from: number;
  readonly to: number;
  /** Two colours or more, at even distances from one end to the other, mixed between two of them. */
  readonly colours: readonly Rgb[];
  /** Values up to this have no colour. */
  readonly nothingUpTo?: number | undefined;
  /** Each colour fills its part without mixing. */
  readonly stepped?: boolean | undefined;
}

const hex = (text: string): readonly Rgb[] =>
  text.split(" ").map((one) => {
    const number = Number.parseInt(one, 16);
    return [number >> 16, (number >> 8) & 255, number & 255];
  });

// After F. Crameri's scientific colour maps, sampled.
const VIK = /* @__PURE__ */ hex("001261 033e7d 1e6f9d 71a8c4 c9dde7 eacebd d39774 be6533 8b2706 590008");
const BATLOW = /* @__PURE__ */ hex("faccfa fdb8a0 f1a05a c0902f 829231 4d7e4c 1c6660 114360 011959");
const HAWAII = /* @__PURE__ */ hex("8c949b 5f9aa6 3d8d84 5f8f3a 9b951d a07a20 9a5a2d 943c41 8c0273");
const CYCLE = /* @__PURE__ */ hex("5b3794 c6508c e8a23c 88a84a 3a8b94 5b3794");
const RAIN = /* @__PURE__ */ hex("d6eaf8 a6cee8 6baed6 3182bd 08519c 08306b 4a1486");
const CLEAR = /* @__PURE__ */ hex("3b2f63 5a5a93 7d8fb5 a9c1d0 dbe6ea");
const ENERGY = /* @__PURE__ */ hex("f2f0e6 fee391 fec44f fe9929 ec7014 cc4c02 8c2d04");
const RADAR = /* @__PURE__ */ hex("04e9e7 019ff4 0300f4 02fd02 01c501 008e00 fdf802 e5bc00 fd9500 fd0000 d40000 bc0000 f800fd 9854c6");

/** The scales by name. */
export const scales = {
  temperature: { unit: "°C", from: -40, to: 40, colours: VIK },
  dewPoint: { unit: "°C", from: -30, to: 28, colours: BATLOW },
  humidity: { unit: "%", from: 0, to: 100, colours: BATLOW },
  wind: { unit: "km/h", from: 0, to: 100, colours: HAWAII },
  direction: { unit: "°", from: 0, to: 360, colours: CYCLE },
  pressure: { unit: "hPa", from: 973, to: 1053, colours: VIK },
  stationPressure: { unit: "hPa", from: 750, to: 1050, colours: BATLOW },
  rain: { unit: "mm", from: 0.2, to: 30, colours: RAIN, nothingUpTo: 0.05 },
  visibility: { unit: "km", from: 0, to: 16, colours: CLEAR },
  ceiling: { unit: "m", from: 0, to: 3000, colours: CLEAR },
  energy: { unit: "J/kg", from: 0, to: 3000, colours: ENERGY, nothingUpTo: 10 },
  radar: { unit: "dBZ", from: 5, to: 75, colours: RADAR, nothingUpTo: 5, stepped: true },
} satisfies Record<string, Scale>;

/** The name of a scale. */
export type ScaleName = keyof typeof scales;

/** A scale by its name, or the one that is given. @throws {MesonetError} for an unknown name. */
export function scaleOf(given: ScaleName | Scale): Scale {
  if (typeof given !== "string") {
    return given;
  }
  if (!Object.hasOwn(scales, given)) {
    throw new MesonetError(`${JSON.stringify(given)} is not a scale; known are ${Object.keys(scales).join(", ")}`);
  }
  return scales[given];
}

/** A scale between two values, for what has none of its own. */
export function plainScale(unit: string, from: number, to: number): Scale {
  return { unit, from, to: to > from ? to : from + 1, colours: BATLOW };
}

/** The factor and the shift that take values of one unit to another one. */
type Conversion = readonly [factor: number, shift: number];

/**
 * How values of a unit become those of another: `value * factor + shift`, among the units of scales and those
 * that stations and models have for the same quantity. 1 kg/m² is 1 mm of water. Undefined if there is no way.
 */
export function conversionTo(unit: string, from: string): Conversion | undefined {
  if (unit === from) {
    return [1, 0];
  }
  for (const [own, others] of Object.entries(TO_SCALE)) {
    const [a, b] = [from, unit].map((one): Conversion | undefined => (one === own ? [1, 0] : others[one]));
    if (a && b) {
      return [a[0] / b[0], (a[1] - b[1]) / b[0]];
    }
  }
  return undefined;
}

/** The same scale in another unit. @throws {MesonetError} for a unit of another quantity. */
export function inUnit(scale: Scale, unit: string): Scale {
  const conversion = conversionTo(unit, scale.unit);
  if (conversion === undefined) {
    throw new MesonetError(`a scale of ${scale.unit} has no values of ${JSON.stringify(unit)}`);
  }
  const [factor, shift] = conversion;
  const { from, to, nothingUpTo } = scale;
  const turned = { ...scale, unit, from: from * factor + shift, to: to * factor + shift };
  return nothingUpTo === undefined ? turned : { ...turned, nothingUpTo: nothingUpTo * factor + shift };
}

/** The colour of a value in the unit of the scale; undefined for NaN and values without a colour. */
export function colourOf(scale: Scale, value: number): Rgb | undefined {
  const { from, to, colours, nothingUpTo, stepped } = scale;
  if (Number.isNaN(value) || (nothingUpTo !== undefined && value <= nothingUpTo)) {
    return undefined;
  }
  const last = colours.length - 1;
  const part = Math.min(Math.max((value - from) / (to - from), 0), 1);
  if (stepped) {
    return colours[Math.min(Math.floor(part * colours.length), last)]!;
  }
  const below = Math.min(Math.floor(part * last), last - 1);
  const [a, b] = [colours[below]!, colours[below + 1]!];
  const [least, most] = [valueAt(scale, below), valueAt(scale, below + 1)];
  const along = Math.min(Math.max((value - least) / (most - least), 0), 1);
  const mix = (channel: 0 | 1 | 2) => Math.round(a[channel] + (b[channel] - a[channel]) * along);
  return [mix(0), mix(1), mix(2)];
}

/** The value at which a colour stands alone; of a stepped scale, at which its part begins. */
const valueAt = ({ from, to, colours, stepped }: Scale, at: number): number =>
  from + ((to - from) * at) / (stepped ? colours.length : colours.length - 1);

/** A colour as CSS writes it. */
export const css = (colour: Rgb): string => `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;

/**
 * The stops of a scale, for `tileColours` and the expressions of map libraries. Two stops with the same value
 * make a sharp edge. Values without a colour are not told.
 */
export function colourStops(scale: Scale): ColourStop[] {
  const stop = (at: number, [red, green, blue]: Rgb): ColourStop => ({ value: valueAt(scale, at), rgba: [red, green, blue, 255] });
  return scale.colours.flatMap((colour, at) => (scale.stepped ? [stop(at, colour), stop(at + 1, colour)] : [stop(at, colour)]));
}

/** What a legend shows. */
export interface Legend {
  readonly unit: string;
  /** Values and their colours from the least, at even distances. */
  readonly stops: readonly { readonly value: number; readonly colour: string }[];
  /** Values up to this have no colour. */
  readonly nothingUpTo?: number | undefined;
}

/**
 * The legend of a scale.
 *
 * @param options The unit, by default that of the scale, and how many stops, by default 9 (a stepped scale has
 * the least value of each of its colours). @throws {MesonetError} for an unknown scale, and a unit of another
 * quantity.
 */
export function legend(
  scale: ScaleName | Scale,
  options: { readonly unit?: string | undefined; readonly count?: number | undefined } = {},
): Legend {
  const own = scaleOf(scale);
  const shown = inUnit(own, options.unit ?? own.unit);
  const { unit, from, to, colours, nothingUpTo, stepped } = shown;
  const count = Math.max(options.count ?? 9, 2);
  const stops = stepped
    ? colours.map((colour, at) => ({ value: valueAt(shown, at), colour: css(colour) }))
    : Array.from({ length: count }, (_, at) => {
        const value = from + ((to - from) * at) / (count - 1);
        return { value, colour: css(colourOf({ ...shown, nothingUpTo: undefined }, value)!) };
      });
  return { unit, stops, nothingUpTo };
}

/** The scales of the variables of stations. */
const OF_VARIABLES: readonly (readonly [RegExp, ScaleName])[] = [
  [/^dewPoint/, "dewPoint"],
  [/temperature|^(heatIndex|windChill)/i, "temperature"],
  [/^(peak)?wind(Speed|Gust)/i, "wind"],
  [/direction/i, "direction"],
  [/^(mslp|altimeterSetting)$/, "pressure"],
  [/^barometricPressure$/, "stationPressure"],
  [/^relativeHumidity$/, "humidity"],
  [/^(precipitation|rainfall|snowfall|snowWaterEquivalent)$/, "rain"],
  [/^visibility$/, "visibility"],
  [/^(ceiling|cloudBase)Height$/, "ceiling"],
];

/** The scale of a variable of stations; undefined if it has none of its own. */
export function scaleOfVariable(variable: string): Scale | undefined {
  const found = OF_VARIABLES.find(([names]) => names.test(variable));
  return found && scales[found[1]];
}

/** The scale of a product of a model, at a level; undefined if it has none of its own. */
export function scaleOfProduct(name: string, unit: string, level_hpa?: number): Scale | undefined {
  const found = ofProduct(name, unit, level_hpa);
  return found && conversionTo(found.unit, unit) ? found : undefined;
}

function ofProduct(name: string, unit: string, level_hpa = 1000): Scale | undefined {
  const { temperature, energy, rain, humidity } = scales;
  if (/^temperature/.test(name)) return level_hpa < 400 ? { ...temperature, from: -80 } : temperature;
  if (/^dew_?point/.test(name)) return scales.dewPoint;
  if (/humidity/.test(name)) return humidity;
  if (/gust|wind_speed/.test(name)) return scales.wind;
  if (/^[uv]_wind/.test(name)) return { ...temperature, unit: "km/h", from: -120, to: 120 };
  if (/pressure_msl/.test(name)) return scales.pressure;
  if (/^precipitation/.test(name)) return rain;
  if (/precipitable/.test(name)) return { ...humidity, unit: "mm", to: 60 };
  if (/^cape/.test(name)) return energy;
  if (/categorical/.test(name)) return { ...rain, unit: "1", from: 0, to: 1.2 };
  if (/helicity/.test(name)) return { ...energy, unit, to: 500 };
  if (unit === "dBZ") return scales.radar;
  return undefined;
}

/** The units in which people of the United States, and the SI, have what a scale has; others stay. */
const SYSTEMS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  us: { "°C": "°F", "km/h": "mph", hPa: "inHg", mm: "in", km: "mi", m: "ft" },
  si: { "°C": "K", "km/h": "m/s", hPa: "Pa", mm: "m", km: "m" },
};

/** A scale in a system of units: `metric`, `us` or `si`. */
export function inSystem(scale: Scale, units: string): Scale {
  return inUnit(scale, SYSTEMS[units]?.[scale.unit] ?? scale.unit);
}
