// Stations and alerts as GeoJSON, with the colours and labels that a map gives them.
import type { AlertFeature, Client, Parameters, RequestOptions } from "./client.js";
import type { VariableName } from "./generated/names.js";
import type { Box } from "./map_view.js";
import {
  type Legend,
  type Scale,
  type ScaleName,
  colourOf,
  conversionTo,
  css,
  inUnit,
  legend,
  plainScale,
  scaleOf,
  scaleOfVariable,
} from "./scales.js";

/** What is decided here, and not by the caller's parameters. */
type Decided = "variable" | "names" | "step" | "maxAge" | "units" | "unit" | "format" | "minLat" | "minLon" | "maxLat" | "maxLon";

/** Which stations are shown: a variable and its colours, and the parameters of `/stations/readings`, such as `end`. */
export interface StationOptions extends Omit<Parameters<"getReadings">, Decided> {
  /** The variable whose values are shown. */
  readonly variable: VariableName;
  /** Other variables that the features have as properties. */
  readonly names?: readonly VariableName[] | undefined;
  /** The unit of the values; by default that of the units of the weather. */
  readonly unit?: string | undefined;
  /** The colours; by default those that the explorer has for the variable, else a scale over the values. */
  readonly scale?: ScaleName | Scale | undefined;
}

/** A station with a value. */
export interface StationFeature {
  readonly type: "Feature";
  readonly id: string;
  readonly geometry: { readonly type: "Point"; readonly coordinates: readonly [lon: number, lat: number] };
  /** What the service says of the station, and what a map needs of it. */
  readonly properties: Readonly<Record<string, unknown>> & {
    readonly id: string;
    readonly name: string;
    readonly network: string;
    /** When the newest value was measured, and the worst quality of the values. */
    readonly time: string;
    readonly quality: string;
    readonly value: number;
    readonly unit: string;
    /** The value in the digits of its unit. */
    readonly label: string;
    /** The colour of the value by the legend, as CSS; null if it has none. */
    readonly colour: string | null;
  };
}

/** Stations with a value. */
export interface StationCollection {
  readonly type: "FeatureCollection";
  readonly features: readonly StationFeature[];
  readonly legend: Legend;
}

/** Which alerts are shown, by the parameters of the service; by default those in force. */
export type AlertOptions = Omit<Parameters<"getAlerts">, "lang">;

/** An alert with an outline. */
export interface AlertMapFeature extends Omit<AlertFeature, "properties" | "geometry"> {
  readonly geometry: NonNullable<AlertFeature["geometry"]>;
  readonly properties: AlertFeature["properties"] & {
    /** The colour that its issuer gives it, else that of its type, as CSS. */
    readonly colour: string;
    /** The greater, the graver: 0 to 3 by its type. */
    readonly rank: number;
  };
}

/** Alerts with an outline, the gravest last. */
export interface AlertCollection {
  readonly type: "FeatureCollection";
  readonly features: readonly AlertMapFeature[];
}

/** The colours of alerts by the colour of their issuer. */
const BY_COLOUR: Readonly<Record<string, string>> = { Red: "#c5221f", Orange: "#e07000", Yellow: "#c9a800" };

/** The colours of alerts by their type, where the issuer gives none. */
export const ALERT_COLOURS = {
  Warning: "#c5221f",
  Watch: "#d97800",
  Advisory: "#b59a00",
  Statement: "#4a7fb5",
  Unknown: "#7a7f87",
} as const;

const RANKS = ["Statement", "Advisory", "Watch", "Warning"];

interface Answer {
  readonly features: readonly {
    readonly id: string;
    readonly geometry: StationFeature["geometry"];
    readonly properties: Readonly<Record<string, unknown>>;
  }[];
}

export async function stationsOf(
  service: Client,
  { units, lang }: { readonly units: "metric" | "us" | "si"; readonly lang: string },
  options: StationOptions,
  { box, signal }: RequestOptions & { readonly box?: Box | undefined },
): Promise<StationCollection> {
  const { variable, names = [], unit, scale: wanted, ...chosen } = options;
  const answer = (await service.getReadings(
    {
      ...chosen,
      ...(box && { minLon: box[0], minLat: box[1], maxLon: box[2], maxLat: box[3] }),
      ...(unit !== undefined && { unit: { [variable]: unit } }),
      names: [...new Set([variable, ...names])],
      units,
      format: "geojson",
    } as Parameters<"getReadings">,
    { signal },
  )) as unknown as Answer;
  const valued = answer.features.filter(({ properties }) => typeof properties[variable] === "number");
  const valueOf = ({ properties }: Answer["features"][number]) => properties[variable] as number;
  const unitOf = ({ properties }: Answer["features"][number]) => (properties[`${variable}Unit`] ?? "") as string;
  const given = wanted === undefined ? scaleOfVariable(variable) : scaleOf(wanted);
  // The service says the unit: a value whose unit was not certain stays as it was reported.
  const shownUnit = valued.map(unitOf).find((one) => given === undefined || conversionTo(one, given.unit) !== undefined);
  const scale = given === undefined ? scaleOver(shownUnit ?? "", valued.map(valueOf)) : inUnit(given, shownUnit ?? given.unit);
  const label = labels(lang);
  const features = valued.map((feature): StationFeature => {
    const [value, own] = [valueOf(feature), unitOf(feature)];
    const colour = own === scale.unit ? colourOf(scale, value) : undefined;
    const shown = { id: feature.id, value, unit: own, label: label(value, own), colour: colour ? css(colour) : null };
    return { ...feature, type: "Feature", properties: { ...feature.properties, ...shown } as unknown as StationFeature["properties"] };
  });
  return { type: "FeatureCollection", features, legend: legend(scale) };
}

function scaleOver(unit: string, values: readonly number[]): Scale {
  const by = (choose: (a: number, b: number) => number) => values.reduce((a, b) => choose(a, b), values[0] ?? 0);
  return plainScale(unit, by(Math.min), by(Math.max));
}

/** Decimals of the units whose values are not shown as whole numbers. */
const DECIMALS: Readonly<Record<string, number>> = { inHg: 2, in: 2, hPa: 1, mm: 1, "mm/h": 1, cm: 1, mi: 1, km: 1, K: 1, "m/s": 1 };

/** Writes values in the digits of their unit. */
function labels(lang: string): (value: number, unit: string) => string {
  const formats = new Map<number, Intl.NumberFormat>();
  return (value, unit) => {
    const decimals = DECIMALS[unit] ?? 0;
    const options = { minimumFractionDigits: decimals, maximumFractionDigits: decimals, useGrouping: false };
    const format = formats.get(decimals) ?? new Intl.NumberFormat(lang, options);
    formats.set(decimals, format);
    // The sum makes -0 a 0.
    return format.format(Number(value.toFixed(decimals)) + 0);
  };
}

export async function alertsOf(
  service: Client,
  lang: "en" | "fr",
  options: AlertOptions,
  request: RequestOptions,
): Promise<AlertCollection> {
  const { features } = await service.getAlerts({ active: true, ...options, lang }, request);
  const outlined = features.flatMap((feature): AlertMapFeature[] => {
    const { geometry, properties } = feature;
    const colour = BY_COLOUR[properties.alertColour] ?? ALERT_COLOURS[properties.alertType] ?? ALERT_COLOURS.Unknown;
    const rank = Math.max(RANKS.indexOf(properties.alertType), 0);
    return geometry === null ? [] : [{ ...feature, geometry, properties: { ...properties, colour, rank } }];
  });
  return { type: "FeatureCollection", features: outlined.sort((a, b) => a.properties.rank - b.properties.rank) };
}
