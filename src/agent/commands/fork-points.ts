import type { Sql, Statement } from "../../db/sql.ts";

/** A message after which an agent can be forked: later messages depend on no open work there. */
export type ForkPoint = { readonly messageId: string; readonly index: number; readonly createdAt: Date };

/** A message of a person, complete results, or an answer without tool calls. */
const SAFE = `m.ordinal IS NOT NULL AND m.content IS NOT NULL AND (m.kind <> 'ASSISTANT' OR NOT EXISTS (SELECT FROM json_array_elements(m.content) b WHERE b ->> 'type' = 'tool_use'))`;
const COLUMNS = `m.id AS "messageId", m.ordinal AS index, m.created_at AS "createdAt"`;

const READ: Statement<ForkPoint, [agentId: string, after: number | null, before: number | null, first: number]> = {
  name: "read_fork_points",
  text: `SELECT ${COLUMNS} FROM message m
    WHERE m.agent_id = $1 AND ($2::int IS NULL OR m.ordinal > $2) AND ($3::int IS NULL OR m.ordinal < $3) AND ${SAFE} ORDER BY m.ordinal DESC LIMIT $4`,
};
const READ_OLDEST: typeof READ = {
  name: "read_oldest_fork_points",
  text: `SELECT ${COLUMNS} FROM message m
    WHERE m.agent_id = $1 AND ($2::int IS NULL OR m.ordinal > $2) AND ($3::int IS NULL OR m.ordinal < $3) AND ${SAFE} ORDER BY m.ordinal LIMIT $4`,
};
const COUNT: Statement<{ points: number }, [agentId: string, most: number]> = {
  name: "count_fork_points",
  text: `SELECT count(*)::int AS points FROM (SELECT FROM message m WHERE m.agent_id = $1 AND ${SAFE} LIMIT $2) p`,
};
const FIND: Statement<ForkPoint, [agentId: string, messageId: string]> = {
  name: "find_fork_point",
  text: `SELECT ${COLUMNS} FROM message m WHERE m.agent_id = $1 AND m.id = $2 AND ${SAFE}`,
};

/** The points between two indexes (null: no bound), at most so many, from the newest or from the oldest on. */
export type ForkPointSpan = {
  readonly after: number | null;
  readonly before: number | null;
  readonly take: number;
  readonly from: "newest" | "oldest";
};

export async function readForkPoints(sql: Sql, agentId: string, span: ForkPointSpan): Promise<ForkPoint[]> {
  return sql.query(span.from === "newest" ? READ : READ_OLDEST, [agentId, span.after, span.before, span.take]);
}

/** The number of fork points, counted up to `most`. */
export async function countForkPoints(sql: Sql, agentId: string, most: number): Promise<number> {
  const [row] = await sql.query(COUNT, [agentId, most]);
  return row?.points ?? 0;
}

/** The point after this message, or the newest one for null; undefined if there is none. */
export async function findForkPoint(sql: Sql, agentId: string, messageId: string | null): Promise<ForkPoint | undefined> {
  const newest = { after: null, before: null, take: 1, from: "newest" } as const;
  const [found] = messageId === null ? await readForkPoints(sql, agentId, newest) : await sql.query(FIND, [agentId, messageId]);
  return found;
}
