// Names of the fields of models for people, in both languages; a field that is not here is spelled from its own name.
import { language } from "../view";

const NAMES: Readonly<Record<string, readonly [string, string]>> = {
  temperature: ["Temperature", "Température"],
  dew_point: ["Dew point", "Point de rosée"],
  relative_humidity: ["Relative humidity", "Humidité relative"],
  specific_humidity: ["Specific humidity", "Humidité spécifique"],
  geopotential_height: ["Geopotential height", "Hauteur géopotentielle"],
  vertical_velocity: ["Vertical velocity", "Vitesse verticale"],
  u_wind: ["Wind, eastward", "Vent, vers l’est"],
  v_wind: ["Wind, northward", "Vent, vers le nord"],
  wind_speed: ["Wind", "Vent"],
  wind_direction: ["Wind direction", "Direction du vent"],
  wind_gust: ["Gusts", "Rafales"],
  absolute_vorticity: ["Absolute vorticity", "Tourbillon absolu"],
  pressure_msl: ["Sea level pressure", "Pression au niveau de la mer"],
  pressure_surface: ["Surface pressure", "Pression à la surface"],
  orography: ["Height of the terrain", "Hauteur du terrain"],
  precipitable_water: ["Precipitable water", "Eau précipitable"],
  precipitation: ["Precipitation since the start", "Précipitations depuis le début"],
  precipitation_: ["Precipitation", "Précipitations"],
  precipitation_rate: ["Precipitation rate", "Intensité des précipitations"],
  frozen_precipitation: ["Frozen precipitation", "Précipitations solides"],
  precipitation_type: ["Kind of precipitation", "Type de précipitations"],
  boundary_layer_height: ["Height of the boundary layer", "Hauteur de la couche limite"],
  cloud_ceiling: ["Ceiling", "Plafond"],
  dew_point_depression: ["Dew point depression", "Écart du point de rosée"],
  relative_vorticity: ["Relative vorticity", "Tourbillon relatif"],
  skin_temperature: ["Skin temperature", "Température de surface"],
  maximum_temperature: ["Maximum temperature", "Température maximale"],
  minimum_temperature: ["Minimum temperature", "Température minimale"],
  snow_water_equivalent: ["Snow water equivalent", "Équivalent en eau de la neige"],
  snow_depth: ["Snow depth", "Épaisseur de neige"],
  categorical_rain: ["Rain, yes or no", "Pluie, oui ou non"],
  categorical_freezing_rain: ["Freezing rain, yes or no", "Pluie verglaçante, oui ou non"],
  categorical_ice_pellets: ["Ice pellets, yes or no", "Grésil, oui ou non"],
  categorical_snow: ["Snow, yes or no", "Neige, oui ou non"],
  cape: ["Convective energy (CAPE)", "Énergie convective (EPCD)"],
  cin: ["Convective inhibition (CIN)", "Inhibition convective (CIN)"],
  storm_relative_helicity: ["Storm-relative helicity", "Hélicité relative à l’orage"],
  lifted_index: ["Lifted index", "Indice de soulèvement"],
  cloud_cover: ["Cloud cover", "Nébulosité"],
  visibility: ["Visibility", "Visibilité"],
  reflectivity: ["Reflectivity", "Réflectivité"],
  composite_reflectivity: ["Composite reflectivity", "Réflectivité composite"],
  brightness_temperature: ["Brightness temperature of the cloud top", "Température de brillance du sommet des nuages"],
};

/** Endings of names: how high, how deep, how long. */
const ENDING = /^(.*?)_(\d+(?:k?m|h|hpa)|surface)$/;

/** The name of a field, with where it holds. */
export function fieldName(name: string): string {
  const at = language.value === "fr" ? 1 : 0;
  const [, stem, where] = ENDING.exec(name) ?? [];
  const known = (NAMES[name] ?? NAMES[`${stem}_`] ?? NAMES[`${stem}`])?.[at];
  const spelled = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replaceAll("_", " ");
  if (known === undefined) return spelled(name);
  return NAMES[name] || where === "surface" ? known : `${known}, ${where!.replace(/(\d)(\D+)/, "$1\u202f$2").replace("hpa", "hPa")}`;
}
