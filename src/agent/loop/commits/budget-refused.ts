import type { BudgetSnapshot } from "../../../events/budgets/budget-question.ts";
import type { BudgetRequest } from "../../approvals/budgets/ask-budget.ts";
import type { AgentView } from "../view.ts";
import { eventsOnly, joinCommits, waiting, type Commit } from "./commit.ts";
import { turnEnded } from "./turns.ts";

/** The step does not fit, and people are asked. */
export function budgetAsked({ row, wait, events }: BudgetRequest, at: Date): Commit {
  return { change: { approvals: [row], waits: [wait], agent: { lastActivityAt: at } }, events, after: waiting([wait]) };
}

/** The step does not fit, and the budget is not raised. */
export function budgetStopped(view: AgentView, budget: BudgetSnapshot, approvalId: string | null, at: Date): Commit {
  const stopped = eventsOnly({ kind: "BUDGET_STOPPED", ...budget, approvalId });
  return joinCommits(stopped, turnEnded(view, { reason: "BUDGET", note: null }, at));
}
