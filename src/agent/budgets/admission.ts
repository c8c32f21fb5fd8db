import type { BudgetHoldRow, BudgetPeriodKey } from "../../db/commit/budget-accounts.ts";
import type { BudgetLimits } from "./budget.ts";
import type { Link } from "./chain.ts";

/** The spending on one budget in its present period, and the limits to which decisions have raised it. */
export type PeriodState = BudgetPeriodKey & {
  readonly spentMillionths: number;
  readonly spentTokens: number;
  /** The part of the spent money that was estimated. */
  readonly estimatedMillionths: number;
  readonly heldMillionths: number;
  readonly heldTokens: number;
  /** True if a step ran with a model without a price. */
  readonly isUnpriced: boolean;
  readonly hasWarned: boolean;
  readonly raisedMillionths: number | null;
  readonly raisedTokens: number | null;
};

export type Standing = Link & { readonly period: PeriodState };

/** The expected cost of a step; `millionths` is null if its model has no price. */
export type Expected = { readonly millionths: number | null; readonly tokens: number };

/** `warned` are the budgets that report now, once a period, that they are nearly spent. */
export type Admission =
  | { readonly kind: "ADMITTED"; readonly holds: readonly BudgetHoldRow[]; readonly warned: readonly Standing[] }
  | { readonly kind: "ASKED" | "STOPPED"; readonly by: Standing };

/** The limits that hold in a period: a decision only raises them. */
export function limitsOf({ budget, period }: Standing): BudgetLimits {
  return {
    millionths: raised(budget.millionths, period.raisedMillionths),
    tokens: raised(budget.tokens, period.raisedTokens),
  };
}

function raised(limit: number | null, to: number | null): number | null {
  return limit === null ? null : Math.max(limit, to ?? limit);
}

/**
 * Admits a step if its expected cost fits into the rest of each budget. Otherwise one that stops decides
 * before one that asks.
 */
export function admit(chain: readonly Standing[], expected: Expected): Admission {
  const over = chain.filter((standing) => !hasRoom(standing, expected));
  const by = over.find(({ budget }) => budget.action === "STOP") ?? over[0];
  if (by !== undefined) return { kind: by.budget.action === "STOP" ? "STOPPED" : "ASKED", by };
  const warned = chain.filter((standing) => isWarning(standing, expected));
  return { kind: "ADMITTED", holds: chain.map((standing) => holdOn(standing, expected, warned.includes(standing))), warned };
}

/** True if a step of this cost fits, or runs all the same. */
export function hasRoom(standing: Standing, expected: Expected): boolean {
  return standing.budget.action === "WARN" || !reaches(standing, expected, 1, true);
}

/** True if the step passes this share of a limit, or reaches it. */
function reaches(standing: Standing, { millionths, tokens }: Expected, share: number, passes: boolean): boolean {
  const { period } = standing;
  const limits = limitsOf(standing);
  // A step that costs nothing of its kind takes no room.
  const is = (used: number, added: number, limit: number | null): boolean =>
    limit !== null && added > 0 && (passes ? used + added > limit * share : used + added >= limit * share);
  return (
    is(period.spentMillionths + period.heldMillionths, millionths ?? 0, limits.millionths) ||
    is(period.spentTokens + period.heldTokens, tokens, limits.tokens)
  );
}

/** It also warns of a model whose tokens a limit of money alone does not count. */
function isWarning(standing: Standing, expected: Expected): boolean {
  const { budget, period } = standing;
  if (period.hasWarned) return false;
  return isUncounted(standing, expected) || reaches(standing, expected, budget.warnAt, false);
}

function isUncounted({ budget }: Standing, { millionths }: Expected): boolean {
  return millionths === null && budget.tokens === null;
}

function holdOn(standing: Standing, { millionths, tokens }: Expected, warns: boolean): BudgetHoldRow {
  const { budgetId, ref, startsAt, endsAt } = standing.period;
  const limits = standing.budget.action === "WARN" ? { millionths: null, tokens: null } : limitsOf(standing);
  return {
    budgetId,
    ref,
    startsAt,
    endsAt,
    millionths: millionths ?? 0,
    tokens,
    mostMillionths: limits.millionths,
    mostTokens: limits.tokens,
    warns,
  };
}
