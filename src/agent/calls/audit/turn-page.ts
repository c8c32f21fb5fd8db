import type { AuditStep, AuditTurn } from "../../../db/generated/client.ts";
import type { ModelErrorKind } from "../../models/model.ts";
import type { DoneReason } from "../../../db/commit/change.ts";
import type { StepState } from "../../../db/generated/enums.ts";
import { plannedForValues, type Sql } from "../../../db/sql.ts";
import { listedAlone, Parameters } from "./rows.ts";
import { FRESH_ROWS, SEEN, SEEN_OF, SETTLED, STEP_COLUMNS, TURN_COLUMNS, TURN_FOLD } from "./turn-rows.ts";

/** The conditions that steps and turns share. A half-open range of their starts. */
export type SharedFilter = {
  readonly tenant: string;
  /** The creators whose agents the reader may see; null for all. */
  readonly visible: readonly string[] | null;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly agentIds: readonly string[] | null;
  readonly rootIds: readonly string[] | null;
  readonly templateIds: readonly string[] | null;
  readonly models: readonly string[] | null;
  readonly requestedBy: readonly string[] | null;
  readonly isUnpriced: boolean | null;
  readonly errorTypes: readonly ModelErrorKind[] | null;
};

export type StepAuditFilter = SharedFilter & {
  readonly states: readonly StepState[] | null;
  readonly stopReasons: readonly string[] | null;
};

export type TurnAuditFilter = SharedFilter & {
  readonly reasons: readonly DoneReason[] | null;
  readonly isOpen: boolean | null;
};

export type TurnOrder = {
  readonly column: "started_at" | "duration_ms" | "cost_usd";
  readonly direction: "asc" | "desc";
};

/** The sort key of a row: a time (ISO 8601) or a number (null if unknown), its agent, and its number of step or turn. */
export type TurnKey = { readonly by: string | number | null; readonly agentId: string; readonly number: number };

export type TurnPart = {
  readonly order: TurnOrder;
  readonly after: TurnKey | null;
  readonly before: TurnKey | null;
  readonly isBackwards: boolean;
  readonly most: number;
};

/** A list of the audit, either of steps or of turns. */
export type Asked =
  { readonly what: "step"; readonly filter: StepAuditFilter } | { readonly what: "turn"; readonly filter: TurnAuditFilter };

/** The steps of a page, in list order, or reversed if read backwards: in one snapshot of the rows and of the log behind them. */
export async function stepPage(reads: Sql, filter: StepAuditFilter, part: TurnPart): Promise<AuditStep[]> {
  return page<AuditStep>(reads, { what: "step", filter }, STEP_COLUMNS, part);
}

/** The same of turns. */
export async function turnPage(reads: Sql, filter: TurnAuditFilter, part: TurnPart): Promise<AuditTurn[]> {
  return page<AuditTurn>(reads, { what: "turn", filter }, TURN_COLUMNS, part);
}

/** The number of steps of the filter, counted up to `most`. */
export async function stepTotal(reads: Sql, filter: StepAuditFilter, most: number): Promise<number> {
  return total(reads, { what: "step", filter }, most);
}

export async function turnTotal(reads: Sql, filter: TurnAuditFilter, most: number): Promise<number> {
  return total(reads, { what: "turn", filter }, most);
}

async function page<Row extends object>(reads: Sql, asked: Asked, columns: readonly string[], part: TurnPart): Promise<Row[]> {
  const listed = await listedAlone(reads, asked.filter.tenant, "r.agent_id");
  const parameters = new Parameters(asked.filter.tenant);
  const { column, direction } = part.order;
  const sort = (direction === "asc") === part.isBackwards ? "DESC" : "ASC";
  const nulls = part.isBackwards ? "NULLS FIRST" : "NULLS LAST";
  const where = conditions(asked, parameters);
  const most = parameters.add(part.most);
  // Rows without a duration or cost form a second list: an index has them at only one of its ends.
  const lists = listsOf(part, asked.what, parameters);
  // The sum keeps the planner from an index: few rows are sorted.
  const sorted = column !== "started_at" && isSelective(asked.filter) ? `r.${column} + 0` : `r.${column}`;
  const order = (by: string): string => `ORDER BY ${by} ${sort}, r.agent_id ${sort}, r.${asked.what} ${sort}`;
  const settled = lists.map(
    (list) =>
      `(SELECT r.* FROM audit_${asked.what} r WHERE ${where} AND ${list} AND ${SETTLED}${listed} ${order(sorted)} LIMIT ${most})`,
  );
  const pieces = [
    ...settled.map((piece) => `SELECT ${columns.join(", ")} FROM ${piece} r`),
    `SELECT ${columns.join(", ")} FROM fresh_${asked.what} r WHERE ${where} AND (${lists.map((list) => `(${list})`).join(" OR ")})`,
  ];
  const last = `ORDER BY r.${column} ${sort} ${nulls}, r.agent_id ${sort}, r.${asked.what} ${sort}`;
  const names = columns.map((name) => `r.${name} AS "${camel(name)}"`).join(", ");
  const found = `SELECT ${names} FROM (${pieces.join(" UNION ALL ")}) r ${last} LIMIT ${most}`;
  return read<Row>(reads, `audit_${asked.what}_page`, asked.filter, parameters, found);
}

async function total(reads: Sql, asked: Asked, most: number): Promise<number> {
  const listed = await listedAlone(reads, asked.filter.tenant, "r.agent_id");
  const parameters = new Parameters(asked.filter.tenant);
  const where = conditions(asked, parameters);
  const bound = parameters.add(most);
  const found = `SELECT least(count(*), ${bound})::int AS "rows" FROM (
      SELECT FROM fresh_${asked.what} r WHERE ${where} UNION ALL (SELECT FROM audit_${asked.what} r WHERE ${where} AND ${SETTLED}${listed} LIMIT ${bound})
    ) r`;
  const [row] = await read<{ rows: number }>(reads, `audit_${asked.what}_total`, asked.filter, parameters, found);
  return row?.rows ?? 0;
}

