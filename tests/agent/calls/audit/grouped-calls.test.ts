import fc from "fast-check";
import { expect, it } from "vitest";
import { CALL_COUNTS, NO_CALLS, type CallFigures } from "../../../../src/agent/calls/audit/groups/figures.ts";
import { callGroups, type CallGroups } from "../../../../src/agent/calls/audit/groups/groups.ts";
import type { AuditFilter } from "../../../../src/agent/calls/audit/rows.ts";
import type { Distribution } from "../../../../src/db/groups/distribution.ts";
import { openDatabase } from "../../../../src/db/database.ts";
import type { Sql } from "../../../../src/db/sql.ts";
import { BUCKET_UNITS, bucketEdges } from "../../../../src/lib/time-buckets.ts";
import { auditOfRows } from "../../../support/audit.ts";
import { calendarOf, unitOf } from "../../../support/calendar.ts";
import { testDatabaseUrl } from "../../../support/database.ts";
import { viewsReader } from "../../../support/views-reader.ts";

const HOUR = 3_600_000;

/** Zones of :00, :30 and :45, and days in 2026 on which their clocks change. */
const ZONES = [
  { zone: "UTC", days: ["2026-03-08T00:00:00Z"] },
  { zone: "Asia/Kathmandu", days: ["2026-03-08T18:15:00Z"] },
  { zone: "Australia/Lord_Howe", days: ["2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z"] },
  { zone: "America/New_York", days: ["2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"] },
] as const;

const TOOLS: readonly string[] = ["read", "write", "shell"];
const STATES = ["COMPLETED", "FAILED", "DENIED", "SEALED", "EXECUTING"] as const;

/** Times of 0, below a class, of some ms, of all lengths up to twelve days, and of years. */
const TIME = fc.oneof(
  fc.integer({ min: 0, max: 100 }),
  fc.constantFrom(0, 0.0004, 0.001, 1, 3 * 24 * HOUR, 400 * 24 * HOUR),
  fc.double({ min: -3, max: 9, noNaN: true }).map((power) => 10 ** power),
);

const CALL = fc.record({
  /** Minutes from the change of the clocks: many fall into its hours, and some on the edges. */
  at: fc.oneof(
    fc.integer({ min: -150, max: 150 }).map((minutes) => minutes * 60_000),
    fc.integer({ min: -72, max: 72 }).map((halves) => (halves * HOUR) / 2),
    fc.integer({ min: -40 * 24 * HOUR, max: 40 * 24 * HOUR }),
  ),
  tool: fc.constantFrom(...TOOLS),
  state: fc.constantFrom(...STATES),
  ms: fc.option(TIME),
  /** The time of its approval, which has whole ms. */
  waited: fc.option(TIME.map(Math.round)),
  agent: fc.nat(1),
  isCopy: fc.boolean(),
});

const CASE = fc.record({
  place: fc.constantFrom(...ZONES.flatMap(({ zone, days }) => days.map((day) => ({ zone, day })))),
  unit: fc.constantFrom(...BUCKET_UNITS),
  calls: fc.array(CALL, { minLength: 1, maxLength: 60 }),
  /** The calls before this one are folded; the others came since. */
  folded: fc.nat(60),
  before: fc.integer({ min: 1, max: 30 * 24 * 60 }),
  after: fc.integer({ min: 1, max: 10 * 24 * 60 }),
});

const AGENTS = ["agent-0", "agent-1"];
const EVERYBODY = ["c"];
const ALL: AuditFilter = {
  tenant: "one",
  visible: null,
  from: null,
  to: null,
  agentIds: null,
  templateIds: null,
  tools: null,
  states: null,
  errorTypes: null,
  verdicts: null,
  rules: null,
  places: null,
  createdBy: null,
  decidedBy: null,
  minDurationMs: null,
  haveRun: false,
  exitCodes: null,
  hosts: null,
  models: null,
};

/** Calls of a tool that belong together in time, in one line. */
type Piece = {
  readonly tool: string;
  readonly first: number;
  readonly calls: number;
  readonly failed: number;
  readonly times: readonly number[];
};

const shown = (pieces: readonly Piece[]): readonly string[] =>
  pieces
    .toSorted((one, other) => TOOLS.indexOf(one.tool) - TOOLS.indexOf(other.tool) || one.first - other.first)
    .map(({ tool, calls, failed }) => `${tool}: ${calls} calls, ${failed} failed`);

const medians = (pieces: readonly Piece[]): readonly (readonly number[])[] =>
  pieces
    .toSorted((one, other) => TOOLS.indexOf(one.tool) - TOOLS.indexOf(other.tool) || one.first - other.first)
    .map(({ times }) => exactly(times).slice(0, 1));

