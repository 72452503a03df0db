// Times as they are shown: always with their zone.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** A reading older than this is pale and says its age. */
export const OLD_S = 90 * 60;

export const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

export function utc(ms: number, locale: string): string {
  const text = new Date(ms).toLocaleString(locale, {
    timeZone: "UTC",
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  return `${text} UTC`;
}

export function utcShort(ms: number, locale: string): string {
  const format = { timeZone: "UTC", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  return `${new Date(ms).toLocaleString(locale, format)} UTC`;
}

export function local(ms: number, locale: string): string {
  return new Date(ms).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });
}

/** A span in the largest unit that fits: 12 min, 3 h, 5 d (5 j in French). */
export function span(seconds: number, locale: string): string {
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes}\u202fmin`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)}\u202fh`;
  return `${Math.round(minutes / 1440)}\u202f${locale.startsWith("fr") ? "j" : "d"}`;
}
