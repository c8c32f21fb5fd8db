import { describe, expect, it } from "vitest";
import { isPresent, snoozeEnd } from "../../console/src/inbox/snooze/snooze-times.ts";

/** A time of the zone in which the test runs. November 30, 2026 is a Monday. */
const at = (day: number, hour: number, minute = 0): Date => new Date(2026, 10, day, hour, minute);

describe("the ends of a snooze, in the zone of the page", () => {
  it("puts off for an hour", () => {
    expect(snoozeEnd("hour", at(30, 23, 30))).toEqual(new Date(2026, 11, 1, 0, 30));
  });

  it("means the next morning that is some hours away: at night that of the same day", () => {
    expect(snoozeEnd("morning", at(27, 17))).toEqual(at(28, 8));
    expect(snoozeEnd("morning", at(27, 1))).toEqual(at(27, 8));
    expect(snoozeEnd("morning", at(27, 4, 1))).toEqual(at(28, 8));
    expect(snoozeEnd("morning", at(27, 7, 59))).toEqual(at(28, 8));
  });

  it("means Monday of the next week, also on a Monday and on a Sunday", () => {
    expect(snoozeEnd("week", at(27, 12))).toEqual(at(30, 8));
    expect(snoozeEnd("week", at(29, 12))).toEqual(at(30, 8));
    expect(snoozeEnd("week", at(30, 1))).toEqual(new Date(2026, 11, 7, 8));
  });

  it("is over at its time, and without a time never", () => {
    const until = at(27, 8).toISOString();
    expect(isPresent({ until }, at(27, 7).getTime())).toBe(true);
    expect(isPresent({ until }, at(27, 8).getTime())).toBe(false);
    expect(isPresent({ until: null }, at(27, 8).getTime())).toBe(true);
    expect(isPresent(undefined, 0)).toBe(false);
  });
});
