import type { Statement } from "../../../db/sql.ts";
import { expireDue } from "../expire.ts";
import { closedEvent } from "../request.ts";
import type { ApprovalServices } from "../scope.ts";

type Asking = { readonly id: string; readonly tenant: string; readonly agentId: string; readonly createdBy: string };

const FIND: Statement<Asking, [approvalId: string]> = {
  name: "find_budget_question_of_past_window",
  text: `SELECT p.id, p.tenant, p.agent_id AS "agentId", a.created_by AS "createdBy" FROM approval p JOIN agent a ON a.id = p.agent_id
    WHERE p.id = $1 AND p.state = 'PENDING' AND (p.input ->> 'windowEndsAt')::timestamptz <= policy_time()`,
};

/**
 * Ends a question about a budget. It expires; or a new day or month has begun, and the agent continues without an answer.
 */
export async function endBudgetQuestion(services: ApprovalServices, approvalId: string): Promise<void> {
  await expireDue(services, approvalId);
  const [found] = await services.sql.query(FIND, [approvalId]);
  if (found === undefined) return;
  const { id, tenant, agentId, createdBy } = found;
  const at = services.clock.now();
  const body = closedEvent(id, null, "STALE", "another day or month has begun: the budget is counted anew");
  await services.log.commit(
    tenant,
    { agentId, createdBy, events: [{ at, body }] },
    { wake: true, approvalTransitions: [{ id, from: "PENDING", to: "STALE", closedAt: at }] },
  );
}