/**
 * Runs a statement over the present rows. While the stored rows are incomplete, the open turns of all agents in question are
 * made anew.
 */
async function read<Row extends object>(
  reads: Sql,
  name: string,
  filter: SharedFilter,
  parameters: Parameters,
  found: string,
): Promise<Row[]> {
  const text = `WITH fold AS MATERIALIZED (${TURN_FOLD}), seen AS MATERIALIZED (${SEEN("")}), ${FRESH_ROWS()}
    SELECT f.* FROM fold LEFT JOIN LATERAL (SELECT true AS "isFound", f.* FROM (${found}) f) f ON true`;
  const rows = await reads.query<Row & { isFound: true | null }>(plannedForValues(name, text), parameters.values);
  if (rows.length > 0) return rows.filter(({ isFound }) => isFound === true);
  const agents = agentsOf(filter, parameters);
  const whole = `WITH next AS MATERIALIZED (SELECT a.id AS agent_id FROM agent a WHERE ${agents}), seen AS MATERIALIZED (${SEEN_OF("next")}), ${FRESH_ROWS(true)} ${found}`;
  return [...(await reads.query<Row>(plannedForValues(`${name}_whole`, whole), parameters.values))];
}

/** The condition for the agents `a` whose rows a filter may have. */
export function agentsOf({ visible, agentIds }: SharedFilter, parameters: Parameters): string {
  return ["a.tenant = $1", ...among("a.created_by", visible, parameters), ...among("a.id", agentIds, parameters)].join(" AND ");
}

function among(column: string, values: readonly string[] | null, parameters: Parameters, type = "text"): string[] {
  if (values === null) return [];
  const [only] = values;
  return only !== undefined && values.length === 1
    ? [`${column} = ${parameters.add(only)}::${type}`]
    : [`${column} = ANY (${parameters.add(values)}::${type}[])`];
}

/** The conditions of a filter on rows `r`. */
export function conditions({ what, filter }: Asked, parameters: Parameters): string {
  const own =
    what === "step"
      ? [
          ...among("r.state", filter.states, parameters, "step_state"),
          ...among("r.stop_reason", filter.stopReasons, parameters),
          ...(filter.isUnpriced === null
            ? []
            : [`(r.input_tokens IS NOT NULL AND r.cost_usd IS NULL) = ${parameters.add(filter.isUnpriced)}::boolean`]),
        ]
      : [
          ...among("r.reason", filter.reasons, parameters),
          ...(filter.isOpen === null ? [] : [`(r.ended_at IS NULL) = ${parameters.add(filter.isOpen)}::boolean`]),
          ...(filter.isUnpriced === null ? [] : [`(r.unpriced > 0) = ${parameters.add(filter.isUnpriced)}::boolean`]),
        ];
  return [
    "r.tenant = $1",
    ...among("r.created_by", filter.visible, parameters),
    ...(filter.from === null ? [] : [`r.started_at >= ${parameters.add(filter.from)}::timestamptz`]),
    ...(filter.to === null ? [] : [`r.started_at < ${parameters.add(filter.to)}::timestamptz`]),
    ...among("r.agent_id", filter.agentIds, parameters),
    ...among("r.root_id", filter.rootIds, parameters),
    ...among("r.template_id", filter.templateIds, parameters),
    ...among("r.model", filter.models, parameters),
    ...among("r.requested_by", filter.requestedBy, parameters),
    ...among("r.error_type", filter.errorTypes, parameters),
    ...own,
  ].join(" AND ");
}

function isSelective({ visible, agentIds, rootIds, requestedBy, errorTypes }: SharedFilter): boolean {
  return [visible, agentIds, rootIds, requestedBy, errorTypes].some((condition) => condition !== null);
}

function listsOf(part: TurnPart, what: "step" | "turn", parameters: Parameters): readonly string[] {
  const { order, isBackwards } = part;
  const places = [
    ...(part.after === null ? [] : [beyond(order, part.after, false, what, parameters)]),
    ...(part.before === null ? [] : [beyond(order, part.before, true, what, parameters)]),
  ];
  const known = places.map((place) => place.known);
  if (order.column === "started_at") return [and(known)];
  const lists = [
    and([`r.${order.column} IS NOT NULL`, ...known]),
    and([`r.${order.column} IS NULL`, ...places.map((place) => place.unknown)]),
  ];
  return isBackwards ? lists.toReversed() : lists;
}

function and(terms: readonly string[]): string {
  return terms.length === 0 ? "true" : terms.join(" AND ");
}

/** The conditions that a row with a value, and one without, come after a key or before it. */
function beyond(
  { column, direction }: TurnOrder,
  { by, agentId, number }: TurnKey,
  isBefore: boolean,
  what: "step" | "turn",
  parameters: Parameters,
): { readonly known: string; readonly unknown: string } {
  const operator = (direction === "asc") === isBefore ? "<" : ">";
  const own = `${parameters.add(agentId)}::text, ${parameters.add(number)}::int`;
  if (by === null) return { known: isBefore ? "true" : "false", unknown: `(r.agent_id, r.${what}) ${operator} (${own})` };
  const type = column === "started_at" ? "timestamptz" : "float8";
  return {
    known: `(r.${column}, r.agent_id, r.${what}) ${operator} (${parameters.add(by)}::${type}, ${own})`,
    unknown: isBefore ? "false" : "true",
  };
}

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
