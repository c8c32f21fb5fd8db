import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lookAt, type FoundSchedule, type MissedPolicy } from "../../../../src/agent/calls/schedules/look.ts";
import { MOST_COUNTED, timeAfter, timesPassed } from "../../../../src/agent/calls/schedules/next-time.ts";
import {
  readTrigger,
  storedTrigger,
  type GivenTrigger,
  type TimeTrigger,
} from "../../../../src/agent/calls/schedules/trigger.ts";

const NOW = new Date("2026-11-29T12:00:00.000Z");
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The next `count` times of a trigger after a moment. */
function times(trigger: TimeTrigger, after: string, count: number): string[] {
  const from = new Date(after);
  const found: string[] = [];
  for (let now = from; found.length < count;) {
    const next = timeAfter(trigger, from, now);
    if (next === null) break;
    found.push(next.toISOString().replace(":00.000Z", "Z"));
    now = next;
  }
  return found;
}

const cron = (expression: string, timeZone: string): TimeTrigger => ({ kind: "CRON", cron: expression, timeZone });

describe("cron by the wall clock of a zone", () => {
  it.each([
    // Clocks go from 2:00 to 3:00: the time that does not exist is the first moment after it.
    ["Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z", "2026-03-31T00:30Z"]],
    ["America/New_York", "30 2 * * *", "2026-03-07T12:00:00Z", ["2026-03-08T07:00Z", "2026-03-09T06:30Z", "2026-03-10T06:30Z"]],
    // Lord Howe's clocks go on by half an hour only: from 2:00 to 2:30.
    ["Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00:00Z", ["2026-10-03T15:30Z", "2026-10-04T15:15Z"]],
    ["Australia/Lord_Howe", "30 2 * * *", "2026-10-03T12:00:00Z", ["2026-10-03T15:30Z", "2026-10-04T15:30Z"]],
    ["America/New_York", "0 2 * * *", "2026-03-07T12:00:00Z", ["2026-03-08T07:00Z", "2026-03-09T06:00Z"]],
    // Clocks go back: the time that exists twice is its first one.
    ["Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z", "2026-10-27T01:30Z"]],
    ["America/New_York", "30 1 * * *", "2026-10-31T12:00:00Z", ["2026-11-01T05:30Z", "2026-11-02T06:30Z"]],
    ["Australia/Lord_Howe", "45 1 * * *", "2026-04-04T12:00:00Z", ["2026-04-04T14:45Z", "2026-04-05T15:15Z"]],
    // Every hour is every hour, in the hour that exists twice as well.
    ["Europe/Berlin", "0 * * * *", "2026-10-24T23:30:00Z", ["2026-10-25T00:00Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z"]],
    ["Europe/Berlin", "*/30 * * * *", "2026-03-29T00:00:00Z", ["2026-03-29T00:30Z", "2026-03-29T01:00Z", "2026-03-29T01:30Z"]],
    // Nine o'clock is nine o'clock before and after.
    ["Europe/Berlin", "0 9 * * *", "2026-03-28T00:00:00Z", ["2026-03-28T08:00Z", "2026-03-29T07:00Z", "2026-03-30T07:00Z"]],
    ["America/New_York", "0 9 * * 1-5", "2026-10-30T00:00:00Z", ["2026-10-30T13:00Z", "2026-11-02T14:00Z"]],
  ])("%s: %s after %s", (timeZone, expression, after, expected) => {
    expect(times(cron(expression, timeZone), after, expected.length)).toEqual(expected);
  });

  it.each(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])(
    "has no time twice and none before, in %s",
    (timeZone) => {
      const fields = fc.tuple(fc.constantFrom("0", "30", "*/15", "*"), fc.constantFrom("1", "2", "3", "*", "1-3"));
      const days = fc.integer({ min: 0, max: 365 * 24 * 60 });
      fc.assert(
        fc.property(fields, days, ([minute, hour], offset) => {
          const trigger = cron(`${minute} ${hour} * * *`, timeZone);
          let now = new Date(Date.UTC(2026, 0, 1) + offset * MINUTE);
          for (let n = 0; n < 5; n += 1) {
            const next = timeAfter(trigger, now, now);
            expect(next?.getTime()).toBeGreaterThan(now.getTime());
            now = next ?? now;
          }
        }),
        { numRuns: 50 },
      );
    },
  );
});

