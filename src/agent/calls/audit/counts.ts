import type { ToolCallState } from "../../../db/generated/enums.ts";
import { plannedForValues, type Sql } from "../../../db/sql.ts";
import { conditions, Parameters, type AuditFilter, COLUMNS, COUNTED, listedAlone, OF_AUDIT, OF_DELETED, OPEN } from "./rows.ts";

/** Calls of one tool in one state: their number, how many have a known duration, and the sum of durations in ms. */
export type AuditCount = {
  readonly name: string;
  readonly state: ToolCallState;
  readonly calls: number;
  readonly executed: number;
  readonly timed: number;
  readonly sumMs: number;
  readonly mostMs: number | null;
};

const SUMS =
  "sum(calls)::float8 AS calls, sum(executed)::float8 AS executed, sum(timed)::float8 AS timed, sum(sum_ms) AS sum_ms, max(most_ms) AS most_ms";

/**
 * The calls of the filter by tool and state, in one snapshot; null if the audit is incomplete. Whole hours come from
 * counters of ended calls. Parts of an hour, and filters that the counters do not distinguish, come from the audit's
 * rows. Open calls, and those that ended since the last fold, come from the calls.
 */
export async function auditCounts(reads: Sql, filter: AuditFilter, behind = OF_AUDIT): Promise<readonly AuditCount[] | null> {
  const parameters = new Parameters(filter.tenant);
  const where = conditions(filter, parameters);
  const counters = behind.isWhole ? countersOf(filter, parameters) : null;
  const counted =
    counters === null
      ? ""
      : ` UNION ALL SELECT name, state, calls, executed, timed, sum_ms, most_ms FROM audit_count WHERE ${counters}`;
  const parts = behind.isWhole ? uncounted(filter, parameters).map((part) => `${behind.current} AND ${part}`) : [OF_DELETED];
  const rows = parts.map((part) => ` UNION ALL SELECT ${COLUMNS} FROM audit_call WHERE ${where} AND ${part}`);
  const text = `WITH ${behind.tables.join(", ")}, rest AS (
      SELECT * FROM fresh WHERE ${where}${rows.join("")}
    ), pieces AS (
      SELECT name, state, ${COUNTED} FROM rest GROUP BY 1, 2${counted}
    )
    SELECT t.name, t.state, t.calls, t.executed, t.timed, t.sum_ms AS "sumMs", t.most_ms AS "mostMs"
    FROM fold LEFT JOIN LATERAL (SELECT name, state, ${SUMS} FROM pieces GROUP BY 1, 2) t ON true`;
  const found = await reads.query<{ [Column in keyof AuditCount]: AuditCount[Column] | null }>(
    plannedForValues("audit_counts", text),
    parameters.values,
  );
  if (found.length === 0) return null;
  return found.filter((row): row is AuditCount => row.name !== null);
}

/**
 * The number of calls of the filter, counted up to `most`; null if the audit is incomplete. It comes from the counters
 * if they distinguish the filter's calls, otherwise from the rows. Calls of deleted agents do not count. Only as many of each are read as `most` requires.
 */
export async function auditTotal(reads: Sql, filter: AuditFilter, most: number, behind = OF_AUDIT): Promise<number | null> {
  const parameters = new Parameters(filter.tenant);
  const where = conditions(filter, parameters);
  const listed = await listedAlone(reads, filter.tenant, "audit_call.agent_id");
  // Counters have the calls of deleted agents, too.
  const counters = listed !== "" ? null : countersOf(filter, parameters);
  const bound = parameters.add(most);
  // Each counter stands for at least one call.
  const counted = counters === null ? "" : ` UNION ALL (SELECT calls FROM audit_count WHERE ${counters} LIMIT ${bound})`;
  const rows = (counters === null ? ["true"] : uncounted(filter, parameters)).map(
    (part) => `UNION ALL (SELECT 1 FROM audit_call WHERE ${where} AND ${behind.current} AND ${part}${listed} LIMIT ${bound})`,
  );
  const text = `WITH ${behind.tables.join(", ")}, found AS (
      SELECT 1 AS calls FROM fresh WHERE ${where}
      ${rows.join(" ")}${counted}
    )
    SELECT least((SELECT coalesce(sum(calls), 0) FROM found), ${bound})::int AS calls FROM fold`;
  const [row] = await reads.query<{ calls: number }>(plannedForValues("audit_total", text), parameters.values);
  return row?.calls ?? null;
}

