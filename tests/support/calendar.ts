import type { BucketUnit } from "../../src/lib/time-buckets.ts";

const DAY = 86_400_000;

/** The unit of the calendar to which a moment belongs, in words of its zone, by other means than the server's. */
export function unitOf(unit: BucketUnit, format: Intl.DateTimeFormat, time: number): string {
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const { year = "", month = "", day = "", hour = "", timeZoneName = "" } = parts;
  switch (unit) {
    case "HOUR":
      return `${year}-${month}-${day} ${hour} ${timeZoneName}`;
    case "DAY":
      return `${year}-${month}-${day}`;
    case "WEEK": {
      const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
      return String(Math.floor((date.getTime() / DAY + 3) / 7));
    }
    case "MONTH":
      return `${year}-${month}`;
  }
}

/** The calendar of a zone, for `unitOf`. */
export const calendarOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    timeZoneName: "longOffset",
  });