const FRACTIONS = [0.5, 0.9, 0.95, 0.99];

/** The percentiles of times by their definition. */
function exactly(times: readonly number[]): readonly number[] {
  const sorted = times.toSorted((one, other) => one - other);
  if (sorted.length === 0) return [];
  return FRACTIONS.map((fraction) => {
    const rank = fraction * (sorted.length - 1);
    const [lower, upper] = [sorted[Math.floor(rank)] ?? 0, sorted[Math.ceil(rank)] ?? 0];
    return lower + (upper - lower) * (rank - Math.floor(rank));
  });
}

/** Percentiles that are further from the exact ones than they say, each in words. */
function wrong(found: Distribution, exact: Distribution): readonly string[] {
  const [some, all] = [found.percentiles ?? [], exact.percentiles ?? []];
  if (some.length !== all.length) return [`${some.length} instead of ${all.length}`];
  // Times below the first class are 0.
  return all.flatMap((value, index) =>
    Math.abs((some[index] ?? NaN) - value) <= found.relativeError * value + 0.001 ? [] : [`${some[index]} instead of ${value}`],
  );
}

function wrongTimes(found: readonly CallFigures[], exact: readonly CallFigures[]): readonly string[] {
  return exact.flatMap(({ duration, waited }, index) => {
    const { duration: durations, waited: waits } = found[index] ?? NO_CALLS;
    return [...wrong(durations, duration), ...wrong(waits, waited)];
  });
}

const figuresIn = ({ groups, total }: CallGroups): readonly CallFigures[] => [
  ...groups.flatMap(({ figures, series }) => [figures, ...(series ?? [])]),
  ...(total === null ? [] : [total]),
];

function withoutPercentiles({ groups, groupCount, total }: CallGroups): object {
  const rounded = ({ percentiles: _left, relativeError: _right, mean, ...times }: Distribution) => ({
    ...times,
    mean: mean === null ? null : Number(mean.toPrecision(10)),
  });
  const shown = ({ duration, waited, ...counts }: CallFigures) => ({
    ...counts,
    duration: rounded(duration),
    waited: rounded(waited),
  });
  return {
    groups: groups.map(({ key, figures, series }) => ({ key, figures: shown(figures), series: series?.map(shown) })),
    groupCount,
    total: total === null ? null : shown(total),
  };
}

