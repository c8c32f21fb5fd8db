import { MOST_TOKENS, MOST_USD, WARN_AT } from "../../agent/budgets/budget.ts";
import { budgetById, revokeBudget, setBudget } from "../../resolvers/budget.ts";
import { Budget, BudgetAction, BudgetPer, BudgetWindow } from "../budgets/budget.ts";
import { builder } from "../builder.ts";
import { payloadType } from "../payload.ts";

function budgetPayload(name: string) {
  return payloadType(name, (t) => ({
    budget: t.field({
      type: Budget,
      nullable: true,
      description: "The budget. Null if the mutation failed.",
      resolve: ({ rowId }, _args, context) => (rowId === null ? null : budgetById(context, rowId)),
    }),
  }));
}

const SetBudgetInput = builder.inputType("SetBudgetInput", {
  description: "Input of `setBudget`.",
  fields: (t) => ({
    per: t.field({ type: BudgetPer, required: true, description: "Sharing of the limit." }),
    agentId: t.id({ description: "`id` of the agent, for TURN (each of its turns), AGENT and TREE." }),
    templateId: t.id({ description: "`templateId` of the template, for TEMPLATE." }),
    requesterId: t.id({ description: "Actor, given by `ActorRef.id` or `actorId`, for REQUESTER." }),
    usd: t.float({
      description: `Limit in US dollars, at most ${MOST_USD}, rounded up to a millionth. None if omitted: then \`tokens\` is required.`,
    }),
    tokens: t.float({ description: `Limit in tokens, a whole number up to ${MOST_TOKENS}. None if omitted.` }),
    window: t.field({
      type: BudgetWindow,
      required: true,
      defaultValue: "NONE",
      description: "Time after which it is counted anew.",
    }),
    timeZone: t.string({ description: "IANA zone of a DAY or MONTH, for example `Europe/Berlin`. UTC if omitted." }),
    warnAt: t.float({
      description: "Share of the limit from which on BUDGET_WARNED is reported, above 0 and up to 1. 0.8 if omitted.",
    }),
    action: t.field({
      type: BudgetAction,
      required: true,
      defaultValue: "ASK",
      description: "Treatment of a step that does not fit.",
    }),
  }),
});

builder.mutationField("setBudget", (t) =>
  t.field({
    type: budgetPayload("SetBudgetPayload"),
    description:
      "Sets a budget, or the limits of the one that is the same but for `usd`, `tokens` and `warnAt`: its spending so far counts. The next step begins with it. Setting the same limits again has no effect. FORBIDDEN for viewers who are not administrators (SET_BUDGETS).",
    args: { input: t.arg({ type: SetBudgetInput, required: true, description: "Budget." }) },
    resolve: (_root, { input }, context) =>
      setBudget(context, {
        ...input,
        agentId: input.agentId ?? null,
        templateId: input.templateId ?? null,
        requesterId: input.requesterId ?? null,
        usd: input.usd ?? null,
        tokens: input.tokens ?? null,
        timeZone: input.timeZone ?? null,
        warnAt: input.warnAt ?? WARN_AT,
      }),
  }),
);

const RevokeBudgetInput = builder.inputType("RevokeBudgetInput", {
  description: "Input of `revokeBudget`.",
  fields: (t) => ({ budgetId: t.id({ required: true, description: "`id` of the budget." }) }),
});

builder.mutationField("revokeBudget", (t) =>
  t.field({
    type: budgetPayload("RevokeBudgetPayload"),
    description:
      "Revokes a budget that an administrator has set. Revoking it again has no effect. INVALID for one of the configuration. FORBIDDEN for viewers who are not administrators (SET_BUDGETS).",
    args: { input: t.arg({ type: RevokeBudgetInput, required: true, description: "Budget." }) },
    resolve: (_root, { input }, context) => revokeBudget(context, input.budgetId),
  }),
);
