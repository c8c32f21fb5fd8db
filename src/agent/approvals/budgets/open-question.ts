import type { Statement } from "../../../db/sql.ts";
import type { BudgetQuestion } from "../../../events/budgets/budget-question.ts";
import { hasRoom, limitsOf, type Standing } from "../../budgets/admission.ts";
import { millionthsOf, usdOf } from "../../budgets/budget.ts";
import { readStandings } from "../../budgets/periods.ts";
import { usdText } from "../../budgets/snapshot.ts";
import type { TenantBudgets } from "../../budgets/tenant-budgets.ts";
import { expireDue } from "../expire.ts";
import { closedEvent } from "../request.ts";
import type { ApprovalServices } from "../scope.ts";

type Services = ApprovalServices & { readonly budgets: TenantBudgets };

type Asking = {
  readonly id: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly createdBy: string;
  readonly question: BudgetQuestion;
  readonly isOver: boolean;
  /** The cost of the steps of other agents whose questions have been answered, and that have not begun. */
  readonly promised: { readonly millionths: number; readonly tokens: number };
  readonly raisedBy: string | null;
};

/** For so long the room of an answered question is kept for its agent's step, in minutes. Then its server is busy, or away. */
const PROMISED_MINUTES = 1;

/** Questions of the same period that have just been answered, by a person or a look, whose agents are still before their step. */
const PROMISED = `SELECT json_build_object('millionths', coalesce(round(sum((o.input #>> '{nextStep,usd}')::numeric) * 1000000), 0), 'tokens', coalesce(sum((o.input #>> '{nextStep,tokens}')::bigint), 0))
      FROM approval o JOIN agent g ON g.id = o.agent_id AND g.state <> 'READY' AND g.archived_at IS NULL AND g.turn = (o.input ->> 'turn')::int AND g.step_count < (o.input ->> 'step')::int
      WHERE o.tenant = p.tenant AND o.closed_at > policy_time() - interval '${PROMISED_MINUTES} minutes' AND o.kind = 'BUDGET' AND o.state IN ('ALLOWED', 'STALE') AND o.agent_id <> p.agent_id
        AND o.input ->> 'budgetId' = p.input ->> 'budgetId' AND o.input ->> 'ref' = p.input ->> 'ref' AND o.input ->> 'startsAt' = p.input ->> 'startsAt'
        AND NOT EXISTS (SELECT FROM approval n WHERE n.agent_id = o.agent_id AND n.kind = 'BUDGET' AND n.requested_at > o.requested_at)`;

const FIND: Statement<{ asking: Asking }, [approvalId: string]> = {
  name: "find_open_budget_question",
  text: `SELECT json_build_object('id', p.id, 'tenant', p.tenant, 'agentId', p.agent_id, 'createdBy', a.created_by, 'question', p.input, 'isOver', coalesce((p.input ->> 'windowEndsAt')::timestamptz <= policy_time(), false),
      'promised', (${PROMISED}), 'raisedBy', (SELECT b.raised_by FROM budget_period b WHERE b.tenant = p.tenant AND b.budget_id = p.input ->> 'budgetId' AND b.ref = p.input ->> 'ref' AND b.starts_at = (p.input ->> 'startsAt')::timestamptz)) AS asking
    FROM approval p JOIN agent a ON a.id = p.agent_id WHERE p.id = $1 AND p.state = 'PENDING' AND a.archived_at IS NULL`,
};

/** A question is looked at again after as long as it has waited, in ms: a commit of another server may have crossed it. */
export const FIRST_LOOK_MS = 2_000;
const LAST_LOOKS_MS = 300_000;

const NEXT_LOOK: Statement<object, [approvalId: string]> = {
  name: "look_later_at_budget_question",
  text: `UPDATE wait w SET due = least(policy_time() + least(greatest(policy_time() - p.requested_at, interval '${FIRST_LOOK_MS} ms'), interval '${LAST_LOOKS_MS} ms'), p.expires_at, (p.input ->> 'windowEndsAt')::timestamptz)
    FROM approval p WHERE p.id = $1 AND p.state = 'PENDING' AND w.ref = p.id AND w.kind = 'BUDGET' AND w.settled_at IS NULL AND w.due > policy_time()`,
};

/**
 * Looks at an open question about a budget. It expires, or the agent continues without an answer because its step fits.
 * That is so on another day, after a raise, and once the budget is revoked. Agents whose questions were answered before go
 * first. The turn of an archived agent ends instead.
 */
export async function lookAtBudgetQuestion(services: Services, approvalId: string): Promise<void> {
  await expireDue(services, approvalId);
  const [found] = await services.sql.query(FIND, [approvalId]);
  if (found === undefined) return;
  const { id, tenant, agentId, createdBy } = found.asking;
  const reason = await whyNotNeeded(services, found.asking);
  if (reason === null) return void (await services.sql.query(NEXT_LOOK, [approvalId]));
  const at = services.clock.now();
  await services.log.commit(
    tenant,
    { agentId, createdBy, events: [{ at, body: closedEvent(id, null, "STALE", reason) }] },
    { wake: true, approvalTransitions: [{ id, from: "PENDING", to: "STALE", closedAt: at }] },
  );
}

/** Null if the step still does not fit. */
async function whyNotNeeded({ sql, budgets }: Services, asking: Asking): Promise<string | null> {
  const { tenant, question, isOver, promised, raisedBy } = asking;
  if (isOver) return "another day or month has begun: the budget is counted anew";
  const budget = (await budgets.present(sql, tenant)).find(({ id }) => id === question.budgetId);
  if (budget === undefined) return "the budget no longer holds";
  const [standing] = await readStandings(sql, tenant, [{ budget, ref: question.ref }]);
  const { usd, tokens } = question.nextStep;
  const expected = { millionths: usd === null ? null : millionthsOf(usd), tokens };
  return standing !== undefined && hasRoom(withHeld(standing, promised), expected)
    ? whyItFits(standing, question, raisedBy)
    : null;
}

function withHeld(standing: Standing, { millionths, tokens }: Asking["promised"]): Standing {
  const { heldMillionths, heldTokens } = standing.period;
  return {
    ...standing,
    period: { ...standing.period, heldMillionths: heldMillionths + millionths, heldTokens: heldTokens + tokens },
  };
}

function whyItFits(standing: Standing, { limitUsd, limitTokens }: BudgetQuestion, raisedBy: string | null): string {
  const { millionths, tokens } = limitsOf(standing);
  const isOther = millionths !== (limitUsd === null ? null : millionthsOf(limitUsd)) || tokens !== limitTokens;
  if (!isOther) return "the budget has room again: other steps cost less than expected";
  const limits = [
    ...(millionths === null ? [] : [usdText(usdOf(millionths))]),
    ...(tokens === null ? [] : [`${tokens.toLocaleString("en")} tokens`]),
  ];
  return `${whoRaised(standing, raisedBy)} raised the limit to ${limits.join(" and ")}`;
}

function whoRaised({ budget: { origin, ...own }, period }: Standing, raisedBy: string | null): string {
  const isOfPeriod = (period.raisedMillionths ?? 0) > (own.millionths ?? 0) || (period.raisedTokens ?? 0) > (own.tokens ?? 0);
  if (isOfPeriod && raisedBy !== null) return raisedBy;
  return origin.kind === "ACTOR" ? origin.setBy.id : "the configuration";
}
