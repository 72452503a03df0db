// What a group of a report says, in the language and the units of the page.
import type { MetarCloud, MetarGroups, MetarRemarks, MetarWeather, MetarWind, RunwayVisualRange } from "mesonet/report";

import { core } from "../domain/core";
import { withUnit } from "../domain/variables";
import { locale, system } from "../view";
import type { Row } from "./groups";
import { weatherText } from "./weather";
import { cloudName, say } from "./words";

/** A row of the report as it is shown. */
export interface Line {
  readonly groups: string;
  /** What it is about; empty where it is not understood. */
  readonly about: string;
  readonly text: string;
}

/** A report, and what decodes the codes of weather within its remarks. */
export interface Decoded {
  readonly report: MetarGroups;
  readonly weatherOf: (codes: string) => MetarWeather | undefined;
}

/** About what, and what. */
type Fact = readonly [about: string, text: string];
type Say = (of: Decoded, at: number) => Fact | undefined;

/** A value in the unit that is shown for one of the service's. */
function amount(value: number, unit: string, to = unit): string {
  return withUnit(unit === to ? value : core().convert(value, unit, to), to, system.value, locale.value);
}
const degrees = (celsius: number) => amount(celsius, "°C");
const height = (feet: number) => amount(feet, "ft", "m");
const miles = (distance: number) => amount(distance, "mi", "km");
const water = (inches: number) => (inches === 0 ? say("trace", amount(0, "in", "mm")) : amount(inches, "in", "mm"));
const snow = (inches: number) => amount(inches, "in", "cm");
const bearing = (direction: number) => `${String(direction).padStart(3, "0")}°`;
const bounded = (text: string, bound: "exact" | "less" | "more") => (bound === "exact" ? text : say(bound, text));
const joined = (parts: readonly (string | undefined | null | false)[]) => parts.filter(Boolean).join(", ");

