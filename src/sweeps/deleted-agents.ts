import type { Sql, Statement } from "../db/sql.ts";
import { CHUNK, type Removal } from "./removal.ts";

const EVENTS = 5_000;

/** The next deleted agent with rows after this one: those of one tree go together. */
const NEXT: Statement<{ id: string; tenant: string }, [after: string]> = {
  name: "next_deleted_agent",
  text: "SELECT agent_id AS id, tenant FROM deleted_agent WHERE removed_at IS NULL AND agent_id > $1 ORDER BY agent_id LIMIT 1",
};

/** The tables with many rows an agent, in chunks: rows that others refer to come last. */
const MANY: readonly Statement<{ removed: number }, [agentId: string, tenant: string]>[] = [
  chunk("event", EVENTS, "e.tenant = $2"),
  ...["message", "approval", "tool_call", "step", "notice", "compaction", "agent_image"].map((table) =>
    chunk(table, CHUNK, "$2::text IS NOT NULL"),
  ),
];

function chunk(table: string, most: number, also: string): Statement<{ removed: number }, [agentId: string, tenant: string]> {
  return {
    name: `remove_deleted_${table}`,
    text: `WITH gone AS (DELETE FROM ${table} e WHERE e.ctid = ANY (ARRAY(SELECT e.ctid FROM ${table} e WHERE e.agent_id = $1 AND ${also} LIMIT ${most} FOR UPDATE SKIP LOCKED)) RETURNING 1)
      SELECT count(*)::int AS removed FROM gone`,
  };
}

/** Removes the agent with its last rows, once no other server removes some of them. */
const END: Statement<{ removed: number }, [agentId: string]> = {
  name: "remove_deleted_agent",
  text: `WITH gone AS (DELETE FROM agent a WHERE a.id = $1 AND a.tenant = '' AND NOT EXISTS (SELECT FROM event e WHERE e.agent_id = $1)
        AND NOT EXISTS (SELECT FROM message m WHERE m.agent_id = $1) AND NOT EXISTS (SELECT FROM tool_call t WHERE t.agent_id = $1) RETURNING a.id),
      marked AS (UPDATE deleted_agent d SET removed_at = policy_time() FROM gone WHERE d.agent_id = gone.id RETURNING 1)
    SELECT count(*)::int AS removed FROM marked`,
};

/** The rows of deleted agents, which no reader sees. A server that dies leaves the rest to the next look. */
export const DELETED_AGENTS: Removal = { rows: "rows of deleted agents", everyMs: 60_000, remove: removeDeleted };

async function removeDeleted(sql: Sql, mayRemove: () => boolean): Promise<number> {
  let all = 0;
  let after = "";
  while (mayRemove()) {
    const [agent] = await sql.query(NEXT, [after]);
    if (agent === undefined) break;
    after = agent.id;
    for (const statement of MANY)
      for (let removed = 1; removed > 0 && mayRemove(); all += removed)
        [{ removed } = { removed: 0 }] = await sql.query(statement, [agent.id, agent.tenant]);
    const [{ removed } = { removed: 0 }] = mayRemove() ? await sql.query(END, [agent.id]) : [];
    all += removed;
  }
  return all;
}
