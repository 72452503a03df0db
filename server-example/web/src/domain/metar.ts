// Decoding of METAR. The service keeps the readings of a report and its weather; where a report comes with
// its text, and the core has a decoder, this is the place that brings the two together.

/** A report of a station as the service gives it. */
export interface WeatherReport {
  readonly timestamp: string;
  readonly presentWeather: readonly string[];
  readonly text?: string;
}

/** What can be shown of a report: its text if there is one, and its weather in words. */
export function describe(report: WeatherReport): { text?: string; weather: string } {
  const weather = report.presentWeather.join(", ");
  return report.text === undefined ? { weather } : { text: report.text, weather };
}