describe("an interval", () => {
  it("is elapsed time, also over the days on which clocks change, and does not drift", () => {
    const trigger: TimeTrigger = { kind: "INTERVAL", everyMs: 2 * 60 * MINUTE };
    expect(times(trigger, "2026-03-28T23:30:00Z", 4)).toEqual([
      "2026-03-29T01:30Z",
      "2026-03-29T03:30Z",
      "2026-03-29T05:30Z",
      "2026-03-29T07:30Z",
    ]);
    // Each look is late: the next time is still a whole number of intervals after the first.
    let next = new Date(NOW.getTime() + 60 * MINUTE);
    for (let n = 0; n < 1_000; n += 1)
      next = timeAfter({ kind: "INTERVAL", everyMs: 60 * MINUTE }, next, new Date(next.getTime() + 999)) ?? next;
    expect(next.getTime() - NOW.getTime()).toBe(1_001 * 60 * MINUTE);
  });
});

const found = (changes: Partial<FoundSchedule>): FoundSchedule => ({
  trigger: { kind: "INTERVAL", everyMs: MINUTE },
  policy: "ONCE",
  nextAt: NOW,
  countsAfter: null,
  owed: 0,
  waiting: 0,
  ...changes,
});

describe("a look at a schedule", () => {
  const after = (minutes: number): Date => new Date(NOW.getTime() + minutes * MINUTE);

  it("that comes in time sends one reminder, whatever the policy is", () => {
    for (const policy of ["SKIP", "ONCE", "ALL"] as const)
      expect(lookAt(found({ policy }), new Date(NOW.getTime() + 900))).toEqual({
        reminder: { dueAt: NOW, missed: 0 },
        nextAt: after(1),
        owed: 0,
      });
  });

  it("that comes late skips, sends one for all, or one for each of the last ten", () => {
    const hourly = { trigger: { kind: "INTERVAL", everyMs: 60 * MINUTE } } as const;
    const late = after(30 * 60 + 30);
    expect(lookAt(found({ ...hourly, policy: "SKIP" }), late)).toEqual({ reminder: null, nextAt: after(31 * 60), owed: 31 });
    expect(lookAt(found({ ...hourly, policy: "ONCE" }), late)).toEqual({
      reminder: { dueAt: after(30 * 60), missed: 30 },
      nextAt: after(31 * 60),
      owed: 0,
    });
    const sent: unknown[] = [];
    let now = { nextAt: NOW, owed: 0 };
    for (let waiting = 0; waiting < 20 && now.nextAt <= late; waiting += 1) {
      const { reminder, nextAt, owed } = lookAt(found({ ...hourly, policy: "ALL", ...now, waiting }), late);
      if (reminder !== null) sent.push(reminder);
      if (nextAt === null) break;
      now = { nextAt, owed };
    }
    expect(sent).toEqual(Array.from({ length: 10 }, (_, n) => ({ dueAt: after((21 + n) * 60), missed: n === 0 ? 21 : 0 })));
    expect(now.nextAt).toEqual(after(31 * 60));
  });

  it("that finds its last reminder waiting counts the time as missed", () => {
    expect(lookAt(found({ waiting: 1, owed: 4 }), NOW)).toEqual({ reminder: null, nextAt: after(1), owed: 5 });
    expect(lookAt(found({ owed: 5 }), NOW)).toMatchObject({ reminder: { missed: 5 }, owed: 0 });
  });

  it("after its agent was archived leaves out the times until then", () => {
    const countsAfter = after(100);
    expect(lookAt(found({ countsAfter }), countsAfter)).toEqual({ reminder: null, nextAt: after(101), owed: 0 });
    expect(lookAt(found({ countsAfter, trigger: { kind: "TIME", at: NOW.toISOString() } }), countsAfter).nextAt).toBeNull();
  });

  it("counts 10,000 missed times up to a bound, in a bounded time, for each policy", () => {
    const missed = after(10_000);
    for (const trigger of [cron("* * * * *", "Europe/Berlin"), { kind: "INTERVAL", everyMs: MINUTE } as const]) {
      const { count, newest } = timesPassed(trigger, NOW, missed, 10);
      expect(count).toBe(MOST_COUNTED);
      expect(newest).toEqual(Array.from({ length: 10 }, (_, n) => after(9_991 + n)));
      const policies: readonly MissedPolicy[] = ["SKIP", "ONCE", "ALL"];
      for (const policy of policies) {
        const looked = lookAt(found({ trigger, policy }), missed);
        expect(looked.reminder?.dueAt).toEqual(after(policy === "ALL" ? 9_991 : 10_000));
        expect(looked.nextAt).toEqual(after(policy === "ALL" ? 9_992 : 10_001));
        expect(looked.reminder?.missed).toBe(policy === "ALL" ? MOST_COUNTED - 10 : MOST_COUNTED - 1);
      }
    }
  });

  it("always moves on, and never counts backwards, whatever the times are", () => {
    const policy = fc.constantFrom<MissedPolicy>("SKIP", "ONCE", "ALL");
    const trigger = fc.oneof(
      fc.integer({ min: MINUTE, max: 30 * DAY }).map((everyMs): TimeTrigger => ({ kind: "INTERVAL", everyMs })),
      fc.constantFrom("*/5 * * * *", "30 2 * * *", "0 0 29 2 *").map((each) => cron(each, "Europe/Berlin")),
    );
    const lateMs = fc.integer({ min: 0, max: 400 * DAY });
    const few = fc.integer({ min: 0, max: 12 });
    fc.assert(
      fc.property(policy, trigger, lateMs, few, few, (each, given, late, owed, waiting) => {
        const nextAt = timeAfter(given, NOW, NOW) ?? NOW;
        const looked = lookAt(found({ policy: each, trigger: given, nextAt, owed, waiting }), new Date(nextAt.getTime() + late));
        expect(looked.nextAt?.getTime()).toBeGreaterThan(nextAt.getTime());
        expect(looked.owed + (looked.reminder?.missed ?? 0)).toBeGreaterThanOrEqual(owed);
        if (looked.reminder !== null) expect(looked.owed).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a trigger that is given", () => {
  const problem = (given: GivenTrigger) => {
    const read = readTrigger(given, NOW);
    return read.ok ? null : read.refusal.field;
  };

  it("is exactly one of its ways, with a zone for cron only", () => {
    expect(problem({})).toBeNull();
    expect(readTrigger({}, NOW).ok).toBe(false);
    expect(readTrigger({ everySteps: 1, everyMs: MINUTE }, NOW).ok).toBe(false);
    expect(problem({ everySteps: 1, timeZone: "UTC" })).toBe("timeZone");
    expect(problem({ cron: "0 9 * * *" })).toBe("timeZone");
  });

  it.each<[GivenTrigger, keyof GivenTrigger]>([
    [{ everySteps: 0 }, "everySteps"],
    [{ everySteps: 1.5 }, "everySteps"],
    [{ everySteps: 2_000_000 }, "everySteps"],
    [{ everyMs: 59_999 }, "everyMs"],
    [{ everyMs: -1 }, "everyMs"],
    [{ everyMs: Number.NaN }, "everyMs"],
    [{ everyMs: Number.MAX_VALUE }, "everyMs"],
    [{ at: NOW }, "at"],
    [{ at: new Date(Number.NaN) }, "at"],
    [{ at: new Date("9999-01-01T00:00:00Z") }, "at"],
    [{ cron: "", timeZone: "UTC" }, "cron"],
    [{ cron: "* * * * * *", timeZone: "UTC" }, "cron"],
    [{ cron: "61 * * * *", timeZone: "UTC" }, "cron"],
    [{ cron: "0 0 30 2 *", timeZone: "UTC" }, "cron"],
    [{ cron: "2030-01-01T00:00:00", timeZone: "UTC" }, "cron"],
    [{ cron: "@reboot", timeZone: "UTC" }, "cron"],
    [{ cron: `${"0".repeat(100)} * * * *`, timeZone: "UTC" }, "cron"],
    [{ cron: "0 0 31 2,4,6,9,11 *", timeZone: "UTC" }, "cron"],
    [{ files: "" }, "files"],
    [{ files: "/etc/*" }, "files"],
    [{ files: "../*.ts" }, "files"],
    [{ files: "[a" }, "files"],
    [{ files: "a\0b" }, "files"],
    [{ files: "x".repeat(201) }, "files"],
    [{ files: "{a,b}".repeat(30) }, "files"],
    [{ cron: "0 9 * * *", timeZone: "Mars/Base" }, "timeZone"],
    [{ cron: "0 9 * * *", timeZone: "" }, "timeZone"],
    [{ cron: "0 9 * * *", timeZone: "+05:30" }, "timeZone"],
  ])("%o is wrong in %s", (given, field) => {
    expect(problem(given)).toBe(field);
  });

  it("of a nickname is that of its five fields, and one that names no time is refused with the nicknames", () => {
    for (const cron of ["@hourly", "@Daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"])
      expect(readTrigger({ cron, timeZone: "UTC" }, NOW).ok).toBe(true);
    for (const cron of ["@reboot", "@often"]) {
      const read = readTrigger({ cron, timeZone: "UTC" }, NOW);
      expect(read.ok ? "" : read.refusal.message).toMatch(/five fields.*@hourly$/);
    }
  });

  it("of odd values is refused with a message, or has a time to come, and is read from its row again", () => {
    const zone = fc.constantFrom("UTC", "Europe/Berlin", "asia/kolkata", "", "Mars/Base", "\0");
    const given: fc.Arbitrary<GivenTrigger> = fc.record(
      {
        everySteps: fc.oneof(fc.integer(), fc.double(), fc.constant(null)),
        at: fc.oneof(fc.date({ noInvalidDate: false }), fc.constant(null)),
        everyMs: fc.oneof(fc.integer(), fc.double(), fc.constant(null)),
        cron: fc.oneof(
          fc.string(),
          fc.constantFrom("* * * * *", "@daily", "1-5/2 */3 L * MON#1", "? ? ? ? ?"),
          fc.constant(null),
        ),
        timeZone: fc.oneof(zone, fc.string(), fc.constant(null)),
        files: fc.oneof(fc.string(), fc.constantFrom("**/*.ts", "{a,b}/*", "[", "../x", "/etc/*"), fc.constant(null)),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(given, (each) => {
        const read = readTrigger(each, NOW);
        if (!read.ok) {
          expect(read.refusal.message).not.toBe("");
          return;
        }
        expect(storedTrigger(JSON.parse(JSON.stringify(read.value)))).toEqual(read.value);
        if (read.value.kind !== "STEPS" && read.value.kind !== "FILES")
          expect(timeAfter(read.value, NOW, NOW)?.getTime()).toBeGreaterThan(NOW.getTime());
      }),
    );
  });

  it("of a row is null for values that this version does not know", () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.record({ kind: fc.constantFrom("STEPS", "TIME", "CRON", "TIDE"), at: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(odd, (each) => {
        const read = storedTrigger(each);
        expect(read === null || typeof read.kind === "string").toBe(true);
      }),
    );
    expect(storedTrigger({ kind: "TIDE" })).toBeNull();
  });
});
