import { expect, it } from "vitest";
import type { Budget } from "../../../src/agent/budgets/budget.ts";
import { readStandings } from "../../../src/agent/budgets/periods.ts";
import { isZoneOfDatabase } from "../../../src/db/time-zone.ts";
import { setPolicyTime } from "../../support/clock.ts";
import { testDatabase } from "../../support/database.ts";

const ZONES = [
  "CET",
  "EET",
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Pacific/Kiritimati",
  "Africa/Cairo",
  "Asia/Kathmandu",
  "America/St_Johns",
];

/** Around days that have 23 or 25 hours, ends of months and of years, and a leap day. */
const TIMES = [
  "2026-03-28T22:59:59.999Z",
  "2026-03-28T23:00:00Z",
  "2026-03-29T21:59:59Z",
  "2026-03-29T22:00:00Z",
  "2026-10-25T00:30:00Z",
  "2026-10-25T22:59:59Z",
  "2026-10-25T23:00:00Z",
  "2026-11-01T05:30:00Z",
  "2026-11-01T06:30:00Z",
  "2026-04-23T21:59:59Z",
  "2026-04-23T22:00:00Z",
  "2027-12-31T10:00:00Z",
  "2027-12-31T23:30:00Z",
  "2028-02-29T12:00:00Z",
  "2028-03-01T03:29:59Z",
];

/** The calendar date of an instant in a zone, as the other implementation of calendars has it. */
function dateIn(timeZone: string, time: Date): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" }).format(time);
}

it(
  "counts calendar days and months of the zone by the database's time, also where clocks change",
  { timeout: 60_000 },
  async () => {
    const { sql } = await testDatabase();
    const links = ZONES.flatMap((timeZone) =>
      (["DAY", "MONTH"] as const).map((window) => ({ budget: { id: "one", timeZone, window } as Budget, ref: "" })),
    );
    for (const time of TIMES) {
      await setPolicyTime(sql, `'${time}'::timestamptz`);
      const now = new Date(time);
      for (const { budget, period } of await readStandings(sql, "acme", links)) {
        const { timeZone, window } = budget;
        const of = (instant: Date): string => dateIn(timeZone, instant).slice(0, window === "DAY" ? 10 : 7);
        const [first, end] = [new Date(period.startsAt), new Date(period.endsAt ?? 0)];
        const said = `${time} ${timeZone} ${window}`;
        expect(of(first), said).toBe(of(now));
        expect(of(new Date(end.getTime() - 1)), said).toBe(of(now));
        expect(of(new Date(first.getTime() - 1)), said).not.toBe(of(now));
        expect(of(end), said).not.toBe(of(now));
      }
    }
  },
);

it("has one period without a window, and knows the zones of the database", async () => {
  const { sql } = await testDatabase();
  const [standing] = await readStandings(sql, "acme", [
    { budget: { id: "one", timeZone: "UTC", window: "NONE" } as Budget, ref: "" },
  ]);
  expect(standing?.period).toMatchObject({ startsAt: "1970-01-01T00:00:00.000Z", endsAt: null, spentMillionths: 0 });
  expect(await isZoneOfDatabase(sql, "Europe/Berlin")).toBe(true);
  expect(await isZoneOfDatabase(sql, "Mars/Olympus")).toBe(false);
});