/** A time of the report: its hour is that of the report if it has none. */
function clock(hour: number | null, minute: number, { hour: own }: { readonly hour: number }): string {
  return `${String(hour ?? own).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
}

/** Where, word by word. */
const where = (place: string) => place.split(/([ -])/).map((part) => say(part)).join("");

function windText({ fromDeg, variable, speed, gustKmh, speedKmh, turnsFromDeg, turnsToDeg }: MetarWind): string {
  const mean = speedKmh === null ? undefined : amount(speedKmh, "km/h");
  const from = fromDeg === null ? undefined : bearing(fromDeg);
  const main =
    speed === 0
      ? say("calm")
      : mean === undefined
        ? from && say("wind.direction", from)
        : from === undefined
          ? say(variable ? "wind.variable" : "wind.speed", mean)
          : say("wind.from", from, mean);
  const turns = turnsFromDeg !== null && turnsToDeg !== null && say("wind.turns", bearing(turnsFromDeg), bearing(turnsToDeg));
  return joined([main, gustKmh !== null && say("wind.gust", amount(gustKmh, "km/h")), turns]);
}

function rangeText({ runway, least, greatest, isBelowLeast, isAboveGreatest, unit, tendency }: RunwayVisualRange): string {
  const length = (value: number) => (unit === "ft" ? height(value) : amount(value, "m"));
  if (least === null || greatest === null) return say("at", runway, say("noValue"));
  const low = bounded(length(least), isBelowLeast ? "less" : "exact");
  const high = bounded(length(greatest), isAboveGreatest ? "more" : "exact");
  const range = least !== greatest ? say("between", low, high) : isAboveGreatest ? high : low;
  return joined([say("at", runway, range), tendency && say(`tendency.${tendency}`)]);
}

/** A layer; the first that is as high as the ceiling is the ceiling. */
function cloudText({ cover, baseFt, convection }: MetarCloud, ceilingFt: number | null): string {
  const layer = baseFt === null ? say(cover) : say("above", say(cover), height(baseFt));
  const isCeiling = baseFt !== null && baseFt === ceilingFt && ["BKN", "OVC", "VV"].includes(cover);
  return joined([layer, convection && say(convection), isCeiling && say("ceiling")]);
}

const BODY: Readonly<Record<string, Say>> = {
  station: ({ report }) => ["station", `${report.kind ?? ""} ${say("made", report.station, report.day, clock(null, report.minute, report))}`.trim()],
  auto: () => ["station", say("auto")],
  revision: ({ report }) => ["station", say("revision", report.revision)],
  nil: () => ["station", say("nil")],
  wind: ({ report: { wind } }) => (wind ? ["wind", windText(wind)] : undefined),
  visibility: ({ report: { visibility: of, cavok } }) => (of && !cavok ? ["visibility", bounded(amount(of.distanceKm, "km"), of.bound)] : undefined),
  cavok: () => ["visibility", say("cavok")],
  directionalVisibilities: ({ report }, at) => {
    const { direction, distanceM } = report.directionalVisibilities[at]!;
    return ["visibility", say("at", where(direction), amount(distanceM / 1000, "km"))];
  },
  runwayVisualRanges: ({ report }, at) => ["runwayRange", rangeText(report.runwayVisualRanges[at]!)],
  weather: ({ report }, at) => ["weather", weatherText(report.weather[at]!)],
  weatherMissing: () => ["weather", say("weatherMissing")],
  clouds: ({ report }, at) => ["sky", cloudText(report.clouds[at]!, report.ceilingFt)],
  temperatureC: ({ report: { temperatureC: air } }) => (air === null ? undefined : ["temperature", degrees(air)]),
  dewPointC: ({ report: { dewPointC: dew } }) => (dew === null ? undefined : ["temperature", say("dew", degrees(dew))]),
  altimeter: ({ report: { altimeter } }) => (altimeter ? ["pressure", say("altimeter", amount(altimeter.hpa, "hPa"))] : undefined),
  seaSurfaceTemperatureC: ({ report }) => ["sea", say("seaTemperature", degrees(report.seaSurfaceTemperatureC ?? NaN))],
  seaState: ({ report }) => ["sea", say(`sea.${report.seaState}`)],
  windShear: ({ report }, at) => ["windShear", say("lowest", say(report.windShear[at]!))],
  runwayStates: ({ report }, at) => ["runway", say("asItStands", report.runwayStates[at]!)],
  trend: ({ report: { trend } }) => ["forecast", trend === "NOSIG" ? say("NOSIG") : say("expected", trend ?? "")],
  remarks: () => ["remarks", ""],
};

/** A fact of a single number. */
const number =
  (name: keyof MetarRemarks, about: string, text: (value: number) => string): Say =>
  ({ report: { remarks } }) => {
    const value = remarks[name];
    return typeof value === "number" ? [about, text(value)] : undefined;
  };
/** Names of remarks of which there may be several. */
type Several = { [K in keyof MetarRemarks]: MetarRemarks[K] extends readonly unknown[] ? K : never }[keyof MetarRemarks];
/** A fact of one of several. */
const each =
  <K extends Several>(name: K, about: string, text: (one: MetarRemarks[K][number], of: Decoded) => string): Say =>
  (of, at) => {
    const one: MetarRemarks[K][number] | undefined = of.report.remarks[name][at];
    return one === undefined ? undefined : [about, text(one, of)];
  };

/** Codes of weather, or letters of a cloud, in words. */
const named = (codes: string, { weatherOf }: Decoded) => {
  const weather = weatherOf(codes);
  return cloudName(codes) ?? (weather ? weatherText(weather) : codes);
};

const REMARKS: Readonly<Record<string, Say>> = {
  automatedStation: ({ report }) => ["station", say(report.remarks.automatedStation ?? "")],
  temperatureC: number("temperatureC", "temperature", (value) => say("tenths", degrees(value))),
  dewPointC: number("dewPointC", "temperature", (value) => say("dew", degrees(value))),
  max6hC: number("max6hC", "temperature", (value) => say("max", degrees(value), 6)),
  min6hC: number("min6hC", "temperature", (value) => say("min", degrees(value), 6)),
  max24hC: number("max24hC", "temperature", (value) => say("max", degrees(value), 24)),
  min24hC: number("min24hC", "temperature", (value) => say("min", degrees(value), 24)),
  seaLevelPressureHpa: number("seaLevelPressureHpa", "pressure", (value) => say("seaLevel", amount(value, "hPa"))),
  altimeterInHg: number("altimeterInHg", "pressure", (value) => say("altimeter", amount(value, "inHg", "hPa"))),
  qfeMmHg: ({ report: { remarks } }) => {
    const hPa = remarks.qfeHpa ?? core().convert(remarks.qfeMmHg ?? NaN, "mmHg", "hPa");
    return ["pressure", say("aerodrome", amount(hPa, "hPa"))];
  },
  pressureTendency: ({ report: { remarks } }) => {
    const of = remarks.pressureTendency;
    return of ? ["pressure", say("changed", say(`pressure.${of.character}`), amount(of.changeHpa, "hPa"))] : undefined;
  },
  pressureChange: ({ report }) => ["pressure", say(report.remarks.pressureChange ?? "")],
  densityAltitudeFt: number("densityAltitudeFt", "pressure", (value) => say("densityAltitude", height(value))),
  precipitationHourlyIn: number("precipitationHourlyIn", "precipitation", (value) => say("sinceHour", water(value))),
  precipitationPastHourMm: number("precipitationPastHourMm", "precipitation", (value) => say("inHours", amount(value, "mm"), 1)),
  sixGroupIn: ({ report: { remarks } }) => {
    const [of, minutes] = [water(remarks.sixGroupIn ?? NaN), remarks.sixGroupMinutes];
    return ["precipitation", minutes === null ? say("inSome", of) : say("inHours", of, minutes / 60)];
  },
  precipitation24hIn: number("precipitation24hIn", "precipitation", (value) => say("inHours", water(value), 24)),
  snowDepthIn: number("snowDepthIn", "snow", (value) => say("depth", snow(value))),
  snowfall6hIn: number("snowfall6hIn", "snow", (value) => say("fallen", snow(value))),
  snowWaterEquivalentIn: number("snowWaterEquivalentIn", "snow", (value) => say("water", water(value))),
  snowIncrease1hIn: ({ report: { remarks } }) => ["snow", say("grew", snow(remarks.snowIncrease1hIn ?? NaN), snow(remarks.snowIncreaseDepthIn ?? NaN))],
  ice1hIn: number("ice1hIn", "ice", (value) => say("inHours", water(value), 1)),
  ice3hIn: number("ice3hIn", "ice", (value) => say("inHours", water(value), 3)),
  ice6hIn: number("ice6hIn", "ice", (value) => say("inHours", water(value), 6)),
  sunshineMinutes: number("sunshineMinutes", "sunshine", (value) => say("sun", value)),
  hailstoneIn: number("hailstoneIn", "weather", (value) => say("hail", amount(value, "in", "mm"))),
  peakWind: ({ report }) => {
    const of = report.remarks.peakWind;
    if (!of) return undefined;
    const [speed, at] = [amount(of.speedKt, "kt", "km/h"), clock(of.hour, of.minute, report)];
    return ["wind", of.fromDeg === null ? say("wind.peakSpeed", speed, at) : say("wind.peak", bearing(of.fromDeg), speed, at)];
  },
  windShift: ({ report }) => {
    const of = report.remarks.windShift;
    return of ? ["wind", joined([say("wind.shift", clock(of.hour, of.minute, report)), of.frontalPassage && say("wind.front")])] : undefined;
  },
  towerVisibilityMi: number("towerVisibilityMi", "visibility", (value) => say("tower", miles(value))),
  surfaceVisibilityMi: number("surfaceVisibilityMi", "visibility", (value) => say("surface", miles(value))),
  variableVisibilityMi: ({ report }) => {
    const of = report.remarks.variableVisibilityMi;
    return of ? ["visibility", say("between", miles(of.least), miles(of.greatest))] : undefined;
  },
  sectorVisibilities: each("sectorVisibilities", "visibility", ({ place, distanceMi }) => say("at", where(place), miles(distanceMi))),
  variableCeilingFt: ({ report }) => {
    const of = report.remarks.variableCeilingFt;
    return of ? ["sky", say("ceiling.varies", height(of.least), height(of.greatest))] : undefined;
  },
  ceilings: each("ceilings", "sky", ({ place, heightFt }) => say("ceiling.at", height(heightFt), where(place))),
  variableSky: each("variableSky", "sky", ({ cover, otherCover, baseFt }) => {
    const both = say("turnsInto", say(cover), say(otherCover));
    return baseFt === null ? both : say("above", both, height(baseFt));
  }),
  obscurations: each("obscurations", "sky", ({ weather, cover, baseFt }, of) =>
    joined([named(weather, of), baseFt === 0 ? `${say(cover)} ${say("ground")}` : say("above", say(cover), height(baseFt ?? NaN))]),
  ),
  cloudTypes: ({ report }) => {
    const of = report.remarks.cloudTypes;
    const type = (figure: number | null) => figure ?? say("notSeen");
    return of ? ["sky", say("types", type(of.low), type(of.middle), type(of.high))] : undefined;
  },
  cloudAmounts: each("cloudAmounts", "sky", ({ what, oktas }, of) => say("oktas", named(what, of), oktas)),
  cloudLayers: each("cloudLayers", "sky", ({ what, oktas, baseFt }, of) => say("above", say("oktas", named(what, of), oktas), height(baseFt))),
  weatherTimes: each("weatherTimes", "weather", ({ weather, event, hour, minute }, of) =>
    say(event === "begin" ? "began" : "ended", named(weather, of), clock(hour, minute, of.report)),
  ),
  lightning: each("lightning", "weather", ({ frequency, kinds, place }) => joined([say(frequency ?? "LTG"), ...kinds.map((kind) => say(kind)), where(place)])),
  phenomena: each("phenomena", "weather", ({ what, place, moving }) => {
    const isDirection = moving !== null && !["LTL", "STNRY", "UNKN"].includes(moving);
    return joined([cloudName(what) ?? say(what), where(place), moving && (isDirection ? say("moving", where(moving)) : say(moving))]);
  }),
  notes: each("notes", "note", (note) => say(note)),
};

/** What a row of a report says, in a line. */
export function lineOf({ groups, facts, isUnknown }: Row, of: Decoded): Line {
  const said = facts.map((path) => factOf(path, of)).filter((fact) => fact !== undefined);
  const text = joined(said.map(([, one]) => one));
  const about = said[0]?.[0];
  if (about === undefined) return { groups: groups.join(" "), about: "", text: say(isUnknown ? "unknown" : "noValue") };
  return { groups: groups.join(" "), about: say(about), text };
}

function factOf(path: string, of: Decoded): Fact | undefined {
  const [first = "", second = "", third] = path.split(".");
  if (first !== "remarks" || second === "") return BODY[first]?.(of, Number(second));
  return second === "outages" ? ["outage", outage(third ?? "")] : REMARKS[second]?.(of, Number(third));
}

/** What is out of order, and where. */
function outage(text: string): string {
  const [, what, place] = /^(visibility|ceiling)(.*)$/.exec(text) ?? [];
  return what === undefined ? say(text) : `${say(what)}${place}`;
}
