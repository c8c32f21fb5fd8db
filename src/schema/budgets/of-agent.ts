import { budgetsOfAgent, budgetsOfTemplate } from "../../resolvers/budget.ts";
import { Agent } from "../agent.ts";
import { builder } from "../builder.ts";
import { entries } from "../price.ts";
import { Template } from "../templates/template.ts";
import { BudgetStanding, USUAL_BUDGETS } from "./budget.ts";

builder.prismaObjectField(Agent, "budgets", (t) =>
  t.field({
    type: [BudgetStanding],
    complexity: entries(USUAL_BUDGETS),
    description:
      "Budgets on which the agent spends, at most 100. Without READ_TENANT only those of its turn, of itself, of its tree and of the viewer.",
    select: { id: true, turn: true, templateId: true, depth: true },
    resolve: async (agent, _args, context) => [...(await budgetsOfAgent(context, agent))],
  }),
);

builder.objectField(Template, "budgets", (t) =>
  t.field({
    type: [BudgetStanding],
    complexity: entries(USUAL_BUDGETS),
    description:
      "Budgets that the agents of the template share, at most 100. Empty if the viewer may not read the tenant (READ_TENANT).",
    resolve: async ({ templateId }, _args, context) => [...(await budgetsOfTemplate(context, templateId))],
  }),
);
