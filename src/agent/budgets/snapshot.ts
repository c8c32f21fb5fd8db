import type { BudgetSnapshot } from "../../events/budgets/budget-question.ts";
import { limitsOf, type Standing } from "./admission.ts";
import { usdOf } from "./budget.ts";

/** The budget as events show it. `priced` is false if the model that would spend now has no price. */
export function budgetSnapshot(standing: Standing, priced: boolean): BudgetSnapshot {
  const { budget, period } = standing;
  const limits = limitsOf(standing);
  return {
    budgetId: budget.id,
    per: budget.per,
    spentUsd: usdOf(period.spentMillionths),
    limitUsd: limits.millionths === null ? null : usdOf(limits.millionths),
    spentTokens: period.spentTokens,
    limitTokens: limits.tokens,
    windowEndsAt: period.endsAt,
    priced: priced && !period.isUnpriced,
  };
}

const SHARED_BY: Readonly<Record<BudgetSnapshot["per"], string>> = {
  TURN: "this turn",
  AGENT: "this agent",
  TREE: "this tree of agents",
  TEMPLATE: "the agents of this template",
  TENANT: "all agents",
  REQUESTER: "the turns of this person",
};

/** The spending, in a sentence for people. */
export function spentText({ per, spentUsd, limitUsd, spentTokens, limitTokens }: BudgetSnapshot): string {
  const parts = [
    ...(limitUsd === null ? [] : [`${usdText(spentUsd)} of ${usdText(limitUsd)}`]),
    ...(limitTokens === null ? [] : [`${spentTokens.toLocaleString("en")} of ${limitTokens.toLocaleString("en")} tokens`]),
  ];
  return `${parts.join(" and ")} of the budget for ${SHARED_BY[per]} are spent`;
}

/** Dollars with as many digits as they need, at least cents. */
export function usdText(usd: number): string {
  return `$${usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`;
}
