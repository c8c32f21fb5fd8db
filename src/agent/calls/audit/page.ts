import { plannedForValues, type Sql } from "../../../db/sql.ts";
import { conditions, listedAlone, OF_AUDIT, Parameters, type AuditFilter } from "./rows.ts";

/** An order of calls: by a column, then by id in the same direction. Calls without a duration come last. */
export type AuditOrder = { readonly column: "created_at" | "duration_ms"; readonly direction: "asc" | "desc" };

/** The sort key of a call: its time (ISO 8601) or its duration in ms (null if unknown), and its id. */
export type AuditKey = { readonly by: string | number | null; readonly id: string };

export type AuditPart = {
  readonly order: AuditOrder;
  readonly after: AuditKey | null;
  readonly before: AuditKey | null;
  readonly isBackwards: boolean;
  readonly most: number;
};

/**
 * The keys of a page's calls, in list order, or reversed if read backwards; null if the audit is incomplete. Calls that
 * the audit lacks are added in the same snapshot.
 */
export async function auditPage(
  reads: Sql,
  filter: AuditFilter,
  part: AuditPart,
  behind = OF_AUDIT,
): Promise<readonly AuditKey[] | null> {
  const listed = await listedAlone(reads, filter.tenant, "audit_call.agent_id");
  const parameters = new Parameters(filter.tenant);
  const { column } = part.order;
  const where = conditions(filter, parameters);
  const most = parameters.add(part.most);
  const sort = (part.order.direction === "asc") === part.isBackwards ? "DESC" : "ASC";
  // The sum keeps the planner from an index.
  const sorted = column === "duration_ms" && isSelective(filter) && !isOfRareStates(filter) ? "duration_ms + 0" : column;
  const order = `ORDER BY ${sorted} ${sort}, id ${sort}`;
  const nulls = part.isBackwards ? "NULLS FIRST" : "NULLS LAST";
  // Calls without a duration form a second list: an index has them at only one of its ends.
  const lists = listsOf(part, parameters, filter.haveRun);
  const kinds = inOrder(filter).map((kind) => conditions(kind, parameters));
  const found = lists.map((list, index) => {
    const isFilled = index === 0 ? "" : ` AND (SELECT count(*) FROM list0) < ${most}`;
    const pieces = kinds.map(
      (kind) =>
        `(SELECT id, ${column} FROM audit_call WHERE ${kind} AND ${list} AND ${behind.current}${listed}${isFilled} ${order} LIMIT ${most})`,
    );
    return `list${index} AS MATERIALIZED (${pieces.join(" UNION ALL ")})`;
  });
  const all = lists.map((_list, index) => `SELECT * FROM list${index}`);
  const moved = `SELECT id, ${column} FROM fresh WHERE ${where} AND (${lists.map((list) => `(${list})`).join(" OR ")})`;
  const text = `WITH ${[...behind.tables, ...found].join(", ")}
    SELECT p.id, p.${column} AS "by" FROM fold LEFT JOIN LATERAL (
      SELECT * FROM (${[...all, moved].join(" UNION ALL ")}) u ORDER BY ${column} ${sort} ${nulls}, id ${sort} LIMIT ${most}
    ) p ON true ORDER BY p.${column} ${sort} ${nulls}, p.id ${sort}`;
  // Rare and frequent values are found by different indexes.
  const rows = await reads.query<{ id: string | null; by: Date | number | null }>(
    plannedForValues("audit_page", text),
    parameters.values,
  );
  if (rows.length === 0) return null;
  return rows.flatMap(({ id, by }) => (id === null ? [] : [{ id, by: by instanceof Date ? by.toISOString() : by }]));
}

const MOST_LISTS = 8;

/** The filter, once for each of its states or tools: an index has the calls of one of them in order. */
function inOrder(filter: AuditFilter): readonly AuditFilter[] {
  const states = [...new Set(filter.states)];
  if (states.length > 0 && isOfRareStates(filter))
    return states.map((state): AuditFilter => Object.assign({}, filter, { states: [state] }));
  const tools = [...new Set(filter.tools)];
  return tools.length < 2 || tools.length > MOST_LISTS || isSelective(filter)
    ? [filter]
    : tools.map((tool): AuditFilter => Object.assign({}, filter, { tools: [tool] }));
}

/** True if all states have an index by duration: all but COMPLETED. */
function isOfRareStates({ states }: AuditFilter): boolean {
  return states !== null && !states.includes("COMPLETED");
}

/**
 * True if few calls fit the filter, a few percent at most: they are all read and sorted. The planner does not know that
 * durations depend on these columns, and would read nearly all calls by duration.
 */
function isSelective(filter: AuditFilter): boolean {
  const { visible, agentIds, errorTypes, verdicts, createdBy, hosts } = filter;
  const isOfFew = [visible, agentIds, errorTypes, createdBy, hosts].some((condition) => condition !== null);
  return isOfFew || isOfRareStates(filter) || (verdicts !== null && verdicts.every((verdict) => verdict === "deny"));
}

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
