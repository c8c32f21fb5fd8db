import type { Sql, Statement } from "../../db/sql.ts";

/** The size of an agent's context; null if unknown. */
export type ContextMeter = {
  readonly tokens: number | null;
  readonly window: number | null;
  readonly compactedAt: Date | null;
};

/** As the newest answer left it, or a compaction after that. */
const READ: Statement<ContextMeter, [agentIds: readonly string[]]> = {
  name: "read_context_meters",
  text: `SELECT CASE WHEN c.applied_at_step > coalesce(s.step, 0) THEN c.tokens_after ELSE coalesce(s.context_tokens, s.context_bytes / 4) END AS tokens,
      s.context_window AS "window", c.ended_at AS "compactedAt"
    FROM unnest($1::text[]) WITH ORDINALITY AS a(id, place)
    LEFT JOIN LATERAL (SELECT * FROM step s WHERE s.agent_id = a.id AND s.context_bytes IS NOT NULL ORDER BY s.step DESC LIMIT 1) s ON true
    LEFT JOIN LATERAL (SELECT * FROM compaction c WHERE c.agent_id = a.id AND c.state = 'APPLIED' ORDER BY c.applied_at_step DESC, c.id DESC LIMIT 1) c ON true
    ORDER BY a.place`,
};

/** The meters of agents, in the order of `agentIds`. */
export async function readContextMeters(sql: Sql, agentIds: readonly string[]): Promise<readonly ContextMeter[]> {
  return sql.query(READ, [agentIds]);
}
