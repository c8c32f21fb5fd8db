import { plannedForValues, type Sql } from "../../../../db/sql.ts";
import { COLUMNS, conditions, CURRENT, FOLD, FRESH, MOVED, OF_CALL, Parameters, ROWS_OF, type AuditFilter } from "../rows.ts";
import { dimensionSql, dimensionValue, type CallDimension } from "./dimensions.ts";
import {
  CALL_MEASURES,
  figuresOf,
  figuresSql,
  NO_CALLS,
  type CallFigures,
  type CallMeasure,
  type FiguresRow,
  type Percentiles,
} from "./figures.ts";

/** A request for groups of calls. */
export type CallGrouping = {
  readonly by: readonly CallDimension[];
  /** The edges of the buckets in ms since 1970, ascending; null for groups without buckets. */
  readonly edges: readonly number[] | null;
  readonly order: { readonly measure: CallMeasure; readonly direction: "asc" | "desc" };
  readonly most: number;
  readonly percentiles: Percentiles;
  readonly hasTotal: boolean;
};

/** The value of a dimension that a group has in common, and the actor's kind if it is an actor. */
export type GroupValue = { readonly value: string | null; readonly actorKind: string | null };

export type CallGroup = {
  readonly key: ReadonlyMap<CallDimension, GroupValue>;
  readonly figures: CallFigures;
  /** The figures of each bucket, those without calls included; null without buckets. */
  readonly series: readonly CallFigures[] | null;
};

export type CallGroups = {
  readonly groups: readonly CallGroup[];
  readonly groupCount: number;
  /** Null if it was not requested. */
  readonly total: CallFigures | null;
};

type Row = FiguresRow & {
  readonly kind: "group" | "point" | "total" | null;
  readonly place: number;
  readonly bucket: number;
  readonly groups: number;
  readonly key: readonly string[];
  readonly kinds: readonly (string | null)[];
};

/**
 * The calls of the filter in groups, read exactly from the audit's rows and the calls that these lack, in one snapshot.
 * While the audit is incomplete, all is read from the calls.
 */
export async function callGroups(reads: Sql, filter: AuditFilter, grouping: CallGrouping): Promise<CallGroups> {
  const found = await rowsOf(reads, filter, grouping, "audit");
  const rows = found.length > 0 ? found : await rowsOf(reads, filter, grouping, "calls");
  const groups = rows.filter(({ kind }) => kind === "group").toSorted((one, other) => one.place - other.place);
  const points = Map.groupBy(
    rows.filter(({ kind }) => kind === "point"),
    ({ place }) => place,
  );
  const total = rows.find(({ kind }) => kind === "total");
  return {
    groups: groups.map((row) => groupOf(row, points.get(row.place) ?? [], grouping)),
    groupCount: groups[0]?.groups ?? 0,
    total: grouping.hasTotal ? (total === undefined ? NO_CALLS : figuresOf(total)) : null,
  };
}

function groupOf(row: Row, points: readonly Row[], { by, edges }: CallGrouping): CallGroup {
  const figures = new Map(points.map((point) => [point.bucket, figuresOf(point)]));
  return {
    key: new Map(
      by.map((dimension, index) => [
        dimension,
        { value: dimensionValue(dimension, row.key[index] ?? ""), actorKind: row.kinds[index] ?? null },
      ]),
    ),
    figures: figuresOf(row),
    series: edges?.slice(1).map((_edge, bucket) => figures.get(bucket) ?? NO_CALLS) ?? null,
  };
}

