import { expect, it } from "vitest";
import { chartRange } from "../../console/src/audit/charts/range.ts";
import { stacked } from "../../console/src/audit/charts/content.ts";

const NOW = new Date(2026, 2, 31, 15, 30);
const day = (month: number, date: number, year = 2026): string => new Date(year, month - 1, date).toISOString();

it("without days the range is the last 30 days, the present one included", () => {
  expect(chartRange({}, NOW)).toEqual({ from: day(3, 2), to: null, unit: "DAY", units: ["HOUR", "DAY", "WEEK", "MONTH"] });
});

it("a last day alone has the 30 days up to it", () => {
  expect(chartRange({ to: "2026-01-30" }, NOW)).toMatchObject({ from: day(1, 1), to: day(1, 31) });
});

it.each([
  ["2026-03-29", "HOUR"],
  ["2026-03-01", "DAY"],
  ["2025-03-01", "WEEK"],
  ["2020-01-01", "MONTH"],
])("a range from %s has buckets of a %s, unless the address names another unit", (from, unit) => {
  expect(chartRange({ from }, NOW).unit).toBe(unit);
  expect(chartRange({ from, bucket: "WEEK" }, NOW).unit).toBe("WEEK");
});

it("a unit with more buckets than an answer has is not offered, and one that is none filters nothing", () => {
  expect(chartRange({ from: "2020-01-01", bucket: "HOUR" }, NOW)).toMatchObject({ unit: "MONTH", units: ["WEEK", "MONTH"] });
  expect(chartRange({ bucket: "YEAR" }, NOW).unit).toBe("DAY");
});

it("bars are stacked in their order; a gap has no height", () => {
  expect(
    stacked([
      [1, 2],
      [null, 3],
      [4, 0],
    ]),
  ).toEqual([
    [1, 2],
    [1, 5],
    [5, 5],
  ]);
});
