import { keptFormat } from "./kept-formats.ts";

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;

const UNITS = [
  { unit: "day", seconds: DAY_S },
  { unit: "hour", seconds: HOUR_S },
  { unit: "minute", seconds: MINUTE_S },
] as const;

const relativeFormat = keptFormat((locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }));
const zonedFormat = keptFormat((locale) => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long" }));

/** Makes the formats of a language. The first ones cost a browser some 20 ms, which a page has while it waits for the server. */
export function prepareTimes(locale: string): void {
  relativeFormat(locale);
  zonedFormat(locale);
}

/** The distance of a time from now in its greatest whole unit, for example `3 minutes ago`. */
export function relativeText(time: string, nowMs: number, locale: string): string {
  const seconds = Math.round((Date.parse(time) - nowMs) / 1_000);
  const found = UNITS.find((each) => Math.abs(seconds) >= each.seconds);
  const format = relativeFormat(locale);
  return found === undefined ? format.format(seconds, "second") : format.format(Math.trunc(seconds / found.seconds), found.unit);
}

/** A time with its zone. */
export function zonedText(time: string, locale: string): string {
  return zonedFormat(locale).format(new Date(time));
}

/** A duration for people: `420 ms`, `3.2 s`, `4 min 10 s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}
