import fc from "fast-check";
import { expect, it } from "vitest";
import type { CallFigures } from "../../../../src/agent/calls/audit/groups/figures.ts";
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

const CALL = fc.record({
  /** Minutes from the change of the clocks: many fall into its hours, and some on the edges. */
  at: fc.oneof(
    fc.integer({ min: -150, max: 150 }).map((minutes) => minutes * 60_000),
    fc.integer({ min: -72, max: 72 }).map((halves) => (halves * HOUR) / 2),
    fc.integer({ min: -40 * 24 * HOUR, max: 40 * 24 * HOUR }),
  ),
  tool: fc.constantFrom(...TOOLS),
  state: fc.constantFrom(...STATES),
  ms: fc.option(fc.integer({ min: 0, max: 100 })),
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
};

/** Calls of a tool that belong together in time, in one line. */
type Piece = {
  readonly tool: string;
  readonly first: number;
  readonly calls: number;
  readonly failed: number;
  readonly p50: number | null;
};

const shown = (pieces: readonly Piece[]): readonly string[] =>
  pieces
    .toSorted((one, other) => TOOLS.indexOf(one.tool) - TOOLS.indexOf(other.tool) || one.first - other.first)
    .map(({ tool, calls, failed, p50 }) => `${tool}: ${calls} calls, ${failed} failed, median ${p50 ?? "none"}`);

function withoutPercentiles({ groups, groupCount, total }: CallGroups): object {
  const rounded = ({ percentiles: _left, mean, ...times }: Distribution) => ({
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
          for (const { at, tool, state, ms, agent, isCopy } of some) {
            step += 1;
            await run(
              `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, started_at, duration_ms, created_at, updated_at, copied_from)
               VALUES (gen_random_uuid(), 'one', $1, 1, $2, 0, 'p', $3, $4::tool_call_state, 1, false, '[]', '[]', $5::timestamptz, $6, $5::timestamptz, now(), $7)`,
              [AGENTS[agent], step, tool, state, new Date(change + at), ms, isCopy ? "copied" : null],
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
          percentiles: { duration: true, waited: true },
          hasTotal: true,
        } as const;
        const { groups, total } = await callGroups(sql, { ...ALL, from, to }, request);
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
                    p50: duration.percentiles?.[0] ?? null,
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
          p50: row.p50,
        }));

        const calendar = calendarOf(zone);
        const inRange = calls
          .map((call) => ({ ...call, at: change + call.at }))
          .filter(({ at, isCopy }) => !isCopy && at >= from.getTime() && at < to.getTime());
        const counted = [...Map.groupBy(inRange, ({ tool, at }) => `${tool} ${unitOf(unit, calendar, at)}`).values()].map(
          (members): Piece => {
            const times = members.flatMap(({ ms }) => ms ?? []).toSorted((one, other) => one - other);
            const middle = (times.length - 1) / 2;
            return {
              tool: members[0]?.tool ?? "",
              first: Math.min(...members.map(({ at }) => at)),
              calls: members.length,
              failed: members.filter(({ state }) => state === "FAILED").length,
              p50: times.length === 0 ? null : ((times[Math.floor(middle)] ?? 0) + (times[Math.ceil(middle)] ?? 0)) / 2,
            };
          },
        );

        expect(total?.calls).toBe(inRange.length);
        // Without percentiles, counters answer.
        const counters = await callGroups(
          noting,
          { ...ALL, from, to },
          { ...request, percentiles: { duration: false, waited: false } },
        );
        expect(withoutPercentiles(counters)).toEqual(withoutPercentiles({ groups, groupCount: groups.length, total }));
        expect(shown(grouped)).toEqual(shown(counted));
        expect(shown(viewed)).toEqual(shown(counted));
        // Days and longer buckets have the same first moment in SQL.
        if (unit !== "HOUR")
          expect(grouped.map(({ tool, first }) => `${tool} ${first}`).toSorted()).toEqual(
            viewed.map(({ tool, first }) => `${tool} ${first}`).toSorted(),
          );
      }),
      { numRuns: 60, endOnFailure: true },
    );
    expect(byCounters).toBeGreaterThan(30);
    await close();
  },
);
