import type { BudgetPer, BudgetSnapshot } from "./budget-question.ts";
import type { ActorRef } from "../snapshots.ts";

/** The events of an agent that spends. */
export type BudgetEvent =
  | (BudgetSnapshot & { readonly kind: "BUDGET_WARNED" })
  | (BudgetSnapshot & { readonly kind: "BUDGET_ASKED"; readonly approvalId: string })
  | (BudgetSnapshot & { readonly kind: "BUDGET_RAISED"; readonly approvalId: string; readonly changedBy: ActorRef })
  /** `approvalId` is that of a denied or expired question; null for a budget that does not ask. */
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

/** All kinds are for operators, audit and BI. */
export const BUDGET_CHANNELS = {
  BUDGET_WARNED: "MONITOR",
  BUDGET_ASKED: "MONITOR",
  BUDGET_RAISED: "MONITOR",
  BUDGET_STOPPED: "MONITOR",
  BUDGET_SET: "MONITOR",
  BUDGET_REVOKED: "MONITOR",
} as const;
