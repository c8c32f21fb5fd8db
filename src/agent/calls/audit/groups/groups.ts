import {
  groupedSql,
  groupsOf,
  OF_ROWS,
  type Group,
  type GroupedRow,
  type GroupedSource,
  type Grouping,
  type Groups,
} from "../../../../db/groups/grouped-rows.ts";
import { plannedForValues, type Sql } from "../../../../db/sql.ts";
import {
  BEHIND,
  COLUMNS,
  conditions,
  CREATOR_KIND,
  CURRENT,
  OF_DELETED,
  Parameters,
  PRESENT_CALLS,
  type AuditFilter,
} from "../rows.ts";
import { countedFiguresOf, fromCounters, type CountedRow } from "./counted.ts";
import { CALL_DIMENSIONS, type CallDimension } from "./dimensions.ts";
import {
  CALL_MEASURES,
  FIGURE_NAMES,
  figuresOf,
  figuresSql,
  NO_CALLS,
  type CallFigures,
  type CallMeasure,
  type CallNeeds,
  type FiguresRow,
} from "./figures.ts";

/** A request for groups of calls. */
export type CallGrouping = Grouping<CallDimension, CallMeasure> & CallNeeds;
export type CallGroup = Group<CallDimension, CallFigures>;
export type CallGroups = Groups<CallDimension, CallFigures>;

/**
 * The calls of the filter in groups, in one snapshot. The audit's counters answer if they distinguish the groups, its
 * rows otherwise, each with the calls that they lack. While the audit is incomplete, all is read from the calls.
 */
export async function callGroups(reads: Sql, filter: AuditFilter, grouping: CallGrouping): Promise<CallGroups> {
  for (const sourceOf of [fromCounters, fromAudit, fromCalls]) {
    const parameters = new Parameters(filter.tenant);
    const source = sourceOf(filter, grouping, parameters);
    if (source === null) continue;
    const text = groupedSql(source, grouping, parameters);
    const rows = await reads.query<GroupedRow<FiguresRow | CountedRow>>(plannedForValues("call_groups", text), parameters.values);
    const found = groupsOf(rows, source, grouping, { figuresOf: figuresOfRow, nothing: NO_CALLS });
    if (found !== null) return found;
  }
  return { groups: [], groupCount: 0, total: null };
}

function figuresOfRow(row: FiguresRow | CountedRow): CallFigures {
  return "duration_classes" in row ? countedFiguresOf(row) : figuresOf(row);
}

type Source = GroupedSource<CallDimension, CallMeasure>;

function fromAudit(filter: AuditFilter, grouping: CallGrouping, parameters: Parameters): Source {
  const where = conditions(filter, parameters);
  const found = [
    `SELECT ${COLUMNS} FROM fresh WHERE ${where}`,
    `SELECT ${COLUMNS} FROM audit_call WHERE ${where} AND ${CURRENT}`,
  ];
  return { ...sourceOf(grouping), open: BEHIND, isKnown: "fold", found };
}

function fromCalls(filter: AuditFilter, grouping: CallGrouping, parameters: Parameters): Source {
  const where = conditions(filter, parameters);
  return {
    ...sourceOf(grouping),
    open: [`every (${COLUMNS}) AS NOT MATERIALIZED (${PRESENT_CALLS})`],
    isKnown: "(SELECT) one",
    found: [`SELECT ${COLUMNS} FROM every WHERE ${where}`, `SELECT ${COLUMNS} FROM audit_call WHERE ${where} AND ${OF_DELETED}`],
  };
}

/** A call is in the group of each of these. */
const JOINS: { readonly [Of in CallDimension]?: string } = {
  DECIDER: "LEFT JOIN LATERAL unnest(c.deciders) AS u(decider) ON true",
  HOST: "LEFT JOIN LATERAL unnest(c.hosts) AS h(host) ON true",
};

function sourceOf({ by, times }: CallGrouping): Omit<Source, "open" | "isKnown" | "found"> {
  return {
    ...OF_ROWS,
    join: by.flatMap((dimension) => JOINS[dimension] ?? []).join(" "),
    columns: ["id", "agent_id", "state", "verdict", "has_run", "created_at", "duration_ms", "waited_ms"].map(
      (name) => `c.${name}`,
    ),
    time: "c.created_at",
    dimensions: CALL_DIMENSIONS,
    having: "true",
    figures: figuresSql(times),
    names: FIGURE_NAMES,
    examples: "min(id) AS call_id, min(agent_id) AS agent_id",
    actorKind,
    measures: CALL_MEASURES,
  };
}

/** The kind of an actor, from one of the agents or calls of the group `t`. */
function actorKind(dimension: CallDimension, value: string): string {
  switch (dimension) {
    case "REQUESTER":
      return CREATOR_KIND;
    case "DECIDER":
      return `coalesce(${["", "deleted_"].map((of) => `(SELECT d.actor_kind FROM ${of}approval p JOIN ${of}decision d ON d.approval_id = p.id WHERE p.tool_call_id = t.call_id AND d.actor_id = ${value} LIMIT 1)`).join(", ")})::text`;
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
    case "EXIT_CODE":
    case "HOST":
    case "MODEL":
      return "NULL";
  }
}
