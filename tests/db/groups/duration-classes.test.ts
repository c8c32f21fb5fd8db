import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase, type Database } from "../../../src/db/database.ts";
import { classSql, percentilesOf, percentileSql, RELATIVE_ERROR, sentSql } from "../../../src/db/groups/duration-classes.ts";
import { embeddedFolder } from "../../support/embedded.ts";
import { testDatabaseUrl } from "../../support/database.ts";

const FRACTIONS = [0.5, 0.9, 0.95, 0.99];
const DAY = 86_400_000;

type Read = { readonly sent: Uint8Array; readonly count: number; readonly most: number; readonly sorted: readonly number[] };

/** Adds the classes of parts up, each of some times, and reads them. */
async function classesOf(sql: Database["sql"], parts: readonly (readonly (number | string | null)[])[]): Promise<Read> {
  const times = parts.flatMap((part, index) => part.map((ms) => ({ part: index, ms: ms === null ? null : String(ms) })));
  const sorted = FRACTIONS.map((fraction) => percentileSql("classes", "count", fraction));
  const text = `WITH times AS (SELECT part, ms::float8 AS ms FROM unnest($1::int[], $2::text[]) AS t(part, ms)),
      parts AS (SELECT sum(${classSql("ms")}) AS classes, count(ms) AS count, max(ms) AS most FROM times GROUP BY part),
      whole AS (SELECT coalesce(sum(classes), 0) AS classes, sum(count)::int AS count, max(most) AS most FROM parts)
    SELECT ${sentSql("classes")} AS sent, count, most, ARRAY[${sorted.join(", ")}] AS sorted FROM whole`;
  const statement = { name: "", text };
  const [row] = await sql.query<Read, unknown[]>(statement, [times.map(({ part }) => part), times.map(({ ms }) => ms)]);
  if (row === undefined) throw new Error("no row");
  return row;
}

/** Percentiles by their definition, of times in order. */
function exactly(times: readonly number[]): readonly number[] {
  const sorted = times.toSorted((one, other) => one - other);
  return FRACTIONS.map((fraction) => {
    const rank = fraction * (sorted.length - 1);
    const [lower, upper] = [sorted[Math.floor(rank)] ?? NaN, sorted[Math.ceil(rank)] ?? NaN];
    return lower + (upper - lower) * (rank - Math.floor(rank));
  });
}

async function postgres(): Promise<Database> {
  const database = await openDatabase({ kind: "postgres", url: await testDatabaseUrl(), connections: 1 });
  onTestFinished(() => database.close());
  return database;
}

async function embedded(): Promise<Database> {
  const database = await openDatabase({ kind: "embedded", folder: await embeddedFolder() });
  onTestFinished(() => database.close());
  return database;
}

describe("classes of durations", () => {
  it("give percentiles within their error, however the times are split into parts", { timeout: 60_000 }, async () => {
    const { sql } = await postgres();
    const time = fc.double({ min: -2.9, max: 11.9, noNaN: true }).map((power) => 10 ** power);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(time, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 5 }),
        async (parts) => {
          const { sent, count, most, sorted } = await classesOf(sql, parts);
          const exact = exactly(parts.flat());
          const found = percentilesOf(sent, count, most, FRACTIONS) ?? [];
          for (const [index, value] of exact.entries()) {
            expect(Math.abs((found[index] ?? NaN) - value) / value).toBeLessThanOrEqual(RELATIVE_ERROR);
            // Sorting does not bound them by the longest time.
            expect(Math.abs((sorted[index] ?? NaN) - value) / value).toBeLessThanOrEqual(RELATIVE_ERROR);
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([
    { title: "PostgreSQL", open: postgres },
    { title: "the embedded database", open: embedded },
  ])("take times of 0, of a clock that went back, of no value, of years and without an end, on $title", async ({ open }) => {
    const { sql } = await open();
    const read = async (...times: readonly (number | string | null)[]) => {
      const { sent, count, most } = await classesOf(sql, [times]);
      return percentilesOf(sent, count, most, [0, 0.5, 1]);
    };
    expect(await read(0, 0, null)).toEqual([0, 0, 0]);
    expect(await read(0.0004, 0.001)).toEqual([0, 0, 0]);
    expect(await read(-5, 0, 0)).toEqual([0, 0, 0]);
    const [least, middle, most] = (await read(0, 5 * DAY, 40_000 * DAY)) ?? [];
    expect(least).toBe(0);
    expect((middle ?? 0) / (5 * DAY)).toBeCloseTo(1, 1);
    // Over thirty years.
    expect(most).toBeGreaterThan(10_000 * DAY);
    expect((await read(1, "Infinity"))?.[0]).toBeCloseTo(1, 1);
  });

  it("are null if a class has more times than its digits hold", async () => {
    const { sql } = await postgres();
    const statement = { name: "", text: `SELECT ${sentSql(`100000000 * (${classSql("5::float8")})`)} AS sent` };
    const [row] = await sql.query<{ sent: Uint8Array }, []>(statement, []);
    expect(percentilesOf(row?.sent ?? new Uint8Array(8), 100_000_000, 5, FRACTIONS)).toBeNull();
    expect(percentilesOf(row?.sent ?? new Uint8Array(8), 1, 5, FRACTIONS)).not.toBeNull();
  });
});
