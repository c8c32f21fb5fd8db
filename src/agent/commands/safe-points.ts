import type { Sql, Statement } from "../../db/sql.ts";

/** A message after which an agent can be forked: what comes later depends on nothing that is open there. */
export type AgentSnapshot = { readonly messageId: string; readonly index: number; readonly createdAt: Date };

/** A message of a person, results that are complete, or an answer that calls no tool. */
const SAFE = `m.ordinal IS NOT NULL AND (m.kind <> 'ASSISTANT' OR NOT EXISTS (SELECT FROM json_array_elements(m.content) b WHERE b ->> 'type' = 'tool_use'))`;

const READ: Statement<AgentSnapshot, [agentId: string, before: number | null, first: number]> = {
  name: "read_snapshots",
  text: `SELECT m.id AS "messageId", m.ordinal AS index, m.created_at AS "createdAt" FROM message m
    WHERE m.agent_id = $1 AND ($2::int IS NULL OR m.ordinal < $2) AND ${SAFE} ORDER BY m.ordinal DESC LIMIT $3`,
};

const FIND: Statement<AgentSnapshot, [agentId: string, messageId: string]> = {
  name: "find_snapshot",
  text: `SELECT m.id AS "messageId", m.ordinal AS index, m.created_at AS "createdAt" FROM message m WHERE m.agent_id = $1 AND m.id = $2 AND ${SAFE}`,
};

/** The newest points of an agent at which it can be forked, before the message of index `before`, newest first. */
export async function readSnapshots(sql: Sql, agentId: string, before: number | null, first: number): Promise<AgentSnapshot[]> {
  return sql.query(READ, [agentId, before, first]);
}

/** The point after this message, or the newest one for null; undefined if there is none. */
export async function findSnapshot(sql: Sql, agentId: string, messageId: string | null): Promise<AgentSnapshot | undefined> {
  const [found] = messageId === null ? await readSnapshots(sql, agentId, null, 1) : await sql.query(FIND, [agentId, messageId]);
  return found;
}
