// The variables that the map shows, with their scales and their units in both systems.
import type { Scale } from "./colour";
import { scales } from "./colour";
import type { MAP_NAMES } from "../first";
import { coreIfLoaded } from "./core";

export type System = "metric" | "us";

export interface MapVariable {
  readonly name: string;
  readonly label: { readonly en: string; readonly fr: string };
  readonly unit: string;
  readonly scale: Scale;
}

const variable = (name: (typeof MAP_NAMES)[number], en: string, fr: string, unit: string, scale: Scale): MapVariable => ({
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

/** The order of a bulletin: wind, visibility, weather, clouds, temperature, dew point, pressure, precipitation; then the rest by name. */
const BULLETIN: readonly string[] = [
  "windDirection",
  "windSpeed10m",
  "windGust10m",
  "windSpeed",
  "windGust",
  "peakWindSpeed",
  "peakWindDirection",
  "maxWindDirection",
  "visibility",
  "cloudCover",
  "cloudBaseHeight",
  "ceilingHeight",
  "airTemperature",
  "dewPointTemperature",
  "relativeHumidity",
  "wetBulbTemperature",
  "humidex",
  "heatIndex",
  "windChill",
  "mslp",
  "altimeterSetting",
  "barometricPressure",
  "pressureTendency",
  "pressureTendencyCharacter",
  "precipitation",
  "precipitationRate",
  "rainfall",
  "snowfall",
  "snowDepth",
];

/** Which of two variables a bulletin has first. */
export function inBulletin(a: string, b: string): number {
  const place = (name: string) => (BULLETIN.indexOf(name) + BULLETIN.length + 1) % (BULLETIN.length + 1);
  return place(a) - place(b) || (a < b ? -1 : a > b ? 1 : 0);
}

export const FRENCH: Readonly<Record<string, string>> = {
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
  avgGlobalSolarRadiation: "Rayonnement solaire global moyen",
  cumulativeGlobalSolarRadiation: "Rayonnement solaire global cumulé",
  fireWeatherIndex: "Indice forêt-météo",
  iceAccretion: "Accumulation de glace",
  maxWindDirection: "Direction du vent maximal",
  peakWindDirection: "Direction du vent de pointe",
  peakWindSpeed: "Vent de pointe",
  photosyntheticRadiation: "Rayonnement photosynthétique",
  precipitationGaugeWeight: "Masse dans le pluviomètre",
  precipitationRate: "Intensité des précipitations",
  precipitationSinceReset: "Précipitations depuis la remise à zéro",
  pressureTendencyCharacter: "Caractère de la tendance barométrique",
  reflectedShortwaveRadiation: "Rayonnement solaire réfléchi",
  seaSurfaceTemperature1m: "Température de la mer à 1 m",
  snowWaterEquivalent: "Équivalent en eau de la neige",
  solarRadiation: "Rayonnement solaire",
  stationHeight: "Altitude de la station",
  subsurfaceTemperature: "Température sous la surface",
  tide: "Marée",
  uvIndex: "Indice UV",
  waveDirection: "Direction des vagues",
  waveHeightMax: "Hauteur maximale des vagues",
  wavePeriodAverage: "Période moyenne des vagues",
  wavePeriodPeak: "Période de pic des vagues",
};

/** The name of a variable in a language; the service has English ones. */
export const variableName = (name: string, pretty: string, language: "en" | "fr"): string =>
  language === "fr" ? (FRENCH[name] ?? pretty) : pretty;

/** A short name of a variable where there is no name of the service at hand. */
export function shortName(name: string, language: "en" | "fr"): string {
  const known = mapVariable(name);
  if (known.name === name) return known.label[language];
  const spelled = name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return variableName(name, spelled.charAt(0).toUpperCase() + spelled.slice(1), language);
}

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

/** A value in the unit in which it is shown, by the core; not a number until the core is there. */
export function shown(value: number, unit: string, system: System): number {
  const to = shownUnit(unit, system);
  return to === unit ? value : (coreIfLoaded()?.convert(value, unit, to, { liquidWater: unit === "kg/m²" }) ?? Number.NaN);
}

const PLACES: Readonly<Record<string, number>> = { inHg: 2, in: 2, "in/h": 2, mi: 1, km: 1, ft: 0, m: 0, "°": 0, "%": 0, mph: 0, "km/h": 0, "1/s": 6 };

/** A number with as many decimals as suit its unit; a number without a unit, such as a count, has only those it needs. Digits are grouped from 10,000 on, so that a pressure stays 1009.2. */
export function digits(value: number, unit: string, locale: string, isRound = unit === ""): string {
  if (Number.isNaN(value)) return "…";
  const places = PLACES[unit] ?? (Math.abs(value) < 0.1 && value !== 0 ? 3 : 1);
  const least = unit === "inHg" ? 2 : Math.min(places, 1);
  const text = value.toLocaleString(locale, { minimumFractionDigits: isRound ? 0 : least, maximumFractionDigits: places, useGrouping: "min2" });
  return text.replace("-", "\u2212");
}

/** A value as it stands on the map, without its unit. */
export function mapText(value: number, name: string, system: System, locale: string): string {
  const { unit } = mapVariable(name);
  const to = shownUnit(unit, system);
  const number = shown(value, unit, system);
  if (name === "mslp" && !Number.isNaN(number)) {
    const places = to === "inHg" ? 2 : 1;
    return number.toLocaleString(locale, { minimumFractionDigits: places, maximumFractionDigits: places, useGrouping: false });
  }
  return digits(Math.round(number * 10) / 10, to === "°C" || to === "°F" ? "%" : to, locale);
}

/** A value as text with its unit. */
export function withUnit(value: number, unit: string, system: System, locale: string, isRound?: boolean): string {
  const to = shownUnit(unit, system);
  const number = digits(shown(value, unit, system), to, locale, isRound);
  return to === "" || to === "1" ? number : to === "°" || to === "%" ? `${number}${to === "%" ? "\u202f" : ""}${to}` : `${number}\u202f${to}`;
}
