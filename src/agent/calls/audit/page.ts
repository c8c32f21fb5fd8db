import { plannedForValues, type Sql } from "../../../db/sql.ts";
import { conditions, Parameters, type AuditFilter } from "./filter.ts";
import { COLUMNS, CURRENT, FOLD, FRESH, MOVED } from "./rows.ts";

/** An order of calls: by a column, and, where that is the same, by their ids in the same direction. Calls without a duration stand at the end. */
export type AuditOrder = { readonly column: "created_at" | "duration_ms"; readonly direction: "asc" | "desc" };

/** The sort key of a call: its time (ISO 8601) or its duration in ms (null for one that has none), and its id. */
export type AuditKey = { readonly by: string | number | null; readonly id: string };

/** The part of the list that is asked for: the calls behind one key and before another, from its start or from its end. */
export type AuditPart = {
  readonly order: AuditOrder;
  readonly after: AuditKey | null;
  readonly before: AuditKey | null;
  readonly isBackwards: boolean;
  readonly most: number;
};

/**
 * The keys of the calls of a part of the list, in its order, or from its end on if it is read backwards; null if the audit is
 * not whole yet. What the audit is behind the log is made up for in the same snapshot.
 */
export async function auditPage(reads: Sql, filter: AuditFilter, part: AuditPart): Promise<readonly AuditKey[] | null> {
  const parameters = new Parameters(filter.tenant);
  const { column } = part.order;
  const where = conditions(filter, parameters);
  const most = parameters.add(part.most);
  const sort = (part.order.direction === "asc") === part.isBackwards ? "DESC" : "ASC";
  // The sum is what no index is by.
  const sorted = column === "duration_ms" && isSelective(filter) ? "duration_ms + 0" : column;
  const order = `ORDER BY ${sorted} ${sort}, id ${sort}`;
  const nulls = part.isBackwards ? "NULLS FIRST" : "NULLS LAST";
  // Those without a duration are a list of their own behind the others: an index has them at one of its ends only.
  const lists = listsOf(part, parameters, filter.haveRun);
  const kinds = ofOneTool(filter).map((kind) => conditions(kind, parameters));
  const found = lists.map((list, index) => {
    const isFilled = index === 0 ? "" : ` AND (SELECT count(*) FROM list0) < ${most}`;
    const pieces = kinds.map(
      (kind) =>
        `(SELECT id, ${column} FROM audit_call WHERE ${kind} AND ${list} AND ${CURRENT}${isFilled} ${order} LIMIT ${most})`,
    );
    return `list${index} AS MATERIALIZED (${pieces.join(" UNION ALL ")})`;
  });
  const all = lists.map((_list, index) => `SELECT * FROM list${index}`);
  const moved = `SELECT id, ${column} FROM fresh WHERE ${where} AND (${lists.map((list) => `(${list})`).join(" OR ")})`;
  const text = `WITH fold AS MATERIALIZED (${FOLD}), moved AS MATERIALIZED (${MOVED}), fresh (${COLUMNS}) AS MATERIALIZED (${FRESH}), ${found.join(", ")}
    SELECT p.id, p.${column} AS "by" FROM fold LEFT JOIN LATERAL (
      SELECT * FROM (${[...all, moved].join(" UNION ALL ")}) u ORDER BY ${column} ${sort} ${nulls}, id ${sort} LIMIT ${most}
    ) p ON true ORDER BY p.${column} ${sort} ${nulls}, p.id ${sort}`;
  // What is rare is found by another index than what is frequent.
  const rows = await reads.query<{ id: string | null; by: Date | number | null }>(
    plannedForValues("audit_page", text),
    parameters.values,
  );
  if (rows.length === 0) return null;
  return rows.flatMap(({ id, by }) => (id === null ? [] : [{ id, by: by instanceof Date ? by.toISOString() : by }]));
}

/** The most tools of which each is looked for by itself. */
const MOST_TOOLS = 8;

/** The filter, once for each of its tools: an index has the calls of one tool in their order. */
function ofOneTool(filter: AuditFilter): readonly AuditFilter[] {
  const tools = [...new Set(filter.tools)];
  return tools.length < 2 || tools.length > MOST_TOOLS || isSelective(filter)
    ? [filter]
    : tools.map((tool): AuditFilter => Object.assign({}, filter, { tools: [tool] }));
}

/**
 * True if few calls fit the filter, some hundredths at most: they are all read and sorted. How long a call takes depends on what
 * it is, which the planner does not know: it would go through the calls by their durations, past nearly all of them.
 */
function isSelective({ visible, agentIds, states, errorTypes, verdicts, createdBy }: AuditFilter): boolean {
  const isOfFew = [visible, agentIds, errorTypes, createdBy].some((condition) => condition !== null);
  return (
    isOfFew ||
    (states !== null && !states.includes("COMPLETED")) ||
    (verdicts !== null && verdicts.every((verdict) => verdict === "deny"))
  );
}

/** The conditions of the lists that the part is of, in the order in which they are read. */
function listsOf(part: AuditPart, parameters: Parameters, haveRun: boolean): readonly string[] {
  const { order, isBackwards } = part;
  const places = [
    ...(part.after === null ? [] : [beyond(order, part.after, false, parameters)]),
    ...(part.before === null ? [] : [beyond(order, part.before, true, parameters)]),
  ];
  const timed = and(places.map((place) => place.timed));
  if (order.column === "created_at") return [timed];
  const lists = [and(["duration_ms IS NOT NULL", timed]), and(["duration_ms IS NULL", ...places.map((place) => place.untimed)])];
  if (haveRun) return lists.slice(0, 1);
  return isBackwards ? lists.toReversed() : lists;
}

function and(terms: readonly string[]): string {
  return terms.length === 0 ? "true" : terms.join(" AND ");
}

/** That a call stands behind a key, or before it if `isBefore`: one that has what the order is by, and one that has not. */
function beyond(
  { column, direction }: AuditOrder,
  { by, id }: AuditKey,
  isBefore: boolean,
  parameters: Parameters,
): { readonly timed: string; readonly untimed: string } {
  const operator = (direction === "asc") === isBefore ? "<" : ">";
  const ownId = parameters.add(id);
  if (by === null) return { timed: isBefore ? "true" : "false", untimed: `id ${operator} ${ownId}` };
  const type = column === "created_at" ? "timestamptz" : "float8";
  return {
    timed: `(${column}, id) ${operator} (${parameters.add(by)}::${type}, ${ownId})`,
    untimed: isBefore ? "false" : "true",
  };
}
