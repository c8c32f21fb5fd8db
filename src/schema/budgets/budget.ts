import { limitsOf, type Standing } from "../../agent/budgets/admission.ts";
import {
  type Budget as OneBudget,
  type BudgetAction as Action,
  type BudgetWindow as Window,
  usdOf,
} from "../../agent/budgets/budget.ts";
import type { BudgetPer as Per } from "../../events/budgets/budget-question.ts";
import { globalId } from "../../lib/global-id.ts";
import { budgetById, budgets, budgetsOfViewer, leftOf, standingOf } from "../../resolvers/budget.ts";
import { ActorRef } from "../actor.ts";
import { builder, described } from "../builder.ts";
import { entries } from "../price.ts";
import { Viewer } from "../viewer.ts";

/** As most chains are. */
export const USUAL_BUDGETS = 4;

export const BudgetPer = builder.enumType("BudgetPer", {
  description: "Agents or turns that share the limit of a budget.",
  values: described<Per>({
    TURN: "A turn of an agent.",
    AGENT: "An agent, without those below it.",
    TREE: "An agent with all agents below it.",
    TEMPLATE: "All agents of a template.",
    TENANT: "All agents of the tenant.",
    REQUESTER: "The turns that one actor asked for, with those of the agents below.",
  }),
});

export const BudgetWindow = builder.enumType("BudgetWindow", {
  description: "Time after which the spending of a budget is counted anew.",
  values: described<Window>({
    NONE: "Never.",
    DAY: "A calendar day in the time zone of the budget.",
    MONTH: "A calendar month in the time zone of the budget.",
  }),
});

export const BudgetAction = builder.enumType("BudgetAction", {
  description: "Treatment of a step that does not fit into a budget.",
  values: described<Action>({
    WARN: "It runs. BUDGET_WARNED was reported before.",
    ASK: "A person is asked to raise the limit: an approval of the kind BUDGET.",
    STOP: "It does not run, and the turn ends with the reason BUDGET.",
  }),
});

export const Budget = builder.objectRef<OneBudget>("Budget");

export const BudgetStanding = builder.objectRef<Standing>("BudgetStanding").implement({
  description: "Spending on a budget in its present period. Money is exact to a millionth of a US dollar.",
  fields: (t) => ({
    budget: t.field({ type: Budget, description: "The budget.", resolve: ({ budget }) => budget }),
    limitUsd: t.float({
      nullable: true,
      description: "Limit of this period in US dollars, raised or not. Null if only tokens are limited.",
      resolve: (standing) => usd(limitsOf(standing).millionths),
    }),
    limitTokens: t.float({
      nullable: true,
      description: "Limit of this period in tokens, raised or not. Null if only money is limited.",
      resolve: (standing) => limitsOf(standing).tokens,
    }),
    spentUsd: t.float({ description: "Money spent.", resolve: ({ period }) => usdOf(period.spentMillionths) }),
    spentTokens: t.float({ description: "Tokens spent.", resolve: ({ period }) => period.spentTokens }),
    estimatedUsd: t.float({
      description: "Part of `spentUsd` that was estimated, since the provider did not report it.",
      resolve: ({ period }) => usdOf(period.estimatedMillionths),
    }),
    heldUsd: t.float({
      description: "Money that the steps which run now are expected to cost.",
      resolve: ({ period }) => usdOf(period.heldMillionths),
    }),
    heldTokens: t.float({
      description: "Tokens that the steps which run now are expected to use.",
      resolve: ({ period }) => period.heldTokens,
    }),
    leftUsd: t.float({
      nullable: true,
      description: "Money that is neither spent nor held, at least 0. Null if only tokens are limited.",
      resolve: (standing) => usd(leftOf(standing).millionths),
    }),
    leftTokens: t.float({
      nullable: true,
      description: "Tokens that are neither spent nor held, at least 0. Null if only money is limited.",
      resolve: (standing) => leftOf(standing).tokens,
    }),
    isPriced: t.boolean({
      description: "False if a step ran with a model without a price: its tokens count, and no money.",
      resolve: ({ period }) => !period.isUnpriced,
    }),
    windowStartsAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Start of the day or month. Null without a window.",
      resolve: ({ period, budget }) => (budget.window === "NONE" ? null : period.startsAt),
    }),
    windowEndsAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "End of the day or month. Null without a window.",
      resolve: ({ period }) => period.endsAt,
    }),
  }),
});

