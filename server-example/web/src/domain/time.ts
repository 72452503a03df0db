// Times as they are shown: always with their zone.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** A reading older than this is pale and says its age. */
export const OLD_S = 90 * 60;

export const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format, made once: making one takes longer than using it a hundred times. */
function format(locale: string, zone: string, isLong: boolean): Intl.DateTimeFormat {
  const key = `${locale} ${zone} ${isLong}`;
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(locale, {
    timeZone: zone,
    ...(isLong && { weekday: "short", year: "numeric" }),
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    // Where clocks are set back, 1:30 comes twice: only the name of the zone tells which.
    timeZoneName: "short",
  });
  formats.set(key, made);
  return made;
}

/** A time in a zone of the tz database, with the day of the week, the year and the name of the zone. */
export const longTime = (ms: number, locale: string, zone = "UTC"): string => format(locale, zone, true).format(ms);

/** The same without the day of the week and the year. */
export const shortTime = (ms: number, locale: string, zone = "UTC"): string => format(locale, zone, false).format(ms);

/** The short name of a zone at a time, such as EDT; its offset if it has none. */
export const zoneName = (ms: number, locale: string, zone: string): string =>
  format(locale, zone, false).formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? zone;

/** Hours and minutes of a time in a zone. */
export function hourOf(ms: number, zone: string): string {
  const parts = format("en-CA", zone, false).formatToParts(ms);
  const part = (wanted: string) => parts.find(({ type }) => type === wanted)?.value ?? "";
  return `${part("hour")}:${part("minute")}`;
}

/** A span in the largest unit that fits: 12 min, 3 h, 5 d (5 j in French). */
export function span(seconds: number, locale: string): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes}\u202fmin`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)}\u202fh`;
  return `${Math.round(minutes / 1440)}\u202f${locale.startsWith("fr") ? "j" : "d"}`;
}

/** The start of a run of a model by its stamp, such as 20240803T120000Z; milliseconds since 1970. */
export function runStart_ms(run: string): number {
  return Date.parse(run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}
