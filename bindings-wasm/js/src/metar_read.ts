// Makes the objects of a report, each member in the order of the structures of the core.
import { milliseconds, object, text } from "./check.js";
import { refusing } from "./error.js";
import { FlatReader } from "./flat.js";
import type {
  ClockTime,
  CloudAmount,
  CloudLayer,
  CloudTypes,
  Lightning,
  MetarCeiling,
  MetarRange,
  MetarRemarks,
  Obscuration,
  PeakWind,
  Phenomenon,
  PressureTendency,
  SectorVisibility,
  VariableSky,
  WeatherTime,
  WindShift,
} from "./metar_remarks.js";
import type {
  DirectionalVisibility,
  MetarAltimeter,
  MetarCloud,
  MetarGroups,
  MetarReport,
  MetarReportFunctions,
  MetarVisibility,
  MetarWeather,
  MetarWind,
  Raw,
  RunwayVisualRange,
} from "./metar_report.js";

const metarRange = (of: FlatReader): MetarRange => ({ least: of.number(), greatest: of.number() });
const peakWind = (of: FlatReader): PeakWind => ({
  fromDeg: of.numberOrNull(),
  speedKt: of.number(),
  hour: of.numberOrNull(),
  minute: of.number(),
});
const pressureTendency = (of: FlatReader): PressureTendency => ({ character: of.number(), changeHpa: of.number() });
const windShift = (of: FlatReader): WindShift => ({
  hour: of.numberOrNull(),
  minute: of.number(),
  frontalPassage: of.flag(),
});
const sectorVisibility = (of: FlatReader): SectorVisibility => ({ distanceMi: of.number(), place: of.text() });
const metarCeiling = (of: FlatReader): MetarCeiling => ({ heightFt: of.number(), place: of.text() });
const variableSky = (of: FlatReader): VariableSky => ({
  cover: of.text(),
  otherCover: of.text(),
  baseFt: of.numberOrNull(),
});
const obscuration = (of: FlatReader): Obscuration => ({
  weather: of.text(),
  cover: of.text(),
  baseFt: of.numberOrNull(),
});
const weatherTime = (of: FlatReader): WeatherTime => ({
  weather: of.text(),
  event: of.text(),
  hour: of.numberOrNull(),
  minute: of.number(),
});
const lightning = (of: FlatReader): Lightning => ({ frequency: of.textOrNull(), kinds: of.texts(), place: of.text() });
const clockTime = (of: FlatReader): ClockTime => ({ hour: of.numberOrNull(), minute: of.number() });
const phenomenon = (of: FlatReader): Phenomenon => ({
  what: of.text(),
  began: of.isObject() ? clockTime(of) : null,
  ended: of.isObject() ? clockTime(of) : null,
  distanceMi: of.numberOrNull(),
  place: of.text(),
  moving: of.textOrNull(),
});
const cloudTypes = (of: FlatReader): CloudTypes => ({
  low: of.numberOrNull(),
  middle: of.numberOrNull(),
  high: of.numberOrNull(),
});
const cloudAmount = (of: FlatReader): CloudAmount => ({ what: of.text(), oktas: of.number() });
const cloudLayer = (of: FlatReader): CloudLayer => ({ oktas: of.number(), what: of.text(), baseFt: of.number() });
const metarRemarks = (of: FlatReader): MetarRemarks => ({
  automatedStation: of.textOrNull(),
  temperatureC: of.numberOrNull(),
  dewPointC: of.numberOrNull(),
  seaLevelPressureHpa: of.numberOrNull(),
  pressureTendency: of.isObject() ? pressureTendency(of) : null,
  pressureChange: of.textOrNull(),
  precipitationHourlyIn: of.numberOrNull(),
  precipitationPastHourMm: of.numberOrNull(),
  sixGroupIn: of.numberOrNull(),
  sixGroupMinutes: of.numberOrNull(),
  precipitation24hIn: of.numberOrNull(),
  snowDepthIn: of.numberOrNull(),
  snowfall6hIn: of.numberOrNull(),
  snowWaterEquivalentIn: of.numberOrNull(),
  snowIncrease1hIn: of.numberOrNull(),
  snowIncreaseDepthIn: of.numberOrNull(),
  max6hC: of.numberOrNull(),
  min6hC: of.numberOrNull(),
  max24hC: of.numberOrNull(),
  min24hC: of.numberOrNull(),
  ice1hIn: of.numberOrNull(),
  ice3hIn: of.numberOrNull(),
  ice6hIn: of.numberOrNull(),
  sunshineMinutes: of.numberOrNull(),
  peakWind: of.isObject() ? peakWind(of) : null,
  windShift: of.isObject() ? windShift(of) : null,
  towerVisibilityMi: of.numberOrNull(),
  surfaceVisibilityMi: of.numberOrNull(),
  variableVisibilityMi: of.isObject() ? metarRange(of) : null,
  sectorVisibilities: of.list(sectorVisibility),
  variableCeilingFt: of.isObject() ? metarRange(of) : null,
  ceilings: of.list(metarCeiling),
  variableSky: of.list(variableSky),
  obscurations: of.list(obscuration),
  weatherTimes: of.list(weatherTime),
  lightning: of.list(lightning),
  phenomena: of.list(phenomenon),
  hailstoneIn: of.numberOrNull(),
  hailstoneBound: of.textOrNull(),
  cloudTypes: of.isObject() ? cloudTypes(of) : null,
  cloudAmounts: of.list(cloudAmount),
  cloudLayers: of.list(cloudLayer),
  densityAltitudeFt: of.numberOrNull(),
  altimeterInHg: of.numberOrNull(),
  qfeMmHg: of.numberOrNull(),
  qfeHpa: of.numberOrNull(),
  notes: of.texts(),
  outages: of.texts(),
});
const metarWind = (of: FlatReader): MetarWind => ({
  fromDeg: of.numberOrNull(),
  variable: of.flag(),
  speed: of.numberOrNull(),
  gust: of.numberOrNull(),
  unit: of.text(),
  speedKmh: of.numberOrNull(),
  gustKmh: of.numberOrNull(),
  turnsFromDeg: of.numberOrNull(),
  turnsToDeg: of.numberOrNull(),
});
const metarVisibility = (of: FlatReader): MetarVisibility => ({
  distance: of.number(),
  unit: of.text(),
  bound: of.text(),
  distanceKm: of.number(),
});
const directionalVisibility = (of: FlatReader): DirectionalVisibility => ({
  distanceM: of.number(),
  direction: of.text(),
});
const runwayVisualRange = (of: FlatReader): RunwayVisualRange => ({
  runway: of.text(),
  least: of.numberOrNull(),
  greatest: of.numberOrNull(),
  isBelowLeast: of.flag(),
  isAboveGreatest: of.flag(),
  unit: of.text(),
  tendency: of.textOrNull(),
});
const metarWeather = (of: FlatReader): MetarWeather => ({
  text: of.text(),
  description: of.text(),
  intensity: of.textOrNull(),
  inVicinity: of.flag(),
  recent: of.flag(),
  codes: of.texts(),
});
const metarCloud = (of: FlatReader): MetarCloud => ({
  cover: of.text(),
  oktas: of.numberOrNull(),
  baseFt: of.numberOrNull(),
  convection: of.textOrNull(),
  genus: of.textOrNull(),
});
const metarAltimeter = (of: FlatReader): MetarAltimeter => ({ value: of.number(), unit: of.text(), hpa: of.number() });
export const metarGroups = (of: FlatReader): MetarGroups => ({
  text: of.text(),
  kind: of.textOrNull(),
  station: of.text(),
  day: of.number(),
  hour: of.number(),
  minute: of.number(),
  revision: of.number(),
  auto: of.flag(),
  nil: of.flag(),
  wind: of.isObject() ? metarWind(of) : null,
  visibility: of.isObject() ? metarVisibility(of) : null,
  directionalVisibilities: of.list(directionalVisibility),
  cavok: of.flag(),
  runwayVisualRanges: of.list(runwayVisualRange),
  weather: of.list(metarWeather),
  weatherMissing: of.flag(),
  clouds: of.list(metarCloud),
  ceilingFt: of.numberOrNull(),
  verticalVisibilityFt: of.numberOrNull(),
  temperatureC: of.numberOrNull(),
  dewPointC: of.numberOrNull(),
  altimeter: of.isObject() ? metarAltimeter(of) : null,
  seaSurfaceTemperatureC: of.numberOrNull(),
  seaState: of.numberOrNull(),
  windShear: of.texts(),
  runwayStates: of.texts(),
  trend: of.textOrNull(),
  remarks: metarRemarks(of),
  notUnderstood: of.texts(),
});

/** A report with its time and its line, which stand behind the groups. */
function metarReport(of: FlatReader): MetarReport {
  // The groups themselves: a copy of so many members takes longer than making them.
  const report = metarGroups(of) as { -readonly [K in keyof MetarReport]: MetarReport[K] };
  report.tsMs = of.numberOrNull();
  report.summary = of.text();
  return report;
}

export function metarReportFunctions(raw: Raw): MetarReportFunctions {
  const [reader, flat] = [new raw.MetarReader(), new FlatReader(raw)];
  return {
    parseMetar(report, options = {}) {
      const given = text(report, "text");
      const { receivedMs } = object(options, "options");
      const received = receivedMs === undefined ? NaN : milliseconds(receivedMs, "receivedMs");
      flat.start(refusing(() => reader.read(given, received)));
      return metarReport(flat);
    },
  };
}
