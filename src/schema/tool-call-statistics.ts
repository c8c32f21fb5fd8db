import { MAX_PAGE } from "../resolvers/connection.ts";
import { slowestCalls, toolStats, type ToolCallFilter as Filter, type ToolStats } from "../resolvers/tool-audit.ts";
import { builder } from "./builder.ts";
import { ToolCallState } from "./enums.ts";
import { entries, sizeOf } from "./price.ts";
import { ToolCall, ToolCallFilter } from "./tool-call.ts";

/** The slowest calls that are answered if nobody says how many. */
const SLOWEST = 10;

const ToolStateCount = builder.objectRef<ToolStats["states"][number]>("ToolStateCount").implement({
  description: "How many calls of a tool are in one state.",
  fields: (t) => ({
    state: t.expose("state", { type: ToolCallState, description: "The state." }),
    calls: t.exposeInt("calls", { description: "How many." }),
  }),
});

const ToolStatistics = builder.objectRef<ToolStats>("ToolStatistics").implement({
  description: "The calls of one tool.",
  fields: (t) => ({
    tool: t.exposeString("tool", { description: "The tool." }),
    calls: t.exposeInt("calls", { description: "How many calls were asked for." }),
    states: t.field({
      type: [ToolStateCount],
      description: "The same by state; at most one entry each.",
      resolve: ({ states }) => [...states],
    }),
    executed: t.exposeInt("executed", { description: "Calls that began to execute." }),
    meanMs: t.exposeFloat("meanMs", { nullable: true, description: "How long calls that ran took on average, in ms." }),
    slowestMs: t.exposeFloat("slowestMs", { nullable: true, description: "How long the slowest of them took, in ms." }),
  }),
});

const ToolCallStats = builder.objectRef<{ readonly filter: Filter }>("ToolCallStats").implement({
  description: "What the tool audit amounts to.",
  fields: (t) => ({
    tools: t.field({
      type: [ToolStatistics],
      description: "By tool, one for each, the most used first.",
      resolve: async ({ filter }, _args, context) => [...(await toolStats(context, filter))],
    }),
    slowest: t.prismaField({
      type: [ToolCall],
      complexity: (sizes) => entries(sizeOf(sizes, SLOWEST, MAX_PAGE)),
      description: "The calls that took longest, at most `first` of them.",
      args: { first: t.arg.int({ defaultValue: SLOWEST, description: `At most so many: 1 to ${MAX_PAGE}.` }) },
      resolve: (query, { filter }, { first }, context) => slowestCalls(context, filter, first ?? SLOWEST, query),
    }),
  }),
});

builder.queryField("toolCallStats", (t) =>
  t.field({
    type: ToolCallStats,
    complexity: 500,
    description: "Statistics of the tool audit.",
    args: { filter: t.arg({ type: ToolCallFilter, description: "Of which calls; all if omitted." }) },
    resolve: (_root, { filter }) => ({ filter: filter ?? {} }),
  }),
);
