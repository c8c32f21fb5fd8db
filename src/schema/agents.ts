import { agent, agents, type AgentOrder as Order } from "../resolvers/agent.ts";
import { Agent } from "./agent.ts";
import { builder, connectionOf, nodesSelection, described } from "./builder.ts";
import { AgentState, OrderDirection } from "./enums.ts";

builder.queryField("agent", (t) =>
  t.prismaField({
    type: Agent,
    nullable: true,
    description: "Agent by id. Null if it does not exist or the viewer may not see it.",
    args: { id: t.arg.id({ required: true, description: "`id` of the agent." }) },
    resolve: (query, _root, { id }, context) => agent(context, id, query),
  }),
);

const AgentFilter = builder.inputType("AgentFilter", {
  description: "Filter for agents. All given conditions must match.",
  fields: (t) => ({
    states: t.field({ type: [AgentState], description: "Agents in one of these states." }),
    templateIds: t.idList({ description: "Agents of one of these templates, given by `templateId`." }),
    createdBy: t.idList({ description: "Agents created by one of these actors, given by `ActorRef.id` or `actorId`." }),
    isArchived: t.boolean({
      defaultValue: false,
      description: "True for archived agents only, false for all others, null for both.",
    }),
    idleSince: t.field({
      type: "DateTime",
      description: "Agents whose `lastActivityAt` is this time or earlier.",
    }),
    title: t.string({ description: "Agents whose title contains this text. Case is ignored." }),
    parentIds: t.idList({ description: "Agents that one of these agents started." }),
    rootsOnly: t.boolean({
      description: "True for agents that no other agent started, false for all. True if omitted, unless `parentIds` is given.",
    }),
  }),
});

const AgentOrderField = builder.enumType("AgentOrderField", {
  description: "Sort key for agents.",
  values: described<Order["field"]>({
    CREATED_AT: "Creation time.",
    LAST_ACTIVITY_AT: "Time of the latest activity. An agent may move between two pages: subscribe since `asOf` to learn of it.",
  }),
});

const AgentOrder = builder.inputType("AgentOrder", {
  description: "Sort order for agents.",
  fields: (t) => ({
    field: t.field({ type: AgentOrderField, required: true, description: "Sort key." }),
    direction: t.field({ type: OrderDirection, required: true, description: "Sort direction." }),
  }),
});

builder.queryField("agents", (t) =>
  t.connection(
    {
      type: Agent,
      description: "Agents that the viewer may see.",
      args: {
        filter: t.arg({ type: AgentFilter, description: "Filter. Archived agents are left out if omitted." }),
        orderBy: t.arg({ type: AgentOrder, description: "Sort order. Newest first if omitted." }),
      },
      resolve: (_root, args, context, info) => agents(context, args, nodesSelection(context, info)),
    },
    connectionOf("Agent", Agent),
  ),
);
