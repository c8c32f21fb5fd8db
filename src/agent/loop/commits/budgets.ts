import type { BudgetHoldRow } from "../../../db/commit/budget-accounts.ts";
import type { OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { millionthsOf } from "../../budgets/budget.ts";
import { costOf, totalTokens, type Spending, type TokenPrice } from "../../models/model.ts";
import type { AgentView } from "../view.ts";

/** A step that is admitted: the expected cost that it holds on each of its budgets, and the warnings. */
export type StepHolds = { readonly holds: readonly BudgetHoldRow[]; readonly events: readonly AgentEventBody[] };

/** The part of the commit that starts a step. */
export function budgetsHeld(step: number, budget: StepHolds | null): Pick<OwnerChange, "budgets"> {
  return budget === null ? {} : { budgets: { holds: { step, periods: budget.holds } } };
}

/**
 * The part of the commit that ends a step: its real cost takes the place of its holds. `isLost`: the cost of its last
 * call is unknown, and is charged as expected.
 */
export function budgetsSettled(
  { stepCount: step, lastStep }: Pick<AgentView, "stepCount" | "lastStep">,
  { usage, isEstimated }: Spending,
  price: TokenPrice | null,
  isLost = false,
): Pick<OwnerChange, "budgets"> {
  if (lastStep?.isHeld !== true) return {};
  const costUsd = costOf(usage, price);
  const millionths = costUsd === null ? null : millionthsOf(costUsd);
  return { budgets: { settled: { step, millionths, tokens: totalTokens(usage), isEstimated, isLost } } };
}
