/** The ways to share a limit: turns, agents, agents with all below them, templates, tenants and requesters. */
export const BUDGET_PERS = ["TURN", "AGENT", "TREE", "TEMPLATE", "TENANT", "REQUESTER"] as const;
export type BudgetPer = (typeof BUDGET_PERS)[number];

/** A budget in a period, when the event was committed. A limit is null if there is none of its kind. */
export type BudgetSnapshot = {
  readonly budgetId: string;
  readonly per: BudgetPer;
  readonly spentUsd: number;
  readonly limitUsd: number | null;
  readonly spentTokens: number;
  readonly limitTokens: number | null;
  /** ISO 8601; null for a budget without a window. */
  readonly windowEndsAt: string | null;
  /** False if a model without a price has spent on it, or would now: its tokens count, and no money. */
  readonly priced: boolean;
};

/** The cost of a step in money and tokens; `usd` is null if its model has no price. */
export type StepCost = { readonly usd: number | null; readonly tokens: number };

/**
 * The question whether a limit may be raised. The hash of an approval is over all of it: an ALLOW holds for the
 * spending that its person saw.
 */
export type BudgetQuestion = BudgetSnapshot & {
  /** The turn that waits, and the step that does not fit. */
  readonly turn: number;
  readonly step: number;
  /** The period: its turn, agent, template or actor, and its first moment in ISO 8601. */
  readonly ref: string;
  readonly startsAt: string;
  /** The mean of the agent's steps so far; null before the first. */
  readonly averageStep: StepCost | null;
  readonly nextStep: StepCost;
  /** The limits that a decision without others sets. */
  readonly raiseTo: { readonly usd: number | null; readonly tokens: number | null };
};
