import { describe, expect, it } from "vitest";
import { serverAhead } from "../../console/src/design/present.ts";
import { relativeText } from "../../console/src/design/time.ts";

const NOON = Date.parse("2026-03-01T12:00:00Z");

describe("the server's clock", () => {
  it("is the browser's own where they differ by less than an answer's way", () => {
    expect(serverAhead("Sun, 01 Mar 2026 12:00:03 GMT", NOON, NOON + 100)).toBe(0);
    expect(serverAhead("Sun, 01 Mar 2026 11:59:56 GMT", NOON, NOON + 100)).toBe(0);
    expect(serverAhead("Sun, 01 Mar 2026 12:00:01 GMT", NOON, NOON + 30_000)).toBe(0);
  });

  it("is ahead of a slow browser's, and behind a fast one's", () => {
    expect(serverAhead("Sun, 01 Mar 2026 13:00:00 GMT", NOON, NOON + 100)).toBe(3_600_000 - 100);
    expect(serverAhead("Sun, 01 Mar 2026 11:00:00 GMT", NOON, NOON + 100)).toBe(-3_600_000 - 100);
  });

  it("is unknown without a date, and with a broken one", () => {
    expect(serverAhead(null, NOON, NOON)).toBe(0);
    expect(serverAhead("yesterday", NOON, NOON)).toBe(0);
  });
});

it("texts of times are in the language that is asked for, whatever came before", () => {
  const time = new Date(NOON - 120_000).toISOString();
  expect([relativeText(time, NOON, "en"), relativeText(time, NOON, "zh"), relativeText(time, NOON, "en")]).toEqual([
    "2 min. ago",
    "2分钟前",
    "2 min. ago",
  ]);
});