function usd(millionths: number | null): number | null {
  return millionths === null ? null : usdOf(millionths);
}

builder.node(Budget, {
  description: "A spending limit of agents.",
  id: { resolve: ({ id }) => id, description: "Relay id of the budget." },
  loadOne: (id, context) => budgetById(context, id),
  fields: (t) => ({
    per: t.expose("per", { type: BudgetPer, description: "Sharing of the limit." }),
    agentId: t.id({
      nullable: true,
      description: "The only agent that it limits, by its `id`. Null if it limits others.",
      resolve: ({ per, subject }) =>
        subject === null || per === "TEMPLATE" || per === "REQUESTER" ? null : globalId("Agent", subject),
    }),
    templateId: t.id({
      nullable: true,
      description: "Template whose agents it limits. Null if it limits those of all templates.",
      resolve: ({ per, subject, templateId }) => (per === "TEMPLATE" ? subject : templateId),
    }),
    requesterId: t.id({
      nullable: true,
      description: "`actorId` of the only actor that it limits. Null if it limits each, or none.",
      resolve: ({ per, subject }) => (per === "REQUESTER" ? subject : null),
    }),
    limitUsd: t.float({
      nullable: true,
      description: "Limit in US dollars. Null if only tokens are limited.",
      resolve: ({ millionths }) => usd(millionths),
    }),
    limitTokens: t.float({
      nullable: true,
      description: "Limit in tokens, those of the provider's cache included. Null if only money is limited.",
      resolve: ({ tokens }) => tokens,
    }),
    window: t.expose("window", { type: BudgetWindow, description: "Time after which it is counted anew." }),
    timeZone: t.exposeString("timeZone", { description: "IANA zone of the days and months." }),
    warnAt: t.exposeFloat("warnAt", {
      description: "Share of the limit from which on BUDGET_WARNED is reported, once a period.",
    }),
    action: t.expose("action", { type: BudgetAction, description: "Treatment of a step that does not fit." }),
    standing: t.field({
      type: BudgetStanding,
      nullable: true,
      description:
        "Present spending. Null if each turn, agent, tree or actor has its own: `Agent.budgets` and `Viewer.budgets` have it.",
      resolve: (budget, _args, context) => standingOf(context, budget),
    }),
    isConfigured: t.boolean({
      description: "True if the configuration has it. `revokeBudget` cannot revoke it then.",
      resolve: ({ origin }) => origin.kind === "CONFIGURATION",
    }),
    setBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Administrator that set it. Null if the configuration has it.",
      resolve: ({ origin }) => (origin.kind === "ACTOR" ? origin.setBy : null),
    }),
    setAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time at which it was set. Null if the configuration has it.",
      resolve: ({ origin }) => (origin.kind === "ACTOR" ? origin.setAt : null),
    }),
    revokedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Administrator that revoked it. Null while it holds.",
      resolve: ({ origin }) => (origin.kind === "ACTOR" ? (origin.revoked?.by ?? null) : null),
    }),
    revokedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time at which it was revoked. Null while it holds.",
      resolve: ({ origin }) => (origin.kind === "ACTOR" ? (origin.revoked?.at ?? null) : null),
    }),
  }),
});

const BudgetFilter = builder.inputType("BudgetFilter", {
  description: "Filter for budgets. All given conditions must match.",
  fields: (t) => ({
    pers: t.field({ type: [BudgetPer], description: "Budgets of one of these kinds." }),
    isRevoked: t.boolean({ description: "True for revoked budgets only. Those that hold if omitted." }),
  }),
});

builder.queryField("budgets", (t) =>
  t.field({
    type: [Budget],
    complexity: entries(USUAL_BUDGETS),
    description:
      "Budgets of the tenant, those of the configuration first, at most 1,000. Empty if the viewer may not read the tenant (READ_TENANT).",
    args: { filter: t.arg({ type: BudgetFilter, description: "Filter. All budgets that hold if omitted." }) },
    resolve: async (_root, { filter }, context) => [...(await budgets(context, filter ?? {}))],
  }),
);

builder.objectField(Viewer, "budgets", (t) =>
  t.field({
    type: [BudgetStanding],
    complexity: entries(USUAL_BUDGETS),
    description: "Budgets per requester on which the viewer's own turns spend, at most 100.",
    resolve: async (_viewer, _args, context) => [...(await budgetsOfViewer(context))],
  }),
);
