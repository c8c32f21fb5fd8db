import { foundAgents, foundApprovals, foundToolCalls, search, SEARCH, type Found } from "../resolvers/search.ts";
import { shortIdOf } from "../lib/global-id.ts";
import { Agent } from "./agent.ts";
import { Approval } from "./approvals/approval.ts";
import { builder } from "./builder.ts";
import { entries } from "./price.ts";
import { ToolCall } from "./tool-call.ts";

const SHORT_ID = "Last 8 characters of the id, for people. `search` finds it.";

builder.prismaObjectField(Agent, "shortId", (t) =>
  t.id({ description: SHORT_ID, select: { id: true }, resolve: ({ id }) => shortIdOf(id) }),
);
builder.prismaObjectField(Approval, "shortId", (t) =>
  t.id({ description: SHORT_ID, select: { id: true }, resolve: ({ id }) => shortIdOf(id) }),
);
builder.prismaObjectField(ToolCall, "shortId", (t) =>
  t.id({ description: SHORT_ID, select: { id: true }, resolve: ({ id }) => shortIdOf(id) }),
);

const SearchResult = builder.objectRef<Found>("SearchResult").implement({
  description: "Objects whose id ends with a text, and that the viewer may see.",
  fields: (t) => ({
    agents: t.prismaField({
      type: [Agent],
      complexity: entries(SEARCH.most),
      description: "Agents, at most 5, archived ones included.",
      resolve: (query, found, _args, context) => foundAgents(context, found, query),
    }),
    approvals: t.prismaField({
      type: [Approval],
      complexity: entries(SEARCH.most),
      description: "Approvals in any state, at most 5.",
      resolve: (query, found, _args, context) => foundApprovals(context, found, query),
    }),
    toolCalls: t.prismaField({
      type: [ToolCall],
      complexity: entries(SEARCH.most),
      description: "Tool calls, at most 5. A new call is found after about a second.",
      resolve: (query, found, _args, context) => foundToolCalls(context, found, query),
    }),
  }),
});

builder.queryField("search", (t) =>
  t.field({
    type: SearchResult,
    complexity: 10,
    description: "Finds agents, approvals and tool calls by their ids: a short id, a whole `id`, or a `callId`.",
    args: {
      text: t.arg.string({
        required: true,
        description: "At least the last 4 characters of an id. Other texts find no object.",
      }),
    },
    resolve: (_root, { text }, context) => search(context, text),
  }),
);
