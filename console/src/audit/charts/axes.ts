import type { BucketUnit } from "../../generated/documents.ts";
import { dollars, shortCount } from "../../design/amounts.ts";
import type { Unit } from "./content.ts";

const DECIMALS = [1, 2, 5]
  .flatMap((digit) => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((power) => digit * 10 ** power))
  .toSorted((one, other) => one - other);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The distances that two marks of an axis may have. */
export const STEPS: Readonly<Record<Unit, number[]>> = {
  count: DECIMALS,
  dollars: [...DECIMALS.map((step) => step / 1e6), ...DECIMALS.filter((step) => step > 500)],
  duration: [
    ...DECIMALS.filter((step) => step <= 20_000),
    30_000,
    ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE_MS),
    ...[1, 2, 4, 8, 12, 24, 48, 96, 240, 480, 1_200, 4_800].map((hours) => hours * HOUR_MS),
  ],
};

/** The text at a mark of an axis. */
export function markText(unit: Unit, value: number, locale: string): string {
  switch (unit) {
    case "count":
      return shortCount(value, locale);
    case "dollars":
      return value === 0 ? "$0" : dollars(value, locale);
    case "duration":
      if (value < 1_000) return `${value} ms`;
      if (value < MINUTE_MS) return `${value / 1_000} s`;
      if (value < HOUR_MS) return `${value / MINUTE_MS} min`;
      return `${value / HOUR_MS} h`;
  }
}

const FORMATS: Readonly<Record<BucketUnit, Intl.DateTimeFormatOptions>> = {
  HOUR: { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" },
  DAY: { weekday: "short", year: "numeric", month: "short", day: "numeric" },
  WEEK: { year: "numeric", month: "short", day: "numeric" },
  MONTH: { year: "numeric", month: "long" },
};

/** The begin of a bucket, in the zone of the browser. */
export function bucketText(from: string, unit: BucketUnit, locale: string): string {
  return new Intl.DateTimeFormat(locale, FORMATS[unit]).format(new Date(from));
}

const DAY_S = 86_400;

/** The texts at marks of the time axis, which are `distance` seconds apart. */
export function timeText(seconds: number, distance: number, locale: string): string {
  const time = new Date(seconds * 1_000);
  const isMidnight = time.getHours() === 0 && time.getMinutes() === 0;
  const format: Intl.DateTimeFormatOptions =
    distance >= 28 * DAY_S
      ? { month: "short", year: "numeric" }
      : distance >= DAY_S || isMidnight
        ? { month: "short", day: "numeric" }
        : { hour: "2-digit", minute: "2-digit" };
  return new Intl.DateTimeFormat(locale, format).format(time);
}
