import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BUCKET_UNITS, bucketEdges, type BucketUnit } from "../../src/lib/time-buckets.ts";
import { calendarOf, unitOf } from "../support/calendar.ts";

const ZONES = [
  "UTC",
  "Asia/Kathmandu",
  "Australia/Lord_Howe",
  "America/New_York",
  "America/Havana",
  "Africa/Cairo",
  "Europe/Berlin",
];
const DAY = 86_400_000;

const edgesOf = (unit: BucketUnit, timeZone: string, from: string, to: string): readonly string[] | undefined =>
  bucketEdges(unit, timeZone, { from: new Date(from), to: new Date(to) }, 1_000)?.map((edge) =>
    new Date(edge).toISOString().replace(":00.000Z", "Z"),
  );

describe("the edges of time buckets", () => {
  it("put two moments together if and only if the zone's clocks and calendar do", () => {
    const formats = new Map(ZONES.map((zone) => [zone, calendarOf(zone)]));
    const time = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2031, 0, 1) });
    fc.assert(
      fc.property(
        fc.constantFrom(...BUCKET_UNITS),
        fc.constantFrom(...ZONES),
        time,
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 2, maxLength: 12 }),
        (unit, zone, from, places) => {
          const to = from + 1 + 40 * (unit === "HOUR" ? DAY / 24 : DAY);
          const edges = bucketEdges(unit, zone, { from: new Date(from), to: new Date(to) }, 1_000) ?? [];
          expect(edges[0]).toBeLessThanOrEqual(from);
          expect(edges[1]).toBeGreaterThan(from);
          expect(edges.at(-1)).toBeGreaterThanOrEqual(to);
          expect(edges.at(-2)).toBeLessThan(to);
          expect(edges.toSorted((one, other) => one - other)).toEqual([...new Set(edges)]);
          const format = formats.get(zone) ?? calendarOf(zone);
          // Moments anywhere, and those just before and at each edge.
          const moments = [
            ...places.map((place) => from + Math.floor(place * (to - from))),
            ...edges.flatMap((edge) => [edge - 1, edge]),
          ]
            .filter((moment) => moment >= from && moment < to)
            .toSorted((one, other) => one - other);
          for (const [index, moment] of moments.entries()) {
            const next = moments[index + 1];
            if (next === undefined) continue;
            const isTogether = edges.findLast((edge) => edge <= moment) === edges.findLast((edge) => edge <= next);
            expect(isTogether, `${zone} ${unit} ${moment} ${next}`).toBe(
              unitOf(unit, format, moment) === unitOf(unit, format, next),
            );
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  it("are those of days of 23 and 25 hours, and of half an hour that is shown twice", () => {
    expect(edgesOf("DAY", "America/New_York", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z")).toEqual([
      "2026-03-08T05:00Z",
      "2026-03-09T04:00Z",
    ]);
    expect(edgesOf("DAY", "America/New_York", "2026-11-01T12:00:00Z", "2026-11-02T06:00:00Z")).toEqual([
      "2026-11-01T04:00Z",
      "2026-11-02T05:00Z",
      "2026-11-03T05:00Z",
    ]);
    expect(edgesOf("HOUR", "Australia/Lord_Howe", "2026-04-04T14:10:00Z", "2026-04-04T16:00:00Z")).toEqual([
      "2026-04-04T14:00Z",
      "2026-04-04T15:00Z",
      "2026-04-04T15:30Z",
      "2026-04-04T16:30Z",
    ]);
  });

  it("begin a day at its first moment, where clocks leave midnight out or show it twice, and leave out a date that a zone skipped", () => {
    expect(edgesOf("DAY", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-24T12:00:00Z")).toEqual([
      "2026-04-22T22:00Z",
      "2026-04-23T22:00Z",
      "2026-04-24T21:00Z",
    ]);
    expect(edgesOf("DAY", "America/Havana", "2026-11-01T12:00:00Z", "2026-11-01T13:00:00Z")).toEqual([
      "2026-11-01T04:00Z",
      "2026-11-02T05:00Z",
    ]);
    expect(edgesOf("DAY", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-31T00:00:00Z")).toEqual([
      "2011-12-29T10:00Z",
      "2011-12-30T10:00Z",
      "2011-12-31T10:00Z",
    ]);
  });

  it("are of weeks that begin on Monday, and of months, also over a change of the clocks", () => {
    expect(edgesOf("WEEK", "Asia/Kathmandu", "2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z")).toEqual([
      "2025-12-28T18:15Z",
      "2026-01-04T18:15Z",
      "2026-01-11T18:15Z",
    ]);
    expect(edgesOf("MONTH", "Europe/Berlin", "2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z")).toEqual([
      "2026-02-28T23:00Z",
      "2026-03-31T22:00Z",
      "2026-04-30T22:00Z",
      "2026-05-31T22:00Z",
    ]);
  });

  it("are not made if there would be too many", () => {
    const range = (days: number) => ({ from: new Date("2026-01-01T00:00:00Z"), to: new Date(Date.UTC(2026, 0, 1 + days)) });
    expect(bucketEdges("DAY", "UTC", range(10), 10)).toHaveLength(11);
    expect(bucketEdges("DAY", "UTC", range(11), 10)).toBeNull();
    const all = { from: new Date("0001-01-01T00:00:00Z"), to: new Date("9999-12-31T00:00:00Z") };
    for (const unit of BUCKET_UNITS) expect(bucketEdges(unit, "America/New_York", all, 1_000)).toBeNull();
  });
});
