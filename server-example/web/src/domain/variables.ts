// The variables that the map shows, with their scales and their units in both systems.
import type { Scale } from "./colour";
import { scales } from "./colour";
import { core } from "./core";

export type System = "metric" | "us";

export interface MapVariable {
  readonly name: string;
  readonly label: { readonly en: string; readonly fr: string };
  readonly unit: string;
  readonly scale: Scale;
}

const variable = (name: string, en: string, fr: string, unit: string, scale: Scale): MapVariable => ({
  name,
  label: { en, fr },
  unit,
  scale,
});

/** In the order of the menu. */
export const MAP_VARIABLES: readonly MapVariable[] = [
  variable("airTemperature", "Temperature", "Température", "°C", scales.temperature),
  variable("dewPointTemperature", "Dew point", "Point de rosée", "°C", scales.dewPoint),
  variable("windSpeed10m", "Wind", "Vent", "km/h", scales.wind),
  variable("windGust10m", "Gusts", "Rafales", "km/h", scales.wind),
  variable("mslp", "Sea level pressure", "Pression au niveau de la mer", "hPa", scales.pressure),
  variable("relativeHumidity", "Humidity", "Humidité", "%", scales.humidity),
  variable("visibility", "Visibility", "Visibilité", "km", scales.visibility),
  variable("ceilingHeight", "Ceiling", "Plafond", "m", scales.ceiling),
  variable("precipitation", "Precipitation", "Précipitations", "mm", scales.rain),
];

export const DEFAULT_VARIABLE = MAP_VARIABLES[0]!;

export const mapVariable = (name: string): MapVariable =>
  MAP_VARIABLES.find((known) => known.name === name) ?? DEFAULT_VARIABLE;

const FRENCH: Readonly<Record<string, string>> = {
  airTemperature: "Température de l’air",
  dewPointTemperature: "Point de rosée",
  wetBulbTemperature: "Thermomètre mouillé",
  heatIndex: "Indice de chaleur",
  humidex: "Humidex",
  windChill: "Refroidissement éolien",
  windSpeed: "Vitesse du vent",
  windSpeed10m: "Vent à 10 m",
  windGust: "Rafale",
  windGust10m: "Rafale à 10 m",
  windDirection: "Direction du vent",
  barometricPressure: "Pression à la station",
  altimeterSetting: "Calage altimétrique",
  mslp: "Pression au niveau de la mer",
  pressureTendency: "Tendance barométrique",
  relativeHumidity: "Humidité relative",
  visibility: "Visibilité",
  ceilingHeight: "Plafond",
  cloudBaseHeight: "Base des nuages",
  cloudCover: "Nébulosité",
  precipitation: "Précipitations",
  rainfall: "Pluie",
  snowfall: "Neige",
  snowDepth: "Épaisseur de neige",
  waveHeight: "Hauteur des vagues",
  seaSurfaceTemperature: "Température de la mer",
};

/** The name of a variable in a language; the service has English ones. */
export const variableName = (name: string, pretty: string, language: "en" | "fr"): string =>
  language === "fr" ? (FRENCH[name] ?? pretty) : pretty;

/** Units of the United States, and of models for people; what is not named stays. */
const US: Readonly<Record<string, string>> = {
  "°C": "°F",
  K: "°F",
  "km/h": "mph",
  "m/s": "mph",
  hPa: "inHg",
  Pa: "inHg",
  mm: "in",
  "mm/h": "in/h",
  "kg/m²": "in",
  cm: "in",
  km: "mi",
  m: "ft",
};
const METRIC: Readonly<Record<string, string>> = { K: "°C", "m/s": "km/h", Pa: "hPa", "kg/m²": "mm" };

/** The unit in which a value is shown. */
export function shownUnit(unit: string, system: System): string {
  return (system === "us" ? US : METRIC)[unit] ?? unit;
}

/** A value in the unit in which it is shown, by the core. */
export function shown(value: number, unit: string, system: System): number {
  const to = shownUnit(unit, system);
  return to === unit ? value : core().convert(value, unit, to, { liquidWater: unit === "kg/m²" });
}

const PLACES: Readonly<Record<string, number>> = { inHg: 2, in: 2, "in/h": 2, mi: 1, km: 1, ft: 0, m: 0, "°": 0, "%": 0, mph: 0, "km/h": 0, "1/s": 6 };

/** A number with the decimals that its unit deserves. */
export function digits(value: number, unit: string, locale: string): string {
  const places = PLACES[unit] ?? (Math.abs(value) < 0.1 && value !== 0 ? 3 : 1);
  return value.toLocaleString(locale, { minimumFractionDigits: unit === "inHg" ? 2 : Math.min(places, 1), maximumFractionDigits: places });
}

/** A value as text with its unit. */
export function withUnit(value: number, unit: string, system: System, locale: string): string {
  const to = shownUnit(unit, system);
  const number = digits(shown(value, unit, system), to, locale);
  return to === "" || to === "1" ? number : to === "°" || to === "%" ? `${number}${to === "%" ? "\u202f" : ""}${to}` : `${number}\u202f${to}`;
}
