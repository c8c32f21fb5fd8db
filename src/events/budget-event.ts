import type { ActorRef } from "./snapshots.ts";

/** Who shares a limit: a turn, an agent, an agent with all below it, the agents of a template, a tenant, or a requester. */
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

/** What happens to an agent that spends. */
export type BudgetEvent =
  | (BudgetSnapshot & { readonly kind: "BUDGET_WARNED" })
  | (BudgetSnapshot & { readonly kind: "BUDGET_ASKED"; readonly approvalId: string })
  | (BudgetSnapshot & { readonly kind: "BUDGET_RAISED"; readonly approvalId: string; readonly changedBy: ActorRef })
  /** `approvalId` is that of the question to which nobody said yes; null for a budget that asks nobody. */
  | (BudgetSnapshot & { readonly kind: "BUDGET_STOPPED"; readonly approvalId: string | null });

/** A change of a limit by an administrator. */
export type BudgetChange = {
  readonly budgetId: string;
  readonly per: BudgetPer;
  /** The agent, the template or the actor for which it is; null for the tenant. */
  readonly subject: string | null;
  readonly limitUsd: number | null;
  readonly limitTokens: number | null;
  readonly changedBy: ActorRef;
};

export type BudgetChangeEvent = BudgetChange & { readonly kind: "BUDGET_SET" | "BUDGET_REVOKED" };

/** The cost of a step in money and tokens; `usd` is null if its model has no price. */
export type StepCost = { readonly usd: number | null; readonly tokens: number };

/**
 * The question whether a limit may be raised. The hash of an approval is over all of it: what was spent when somebody allows
 * it is what they saw.
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

/** All kinds are for operators, audit and BI. */
export const BUDGET_CHANNELS = {
  BUDGET_WARNED: "MONITOR",
  BUDGET_ASKED: "MONITOR",
  BUDGET_RAISED: "MONITOR",
  BUDGET_STOPPED: "MONITOR",
  BUDGET_SET: "MONITOR",
  BUDGET_REVOKED: "MONITOR",
} as const;
