import { expect, it } from "vitest";
import { DatabaseClock } from "../../src/db/database-clock.ts";
import { setPolicyTime } from "../support/clock.ts";
import { testDatabase } from "../support/database.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { aroundStatements } from "../support/statements.ts";

const YEAR_MS = 365 * 24 * 60 * 60 * 1_000;

/** A clock on a machine whose time of day a test sets. */
async function clockOn(aheadMs: number) {
  const { sql } = await testDatabase();
  const state = { aheadMs, delayMs: 0 };
  const told: string[] = [];
  const machine = {
    now: () => new Date(Date.now() + state.aheadMs),
    monotonicMs: () => performance.now() + state.delayMs,
  };
  const slow = aroundStatements(sql, async (_statement, run) => {
    const rows = await run();
    state.delayMs += state.delayMs > 0 ? 2_000 : 0;
    return rows;
  });
  const clock = await DatabaseClock.open({
    sql: slow,
    logger: { ...silentLogger, tell: (_event, line) => told.push(line) },
    machine,
  });
  return { sql, clock, state, told };
}

it.each([YEAR_MS, -YEAR_MS])(
  "says the database's time on a machine that is %d ms ahead, and that the machine is wrong",
  async (ms) => {
    const { clock, state, told } = await clockOn(ms);
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(1_000);
    expect(clock.skew.isLarge).toBe(true);
    expect(Math.abs(clock.skew.ms - ms)).toBeLessThan(1_000);
    await clock.compare();
    expect(told).toEqual([expect.stringMatching(ms > 0 ? /31536000\.\d s ahead of the database's/ : /s behind the database's/)]);
    state.aheadMs = 0;
    await clock.compare();
    expect(clock.skew.isLarge).toBe(false);
    expect(told[1]).toContain("agrees with the database's again");
  },
);

it("takes a machine for right that is a few seconds off, and tells nobody", async () => {
  const { clock, told } = await clockOn(4_000);
  expect(clock.skew.isLarge).toBe(false);
  expect(told).toEqual([]);
});

it("does not go by an answer that took long", async () => {
  const { clock, state } = await clockOn(0);
  state.delayMs = 1;
  const before = clock.skew.ms;
  state.aheadMs = YEAR_MS;
  await clock.compare();
  expect(clock.skew.ms).toBe(before);
});

it("runs on when somebody sets the machine's time of day", async () => {
  const { clock, state } = await clockOn(0);
  const before = clock.now().getTime();
  state.aheadMs = -YEAR_MS;
  expect(clock.now().getTime() - before).toBeLessThan(1_000);
  expect(clock.now().getTime()).toBeGreaterThanOrEqual(before);
});

it("follows the time by which the database removes and ends", async () => {
  const { sql, clock } = await clockOn(0);
  await setPolicyTime(sql, "statement_timestamp() + interval '1 day'");
  await clock.compare();
  expect(clock.now().getTime() - Date.now()).toBeGreaterThan(23 * 60 * 60 * 1_000);
  // The machine is right all the same.
  expect(clock.skew.isLarge).toBe(false);
});
