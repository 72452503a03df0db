import { array, object, optionalText } from "./check.js";
import { refusing } from "./error.js";
import {
  type CheckFunctions,
  type SeriesReadings,
  type StationSite,
  type Verdicts,
  listOfSeries,
  siteArguments,
  verdictsIn,
} from "./station.js";

/** The flat module with the checks of neighbours. */
export type Raw = typeof import("./generated/network.js");

/** A station of a network, and its series. */
export interface NetworkStation {
  readonly site: StationSite;
  readonly series: readonly SeriesReadings[];
}

/** The quality checks of stations and their neighbours. */
export interface NetworkFunctions extends CheckFunctions {
  /**
   * Runs all checks, including the comparison with neighbours, over the stations of a network.
   * Returns the verdicts of each series of each station, in the order given. A service that takes
   * in the same readings and no others gives the same verdicts.
   *
   * @param limitsToml Limits whose entries replace the default ones. @throws {MesonetError} like
   * `checkStation`, and for a station that has a series twice.
   */
  checkNetwork(stations: readonly NetworkStation[], limitsToml?: string | null): Verdicts[][];
}

/** The check of a network over the flat module. */
export function networkFunction(raw: Raw): Pick<NetworkFunctions, "checkNetwork"> {
  return {
    checkNetwork(stations, limitsToml) {
      const sites: number[] = [];
      const columns = array(stations, "stations").map((given, at) => {
        const of = object(given, `station ${at}`);
        const [lon, lat, altitudeM = NaN] = siteArguments(of["site"], `station ${at}: site`);
        sites.push(lon, lat, altitudeM);
        return listOfSeries(of["series"], `station ${at}: `);
      });
      const counts = Uint32Array.from(columns, ({ length }) => length);
      const limits = optionalText(limitsToml, "limitsToml");
      const given = [Float64Array.from(sites), counts, columns.flat(), limits] as const;
      const next = verdictsIn(refusing(() => raw.check_network(...given)));
      return columns.map((series) => series.map(next));
    },
  };
}
