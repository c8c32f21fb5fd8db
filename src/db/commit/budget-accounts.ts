/** A period of a budget: the turn, agent, template or actor that spends, and its day or month. Times are ISO 8601. */
export type BudgetPeriodKey = {
  readonly budgetId: string;
  readonly ref: string;
  readonly startsAt: string;
  readonly endsAt: string | null;
};

/** Amounts are millionths of a US dollar. */
export type BudgetHoldRow = BudgetPeriodKey & {
  readonly millionths: number;
  readonly tokens: number;
  /** The start is refused if the spending could pass these; null for no limit. */
  readonly mostMillionths: number | null;
  readonly mostTokens: number | null;
  /** The commit reports that the budget is nearly spent. Refused if another commit has reported it in this period. */
  readonly warns: boolean;
};

/** The cost of model calls; `millionths` is null for a model without a price. */
export type BudgetCost = {
  readonly millionths: number | null;
  readonly tokens: number;
  readonly isEstimated: boolean;
};

/** All that a commit of an owner accounts for on its budgets (account_budgets). */
export type BudgetAccounts = {
  /** The end of a step with holds. `isLost`: its cost is unknown, and at least that of the holds. */
  readonly settled?: BudgetCost & { readonly step: number; readonly isLost: boolean };
  /** Model calls without a step. */
  readonly charges?: readonly (BudgetCost & { readonly periods: readonly BudgetPeriodKey[] })[];
  /** A step that starts. */
  readonly holds?: { readonly step: number; readonly periods: readonly BudgetHoldRow[] };
};

/** Two accounts of one commit. A commit ends one step and starts one at most. */
export function joinAccounts(one: BudgetAccounts, other: BudgetAccounts): BudgetAccounts {
  if (one.settled !== undefined && other.settled !== undefined) throw new Error("a change settles one step at most");
  const charges = [...(one.charges ?? []), ...(other.charges ?? [])];
  return { ...one, ...other, ...(charges.length === 0 ? {} : { charges }) };
}

/** New limits of one period. It has those of `from…`, as it was raised before; null for the budget's own. */
export type BudgetRaise = BudgetPeriodKey & {
  readonly fromMillionths: number | null;
  readonly fromTokens: number | null;
  readonly toMillionths: number | null;
  readonly toTokens: number | null;
  /** The id of the person. */
  readonly raisedBy: string;
};

/** The parts of an owner's change that concern budgets. */
export type OwnerBudgetParts = {
  /** Refused if a budget does not allow the step that starts. */
  readonly budgets?: BudgetAccounts;
};

/** The parts of the changes of others that concern budgets. */
export type OutsideBudgetParts = {
  /** With `decision`: it raises the limits of one period of a budget. Refused if another has raised them. */
  readonly budgetRaise?: BudgetRaise;
};
