import type { BodyOf } from "../../events/event.ts";
import { globalId } from "../../lib/global-id.ts";
import type { EventView } from "../../resolvers/timeline.ts";
import { ActorRef } from "../actor.ts";
import { builder } from "../builder.ts";
import { BudgetPer } from "../budgets/budget.ts";
import { eventType, TimelineEvent } from "./event.ts";

type Spent = BodyOf<"BUDGET_WARNED" | "BUDGET_ASKED" | "BUDGET_RAISED" | "BUDGET_STOPPED">;

const BudgetEvent = builder.interfaceRef<EventView<Spent | BodyOf<"BUDGET_SET" | "BUDGET_REVOKED">>>("BudgetEvent").implement({
  description: "An event of a budget, with its limits at that time.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    budgetId: t.id({ description: "`id` of the budget.", resolve: ({ body }) => globalId("Budget", body.budgetId) }),
    budgetPer: t.field({ type: BudgetPer, description: "Sharing of the limit.", resolve: ({ body }) => body.per }),
    limitUsd: t.float({
      nullable: true,
      description: "Limit in US dollars. Null if only tokens are limited.",
      resolve: ({ body }) => body.limitUsd,
    }),
    limitTokens: t.float({
      nullable: true,
      description: "Limit in tokens. Null if only money is limited.",
      resolve: ({ body }) => body.limitTokens,
    }),
  }),
});

const BudgetSpendingEvent = builder.interfaceRef<EventView<Spent>>("BudgetSpendingEvent").implement({
  description: "An event of an agent that spends on a budget.",
  interfaces: [TimelineEvent, BudgetEvent],
  fields: (t) => ({
    spentUsd: t.float({ description: "US dollars spent in the period.", resolve: ({ body }) => body.spentUsd }),
    spentTokens: t.float({ description: "Tokens spent in the period.", resolve: ({ body }) => body.spentTokens }),
    windowEndsAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "End of the day or month. Null without a window.",
      resolve: ({ body }) => body.windowEndsAt,
    }),
    isPriced: t.boolean({
      description: "False if a model without a price spends on it: its tokens count, and no money.",
      resolve: ({ body }) => body.priced,
    }),
  }),
});

const SPENDING = [TimelineEvent, BudgetEvent, BudgetSpendingEvent];

eventType("BUDGET_WARNED").implement({
  description:
    "A budget of the agent is nearly spent (`Budget.warnAt`), or has no limit of tokens for a model without a price. Once a period.",
  interfaces: SPENDING,
});

eventType("BUDGET_ASKED").implement({
  description: "The next step does not fit into a budget. A person is asked to raise it, and the agent waits.",
  interfaces: SPENDING,
  fields: (t) => ({
    approvalId: t.id({ description: "Id of the approval.", resolve: ({ body }) => globalId("Approval", body.approvalId) }),
  }),
});

eventType("BUDGET_RAISED").implement({
  description: "A person raised a budget for its present period. The limits are the new ones.",
  interfaces: SPENDING,
  fields: (t) => ({
    approvalId: t.id({ description: "Id of the approval.", resolve: ({ body }) => globalId("Approval", body.approvalId) }),
    changedBy: t.field({ type: ActorRef, description: "Actor that raised it.", resolve: ({ body }) => body.changedBy }),
  }),
});

eventType("BUDGET_STOPPED").implement({
  description: "The turn ends with the reason BUDGET: its next step does not fit into a budget that was not raised.",
  interfaces: SPENDING,
  fields: (t) => ({
    closedApprovalId: t.id({
      nullable: true,
      description: "Id of the denied or expired approval. Null if the budget does not ask.",
      resolve: ({ body }) => (body.approvalId === null ? null : globalId("Approval", body.approvalId)),
    }),
  }),
});

for (const [kind, description] of [
  ["BUDGET_SET", "An administrator set a budget, or new limits of one."],
  ["BUDGET_REVOKED", "An administrator revoked a budget."],
] as const)
  eventType(kind).implement({
    description: `${description} An event of the tenant itself.`,
    interfaces: [TimelineEvent, BudgetEvent],
    fields: (t) => ({
      subject: t.string({
        nullable: true,
        description: "Row id of the agent, `templateId`, or `actorId` that it limits. Null for the tenant.",
        resolve: ({ body }) => body.subject,
      }),
      changedBy: t.field({ type: ActorRef, description: "Actor that made the change.", resolve: ({ body }) => body.changedBy }),
    }),
  });