/** Counters of ended calls by a span of time. Those of quarters of an hour also distinguish templates and verdicts. */
export type Grain = { readonly table: "audit_count" | "audit_quarter"; readonly column: "hour" | "quarter"; readonly ms: number };
const HOURS: Grain = { table: "audit_count", column: "hour", ms: 3_600_000 };
export const QUARTERS: Grain = { table: "audit_quarter", column: "quarter", ms: 900_000 };

/** The last quarter of an hour in a year that PostgreSQL and ISO 8601 write alike. */
const LAST = new Date("9999-12-31T23:45:00Z");

function isCounted(filter: AuditFilter, { column }: Grain): boolean {
  const { visible, agentIds, templateIds, errorTypes, verdicts, rules, places, createdBy, decidedBy, minDurationMs, haveRun } =
    filter;
  const { exitCodes, hosts, models } = filter;
  const ofQuarters = column === "quarter" ? [] : [templateIds, verdicts];
  const others = [
    visible,
    agentIds,
    errorTypes,
    rules,
    places,
    createdBy,
    decidedBy,
    minDurationMs,
    exitCodes,
    hosts,
    models,
    ...ofQuarters,
  ];
  return !haveRun && others.every((condition) => condition === null);
}

function spanOf({ from, to }: AuditFilter, { ms }: Grain): { readonly from: Date | null; readonly to: Date | null } | null {
  const first = from === null ? null : new Date(Math.ceil(from.getTime() / ms) * ms);
  const last = to === null ? null : new Date(Math.floor(to.getTime() / ms) * ms);
  if (first !== null && first > LAST) return null;
  return first !== null && last !== null && first >= last ? null : { from: first, to: last };
}

/**
 * Conditions for the rows of `audit_call` that the counters of `countersOf` omit: all of them if the range has no whole span.
 * No row fits two. Open calls apart, PostgreSQL reads them from one index, without their rows.
 */
export function uncounted(filter: AuditFilter, parameters: Parameters, grain = HOURS): readonly string[] {
  const span = spanOf(filter, grain);
  if (!isCounted(filter, grain) || span === null) return ["true"];
  return [
    OPEN,
    ...(span.from === null ? [] : [`NOT (${OPEN}) AND created_at < ${parameters.add(span.from)}::timestamptz`]),
    ...(span.to === null ? [] : [`NOT (${OPEN}) AND created_at >= ${parameters.add(span.to)}::timestamptz`]),
  ];
}

/** A condition on counters for the whole spans of the filter's range; null if they do not distinguish its calls. */
export function countersOf(filter: AuditFilter, parameters: Parameters, grain = HOURS): string | null {
  const span = spanOf(filter, grain);
  if (!isCounted(filter, grain) || span === null) return null;
  const { tools, templateIds, states, verdicts } = filter;
  return [
    "tenant = $1",
    ...(span.from === null ? [] : [`${grain.column} >= ${parameters.add(span.from)}::timestamptz`]),
    ...(span.to === null ? [] : [`${grain.column} < ${parameters.add(span.to)}::timestamptz`]),
    ...(tools === null ? [] : [`name = ANY (${parameters.add(tools)}::text[])`]),
    ...(templateIds === null ? [] : [`template_id = ANY (${parameters.add(templateIds)}::text[])`]),
    ...(verdicts === null ? [] : [`verdict = ANY (${parameters.add(verdicts)}::text[])`]),
    ...(states === null ? [] : [`state = ANY (${parameters.add(states)}::tool_call_state[])`]),
  ].join(" AND ");
}
