import type { Sql, Statement } from "../../db/sql.ts";
import { needsReading, type Spender } from "./chain.ts";
import type { Budget } from "./budget.ts";

type Found = Pick<Spender, "above" | "requester">;

/** The first sender of a turn's messages is the requester; for a child, that of the turn which started the first agent of its tree. */
const READ: Statement<{ found: Found }, [agentId: string, turn: number]> = {
  name: "read_budget_spender",
  text: `SELECT json_build_object(
      'above', (SELECT coalesce(json_agg(json_build_object('id', b.id, 'templateId', b.template_id) ORDER BY b.depth), '[]') FROM agent b WHERE b.id = ANY (a.ancestors)),
      'requester', (WITH RECURSIVE path (agent_id, turn, parent_call_id) AS (
          SELECT a.id, $2::int, a.parent_call_id
          UNION ALL SELECT t.agent_id, t.turn, b.parent_call_id FROM path CROSS JOIN LATERAL (SELECT c.agent_id, c.turn FROM tool_call c WHERE c.id = path.parent_call_id OFFSET 0) t
            CROSS JOIN LATERAL (SELECT g.parent_call_id FROM agent g WHERE g.id = t.agent_id OFFSET 0) b)
        SELECT coalesce((SELECT m.created_by FROM message m WHERE m.agent_id = path.agent_id AND m.turn = path.turn AND m.kind IN ('USER', 'REMINDER') AND m.created_by IS NOT NULL AND m.created_by_kind <> 'SYSTEM' ORDER BY m.ordinal LIMIT 1), a.created_by)
        FROM path WHERE path.parent_call_id IS NULL LIMIT 1)
    ) AS found FROM agent a WHERE a.id = $1`,
};

/** The agent, with the facts that choose its budgets. They are read only if one of the budgets asks for it. */
export async function readSpender(
  sql: Sql,
  { id, turn, templateId, depth }: Pick<Spender, "id" | "turn" | "templateId"> & { readonly depth: number },
  budgets: readonly Budget[],
): Promise<Spender> {
  const known = { id, turn, templateId };
  if (!budgets.some((budget) => needsReading(budget, { depth }))) return { ...known, above: [], requester: null };
  const [row] = await sql.query(READ, [id, turn]);
  return { ...known, above: row?.found.above ?? [], requester: row?.found.requester ?? null };
}
