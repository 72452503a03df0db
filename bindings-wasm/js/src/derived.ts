import { className, float64Array, isClass, number } from "./check.js";
import { refusing } from "./error.js";
import type { Raw } from "./raw.js";

/**
 * A formula: numbers in, a number out; or, if any argument is an array, an array out, with numbers
 * broadcast. NaN for NaN and where the formula is not defined.
 */
export interface Formula<Inputs extends readonly unknown[]> {
  /** One value. */
  (...inputs: { [I in keyof Inputs]: number }): number;
  /**
   * The values, element by element.
   *
   * @throws {MesonetError} for arrays of different lengths.
   */
  (...inputs: { [I in keyof Inputs]: number | Float64Array }): Float64Array;
}

/** Derived values. */
export interface DerivedFunctions {
  /** Dew point in °C. WMO-No. 8 with the coefficients of Sonntag; −45 to 60 °C. */
  readonly dewPointC: Formula<[airTemperatureC: 0, relativeHumidityPct: 0]>;
  /** Relative humidity over water in percent. */
  readonly relativeHumidityPct: Formula<[airTemperatureC: 0, dewPointC: 0]>;
  /** Wet-bulb temperature in °C by Normand's rule; 300 to 1100 hPa. */
  readonly wetBulbC: Formula<[stationPressureHpa: 0, airTemperatureC: 0, dewPointC: 0]>;
  /** Wet-bulb temperature in °C near sea level by Stull's regression. */
  readonly stullWetBulbC: Formula<[airTemperatureC: 0, relativeHumidityPct: 0]>;
  /** Heat index in °C, like {@link DerivedFunctions.heatIndexF}; 20 to 50 °C. */
  readonly heatIndexC: Formula<[airTemperatureC: 0, relativeHumidityPct: 0]>;
  /** Heat index in °F as the National Weather Service computes it; 68 to 122 °F. */
  readonly heatIndexF: Formula<[airTemperatureF: 0, relativeHumidityPct: 0]>;
  /** Humidex (Canada); from 20 °C. */
  readonly humidex: Formula<[airTemperatureC: 0, dewPointC: 0]>;
  /** Wind chill (Canada), an index like °C, by the wind at 10 m; up to 0 °C. */
  readonly windChillC: Formula<[airTemperatureC: 0, windSpeedKmh: 0]>;
  /** Wind chill (United States) in °F by the wind at 10 m; up to 50 °F and above 3 mph. */
  readonly windChillF: Formula<[airTemperatureF: 0, windSpeedMph: 0]>;
  /** Mean sea level pressure in hPa for a column of dry air at the station's temperature. */
  readonly meanSeaLevelPressureHpa: Formula<
    [stationPressureHpa: 0, altitudeM: 0, airTemperatureC: 0]
  >;
  /** Station pressure in hPa from the altimeter setting, by the standard atmosphere. */
  readonly stationPressureHpa: Formula<[altimeterHpa: 0, altitudeM: 0]>;
  /** Wind speed at 10 m, in the unit given, by the logarithmic law. */
  readonly windAt10m: Formula<[speed: 0, sensorHeightM: 0, roughnessM: 0]>;
}

export function derivedFunctions(raw: Raw): DerivedFunctions {
  type Flat = (...inputs: Float64Array[]) => Float64Array;
  const formula = <F>(run: unknown, ...names: string[]) =>
    ((...inputs: unknown[]) => {
      const checked = names.map((name, at) => numbers(inputs[at], name));
      const arrays = checked.filter((input) => typeof input !== "number");
      const length = arrays[0]?.length ?? 1;
      const columns = checked.map((input) =>
        typeof input === "number" ? new Float64Array(length).fill(input) : input,
      );
      const values = refusing(() => (run as Flat)(...columns));
      return arrays.length === 0 ? values[0]! : values;
    }) as F;

  const [airC, airF] = ["airTemperatureC", "airTemperatureF"];
  const [humidity, dewPoint] = ["relativeHumidityPct", "dewPointC"];
  const [pressure, altitude] = ["stationPressureHpa", "altitudeM"];
  return {
    dewPointC: formula(raw.dew_point_c, airC, humidity),
    relativeHumidityPct: formula(raw.relative_humidity_pct, airC, dewPoint),
    wetBulbC: formula(raw.wet_bulb_c, pressure, airC, dewPoint),
    stullWetBulbC: formula(raw.stull_wet_bulb_c, airC, humidity),
    heatIndexC: formula(raw.heat_index_c, airC, humidity),
    heatIndexF: formula(raw.heat_index_f, airF, humidity),
    humidex: formula(raw.humidex, airC, dewPoint),
    windChillC: formula(raw.wind_chill_c, airC, "windSpeedKmh"),
    windChillF: formula(raw.wind_chill_f, airF, "windSpeedMph"),
    meanSeaLevelPressureHpa: formula(raw.mean_sea_level_pressure_hpa, pressure, altitude, airC),
    stationPressureHpa: formula(raw.station_pressure_hpa, "altimeterHpa", altitude),
    windAt10m: formula(raw.wind_at_10m, "speed", "sensorHeightM", "roughnessM"),
  };
}

function numbers(value: unknown, what: string): number | Float64Array {
  if (typeof value === "number") {
    return number(value, what);
  }
  if (isClass(value, "Float64Array")) {
    return float64Array(value, what);
  }
  throw new TypeError(`${what} must be a number or a Float64Array; got ${className(value)}`);
}
