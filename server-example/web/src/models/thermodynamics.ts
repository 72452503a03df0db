// What a sounding needs: saturation, dry and moist ascent, after Bolton (1980).

const KELVIN = 273.15;
const R_CP = 0.2854;
const EPSILON = 0.622;

/** Saturation vapour pressure over water at a temperature in °C, hPa. */
export const saturation_hPa = (celsius: number): number => 6.112 * Math.exp((17.67 * celsius) / (celsius + 243.5));

/** Dew point of a temperature in °C with a relative humidity in %, °C. */
export function dewPoint(celsius: number, humidity_pct: number): number {
  const ratio = Math.log((saturation_hPa(celsius) * Math.max(humidity_pct, 0.1)) / 100 / 6.112);
  return (243.5 * ratio) / (17.67 - ratio);
}

/** Temperature in °C of dry air that was so warm at another pressure. */
export const dryAscent = (celsius: number, from_hPa: number, to_hPa: number): number =>
  (celsius + KELVIN) * (to_hPa / from_hPa) ** R_CP - KELVIN;

/** Mixing ratio in g/kg of air with a dew point. */
export function mixingRatio(dew_celsius: number, hPa: number): number {
  const vapour = saturation_hPa(dew_celsius);
  return (1000 * EPSILON * vapour) / (hPa - vapour);
}

/** Dew point in °C of air with a mixing ratio in g/kg. */
export function dewPointOfRatio(ratio: number, hPa: number): number {
  const vapour = (hPa * ratio) / (1000 * EPSILON + ratio);
  const log = Math.log(vapour / 6.112);
  return (243.5 * log) / (17.67 - log);
}

/** Temperature in °C at which rising air of this temperature and dew point is saturated. */
export function condensation(celsius: number, dew_celsius: number): number {
  const [t, d] = [celsius + KELVIN, dew_celsius + KELVIN];
  return 1 / (1 / (d - 56) + Math.log(t / d) / 800) + 56 - KELVIN;
}

/** Change of the temperature of saturated air with pressure, K/hPa. */
function moistSlope(celsius: number, hPa: number): number {
  const t = celsius + KELVIN;
  const ratio = mixingRatio(celsius, hPa) / 1000;
  const latent = 2.501e6 - 2361 * celsius;
  const [gas, heat] = [287.04, 1005.7];
  return ((gas * t + latent * ratio) / (heat + (latent * latent * ratio * EPSILON) / (gas * t * t))) / hPa;
}

/** Saturated ascent from a point: temperatures in °C at pressures, which fall or rise from it. */
export function moistAscent(celsius: number, from_hPa: number, pressures: readonly number[]): number[] {
  let [t, p] = [celsius, from_hPa];
  return pressures.map((to) => {
    const steps = Math.max(Math.ceil(Math.abs(to - p) / 5), 1);
    const by = (to - p) / steps;
    for (let step = 0; step < steps; step += 1) {
      const half = t + (moistSlope(t, p) * by) / 2;
      t += moistSlope(half, p + by / 2) * by;
      p += by;
    }
    return t;
  });
}

export interface Level {
  readonly hPa: number;
  readonly celsius: number;
  readonly dew: number | undefined;
  /** Towards true east and north, m/s. */
  readonly u: number | undefined;
  readonly v: number | undefined;
  readonly height_m: number | undefined;
}

/** The path of the lowest air as it rises: dry until it condenses, then saturated. */
export function parcel(levels: readonly Level[]): { hPa: number; celsius: number }[] {
  const start = levels[0];
  if (!start || start.dew === undefined) return [];
  const at = condensation(start.celsius, start.dew);
  const base_hPa = start.hPa * ((at + KELVIN) / (start.celsius + KELVIN)) ** (1 / R_CP);
  const below = [start.hPa, (start.hPa + base_hPa) / 2, base_hPa];
  const above = Array.from({ length: 60 }, (_, step) => base_hPa - (step + 1) * 15).filter((hPa) => hPa > 100);
  const dry = below.map((hPa) => ({ hPa, celsius: dryAscent(start.celsius, start.hPa, hPa) }));
  return [...dry, ...moistAscent(at, base_hPa, above).map((celsius, step) => ({ hPa: above[step]!, celsius }))];
}