/** No row if the audit is incomplete and was to be read. Otherwise at least one, which may have no kind. */
async function rowsOf(
  reads: Sql,
  filter: AuditFilter,
  { by, edges, order, most, percentiles, hasTotal }: CallGrouping,
  source: "audit" | "calls",
): Promise<readonly Row[]> {
  const parameters = new Parameters(filter.tenant);
  const where = conditions(filter, parameters);
  const figures = figuresSql(percentiles);
  const columns = by.map((_dimension, index) => `d${index}`);
  const listed = columns.map((column) => `${column}, `).join("");
  const [sort, { sql: measure }] = [order.direction === "asc" ? "ASC" : "DESC", CALL_MEASURES[order.measure]];
  const places = [`${measure} ${sort} NULLS LAST`, ...columns.map((column) => `${column} COLLATE "C"`)].join(", ");
  const key = `ARRAY[${columns.join(", ")}]::text[] AS key`;
  const { open, isKnown, found } = SOURCES[source](where);
  const names =
    "calls, ended, failed, denied, asked, executed, duration_count, duration_mean, duration_most, duration_percentiles, waited_count, waited_mean, waited_most, waited_percentiles";
  const series =
    edges === null
      ? ""
      : `UNION ALL SELECT 'point', t.place, c.bucket, 0, '{}', '{}', ${figures} FROM calls c JOIN top t ON ${["true", ...columns.map((column) => `t.${column} = c.${column}`)].join(" AND ")} GROUP BY t.place, c.bucket`;
  const total = hasTotal ? `UNION ALL SELECT 'total', 0, 0, 0, '{}', '{}', ${figures} FROM found` : "";
  const text = `WITH ${open}, found AS NOT MATERIALIZED (${found}), calls AS NOT MATERIALIZED (
      SELECT c.id, c.agent_id, c.state, c.verdict, c.has_run, c.duration_ms, c.waited_ms, ${bucketSql(edges, parameters)} AS bucket${by.map((dimension, index) => `, ${dimensionSql(dimension)} AS d${index}`).join("")}
      FROM found c${by.includes("DECIDER") ? " LEFT JOIN LATERAL unnest(c.deciders) AS u(decider) ON true" : ""}
    ), groups AS MATERIALIZED (
      SELECT ${listed}min(id) AS call_id, min(agent_id) AS agent_id, ${figures} FROM calls ${columns.length === 0 ? "" : `GROUP BY ${columns.join(", ")}`}
    ), top AS MATERIALIZED (
      SELECT g.*, (row_number() OVER (ORDER BY ${places}))::int AS place FROM groups g ORDER BY place LIMIT ${parameters.add(most)}
    )
    SELECT r.* FROM ${isKnown} LEFT JOIN LATERAL (
      SELECT 'group' AS kind, t.place, 0 AS bucket, (SELECT count(*) FROM groups)::int AS groups, ${key}, ARRAY[${by.map(kindSql).join(", ")}]::text[] AS kinds, ${names} FROM top t
      ${series} ${total}
    ) r ON true`;
  return reads.query<Row>(plannedForValues("call_groups", text), parameters.values);
}

/** Where the rows are read: the audit with the calls that it lacks, or the calls alone. */
const SOURCES: Readonly<
  Record<"audit" | "calls", (where: string) => { readonly open: string; readonly isKnown: string; readonly found: string }>
> = {
  audit: (where) => ({
    open: `fold AS MATERIALIZED (${FOLD}), moved AS MATERIALIZED (${MOVED}), fresh (${COLUMNS}) AS MATERIALIZED (${FRESH})`,
    isKnown: "fold",
    found: `SELECT ${COLUMNS} FROM fresh WHERE ${where} UNION ALL SELECT ${COLUMNS} FROM audit_call WHERE ${where} AND ${CURRENT}`,
  }),
  calls: (where) => ({
    open: `every (${COLUMNS}) AS NOT MATERIALIZED (${ROWS_OF(`(SELECT ${OF_CALL} FROM tool_call t WHERE t.tenant = $1)`)})`,
    isKnown: "(SELECT) one",
    found: `SELECT ${COLUMNS} FROM every WHERE ${where}`,
  }),
};

/** The number of a call's bucket, from 0. The filter's range leaves out calls before the first and after the last. */
function bucketSql(edges: CallGrouping["edges"], parameters: Parameters): string {
  const inner = edges?.slice(1, -1) ?? [];
  if (inner.length === 0) return "0";
  return `width_bucket(c.created_at, ${parameters.add(inner.map((edge) => new Date(edge)))}::timestamptz[])`;
}

/** The kind of the actor that a group `t` has in common, from one of its agents or calls. */
function kindSql(dimension: CallDimension, index: number): string {
  switch (dimension) {
    case "REQUESTER":
      return "(SELECT a.created_by_kind::text FROM agent a WHERE a.id = t.agent_id)";
    case "DECIDER":
      return `(SELECT d.actor_kind::text FROM approval p JOIN decision d ON d.approval_id = p.id WHERE p.tool_call_id = t.call_id AND '=' || d.actor_id = t.d${index} LIMIT 1)`;
    case "TOOL":
    case "TEMPLATE":
    case "AGENT":
    case "ROOT_AGENT":
    case "STATE":
    case "ERROR_TYPE":
    case "VERDICT":
    case "RULE":
    case "PLACE":
    case "RISK":
      return "NULL";
  }
}
