import type { ApprovalState } from "../../../db/generated/enums.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import type { StepCost } from "../../../events/budgets/budget-question.ts";
import type { TokenUsage } from "../../models/model.ts";
import type { AgentView } from "../view.ts";

/** The facts for the expected cost of the next step, and the newest question about it. */
export type StepFacts = {
  /** The usage of the newest step that has one; null for none. */
  readonly last: TokenUsage | null;
  /** The bytes of the messages that it did not read: those since its answer, and those that wait. */
  readonly newBytes: number;
  /** The tokens to which a compaction for the next step has brought the context; null for none. */
  readonly compactedTokens: number | null;
  /** The mean of the newest steps; null before the first. */
  readonly average: StepCost | null;
  readonly question: { readonly id: string; readonly state: ApprovalState; readonly budgetId: string } | null;
};

/** The steps in the mean. */
const STEPS = 100;

const READ: Statement<{ facts: StepFacts }, [agentId: string, turn: number, step: number]> = {
  name: "read_step_facts",
  text: `SELECT json_build_object(
      'last', (SELECT json_build_object('inputTokens', s.input_tokens, 'outputTokens', s.output_tokens, 'cacheReadTokens', s.cache_read_tokens, 'cacheWriteTokens', s.cache_write_tokens)
        FROM step s WHERE s.agent_id = $1 AND s.input_tokens IS NOT NULL AND s.state = 'COMPLETED' ORDER BY s.step DESC LIMIT 1),
      'newBytes', (SELECT coalesce(sum(m.bytes), 0) FROM message m WHERE m.agent_id = $1 AND m.withdrawn_at IS NULL
        AND (m.ordinal IS NULL OR m.ordinal > coalesce((SELECT b.ordinal FROM message b WHERE b.agent_id = $1 AND b.kind = 'ASSISTANT' AND b.ordinal IS NOT NULL ORDER BY b.ordinal DESC LIMIT 1), -1))),
      'compactedTokens', (SELECT c.tokens_after FROM compaction c WHERE c.agent_id = $1 AND c.state = 'APPLIED' AND c.applied_at_step = $3::int ORDER BY c.ended_at DESC, c.id DESC LIMIT 1),
      'average', (SELECT json_build_object('usd', CASE WHEN count(*) = count(n.cost_usd) THEN avg(n.cost_usd) END, 'tokens', round(avg(n.tokens))) FROM (
          SELECT s.cost_usd, s.input_tokens + s.output_tokens + s.cache_read_tokens + s.cache_write_tokens AS tokens FROM step s
          WHERE s.agent_id = $1 AND s.input_tokens IS NOT NULL AND s.copied_from IS NULL ORDER BY s.step DESC LIMIT ${STEPS}) n HAVING count(*) > 0),
      'question', (SELECT json_build_object('id', p.id, 'state', p.state, 'budgetId', p.input ->> 'budgetId') FROM approval p
        WHERE p.agent_id = $1 AND p.kind = 'BUDGET' AND p.input ->> 'turn' = $2::int::text AND p.input ->> 'step' = $3::int::text ORDER BY p.requested_at DESC, p.id DESC LIMIT 1)
    ) AS facts`,
};

export async function readStepFacts(sql: Sql, { id, turn, stepCount }: AgentView): Promise<StepFacts> {
  const [row] = await sql.query(READ, [id, turn, stepCount + 1]);
  return row?.facts ?? { last: null, newBytes: 0, compactedTokens: null, average: null, question: null };
}