it(
  "groups, SQL views and a plain count agree in zones of :00, :30 and :45, on days on which clocks change",
  { timeout: 120_000 },
  async () => {
    const url = await testDatabaseUrl();
    const { sql, close } = await openDatabase({ kind: "postgres", url, connections: 4 });
    const reader = await viewsReader(url, "one");
    const run = async (text: string, values: readonly unknown[] = []) => sql.query({ name: "", text }, [...values]);
    await run("INSERT INTO tenant_log (tenant, epoch) VALUES ('one', 'e')");
    for (const id of AGENTS)
      await run(
        `INSERT INTO agent (id, tenant, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
         VALUES ($1, 'one', 't', 'm', '/', 'c', 'USER', now(), now())`,
        [id],
      );
    let [seq, positions, step, byCounters] = [0, 0, 0, 0];
    const noting: Sql = {
      ...sql,
      query: async (statement, values) => {
        if (statement.text.includes("audit_quarter")) byCounters += 1;
        return sql.query(statement, values);
      },
    };
    await fc.assert(
      fc.asyncProperty(CASE, async ({ place: { zone, day }, unit, calls, folded, before, after }) => {
        await run("TRUNCATE tool_call CASCADE");
        const change = Date.parse(day);
        const add = async (some: typeof calls) => {
          for (const { at, tool, state, ms, waited, agent, isCopy } of some) {
            step += 1;
            await run(
              `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, started_at, duration_ms, created_at, updated_at, copied_from)
               VALUES ($8, 'one', $1, 1, $2, 0, 'p', $3, $4::tool_call_state, 1, false, '[]', '[]', $5::timestamptz, $6, $5::timestamptz, now(), $7)`,
              [AGENTS[agent], step, tool, state, new Date(change + at), ms, isCopy ? "copied" : null, `call-${step}`],
            );
            if (waited !== null)
              await run(
                `INSERT INTO approval (id, tenant, agent_id, tool_call_id, kind, state, reason, risk, requested_at, closed_at)
                 VALUES ($1, 'one', $2, $1, 'TOOL_CALL', 'ALLOWED', 'r', 'LOW', $3::timestamptz, $3::timestamptz + $4 * interval '1 ms')`,
                [`call-${step}`, AGENTS[agent], new Date(change + at), waited],
              );
          }
        };
        await add(calls.slice(0, folded));
        await auditOfRows(sql);
        await add(calls.slice(folded));
        for (const id of AGENTS) {
          [seq, positions] = [seq + 1, positions + 1];
          await run(
            `INSERT INTO event (tenant, position, agent_id, seq, channel, kind, payload, at)
             VALUES ('one', $1, $2, $3, 'PROGRESS', 'STATE_CHANGED', '{}', now())`,
            [positions, id, seq],
          );
        }

        const [from, to] = [new Date(change - before * 60_000), new Date(change + after * 60_000)];
        const edges = bucketEdges(unit, zone, { from, to }, 1_500);
        if (edges === null) throw new Error("too many buckets");
        const request = {
          by: ["TOOL"],
          edges,
          order: { measure: "CALLS", direction: "desc" },
          most: 10,
          counts: new Set(CALL_COUNTS),
          times: { duration: "PERCENTILES", waited: "PERCENTILES" },
          hasTotal: true,
        } as const;
        // No counter distinguishes people.
        const exact = await callGroups(sql, { ...ALL, from, to, createdBy: EVERYBODY }, request);
        const { groups, total } = exact;
        const grouped = groups.flatMap(({ key, series }) =>
          (series ?? []).flatMap(({ calls: count, failed, duration }, index): Piece[] =>
            count === 0
              ? []
              : [
                  {
                    tool: key.get("TOOL")?.value ?? "",
                    first: edges[index] ?? 0,
                    calls: count,
                    failed,
                    times: duration.percentiles?.slice(0, 1) ?? [],
                  },
                ],
          ),
        );

        const { rows } = await reader.query<{ tool: string; bucket: Date; calls: string; failed: string; p50: number | null }>(
          `SELECT name AS tool, date_trunc($1, created_at, $2) AS bucket, count(*) AS calls, count(*) FILTER (WHERE state = 'FAILED') AS failed,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms) FILTER (WHERE started_at IS NOT NULL) AS p50
           FROM bi.tool_call WHERE copy_of IS NULL AND created_at >= $3 AND created_at < $4 GROUP BY 1, 2`,
          [unit.toLowerCase(), zone, from, to],
        );
        const viewed = rows.map((row): Piece => ({
          tool: row.tool,
          first: row.bucket.getTime(),
          calls: Number(row.calls),
          failed: Number(row.failed),
          times: row.p50 === null ? [] : [row.p50],
        }));

        const calendar = calendarOf(zone);
        const inRange = calls
          .map((call) => ({ ...call, at: change + call.at }))
          .filter(({ at, isCopy }) => !isCopy && at >= from.getTime() && at < to.getTime());
        const counted = [...Map.groupBy(inRange, ({ tool, at }) => `${tool} ${unitOf(unit, calendar, at)}`).values()].map(
          (members): Piece => {
            return {
              tool: members[0]?.tool ?? "",
              first: Math.min(...members.map(({ at }) => at)),
              calls: members.length,
              failed: members.filter(({ state }) => state === "FAILED").length,
              times: members.flatMap(({ ms }) => ms ?? []),
            };
          },
        );

        expect(total?.calls).toBe(inRange.length);
        const counters = await callGroups(noting, { ...ALL, from, to }, request);
        expect(withoutPercentiles(counters)).toEqual(withoutPercentiles(exact));
        expect(wrongTimes(figuresIn(counters), figuresIn(exact))).toEqual([]);
        expect(figuresIn(exact).every(({ duration, waited }) => duration.relativeError + waited.relativeError === 0)).toBe(true);
        expect(shown(grouped)).toEqual(shown(counted));
        expect(shown(viewed)).toEqual(shown(counted));
        for (const pieces of [grouped, viewed]) {
          const found = medians(pieces).flat();
          const all = medians(counted).flat();
          expect(found.length).toBe(all.length);
          for (const [index, value] of all.entries()) expect(found[index]).toBeCloseTo(value, 6);
        }
        // Days and longer buckets have the same first moment in SQL.
        if (unit !== "HOUR")
          expect(grouped.map(({ tool, first }) => `${tool} ${first}`).toSorted()).toEqual(
            viewed.map(({ tool, first }) => `${tool} ${first}`).toSorted(),
          );
      }),
      { numRuns: 60 },
    );
    expect(byCounters).toBeGreaterThan(30);
    await close();
  },
);
