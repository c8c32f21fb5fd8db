import type { BudgetQuestion as Question, StepCost as Cost } from "../../events/budgets/budget-question.ts";
import { globalId } from "../../lib/global-id.ts";
import { budgetById } from "../../resolvers/budget.ts";
import { Budget, BudgetPer } from "../budgets/budget.ts";
import { builder } from "../builder.ts";

const StepCost = builder.objectRef<Cost>("StepCost").implement({
  description: "Cost of a step (model call).",
  fields: (t) => ({
    usd: t.exposeFloat("usd", { nullable: true, description: "US dollars. Null if the model has no price." }),
    tokens: t.exposeFloat("tokens", { description: "Tokens of input and output, those of the provider's cache included." }),
  }),
});

const RaiseTo = builder.objectRef<Question["raiseTo"]>("RaiseTo").implement({
  description: "Limits of a budget.",
  fields: (t) => ({
    usd: t.exposeFloat("usd", { nullable: true, description: "US dollars. Null if only tokens are limited." }),
    tokens: t.exposeFloat("tokens", { nullable: true, description: "Tokens. Null if only money is limited." }),
  }),
});

export const BudgetQuestion = builder.objectRef<Question>("BudgetQuestion").implement({
  description:
    "Question whether a budget may be raised, as of the request. ALLOW raises it for its present period, and the agent continues. DENY ends the turn with the reason BUDGET.",
  fields: (t) => ({
    budgetId: t.id({ description: "`id` of the budget.", resolve: ({ budgetId }) => globalId("Budget", budgetId) }),
    budget: t.field({
      type: Budget,
      nullable: true,
      description: "The budget as it is now. Null if the viewer may not read the tenant (READ_TENANT).",
      resolve: ({ budgetId }, _args, context) => budgetById(context, budgetId),
    }),
    per: t.expose("per", { type: BudgetPer, description: "Sharing of the limit." }),
    spentUsd: t.exposeFloat("spentUsd", { description: "US dollars spent in the period." }),
    limitUsd: t.exposeFloat("limitUsd", { nullable: true, description: "Limit in US dollars. Null if only tokens are limited." }),
    spentTokens: t.exposeFloat("spentTokens", { description: "Tokens spent in the period." }),
    limitTokens: t.exposeFloat("limitTokens", {
      nullable: true,
      description: "Limit in tokens. Null if only money is limited.",
    }),
    windowEndsAt: t.expose("windowEndsAt", {
      type: "DateTime",
      nullable: true,
      description: "End of the day or month, at which the agent continues without an answer. Null without a window.",
    }),
    isPriced: t.exposeBoolean("priced", {
      description: "False if a model without a price spends on it: its tokens count, and no money.",
    }),
    averageStep: t.expose("averageStep", {
      type: StepCost,
      nullable: true,
      description: "Mean cost of the agent's steps so far. Null before the first.",
    }),
    nextStep: t.expose("nextStep", { type: StepCost, description: "Expected cost of the next step." }),
    raiseTo: t.expose("raiseTo", { type: RaiseTo, description: "Limits that ALLOW sets unless the decision has its own." }),
  }),
});
