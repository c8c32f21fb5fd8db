import { MAX_PAGE } from "../resolvers/connection.ts";
import { slowestCalls, toolStats, type ToolCallFilter as Filter, type ToolStats } from "../resolvers/tool-audit.ts";
import { builder } from "./builder.ts";
import { ToolCallState } from "./enums.ts";
import { ToolCallFilter } from "./inputs/tool-calls.ts";
import { entries, sizeOf } from "./price.ts";
import { ToolCall } from "./tool-call.ts";

/** The default number of slowest calls. */
const SLOWEST = 10;

const ToolStateCount = builder.objectRef<ToolStats["states"][number]>("ToolStateCount").implement({
  description: "Number of calls of a tool in one state.",
  fields: (t) => ({
    state: t.expose("state", { type: ToolCallState, description: "State of the calls." }),
    calls: t.exposeInt("calls", { description: "Number of calls." }),
  }),
});

const ToolStatistics = builder.objectRef<ToolStats>("ToolStatistics").implement({
  description: "Statistics of one tool.",
  fields: (t) => ({
    tool: t.exposeString("tool", { description: "Name of the tool." }),
    calls: t.exposeInt("calls", { description: "Number of calls requested by models." }),
    states: t.field({
      type: [ToolStateCount],
      description: "`calls` by state, at most one entry each.",
      resolve: ({ states }) => [...states],
    }),
    executed: t.exposeInt("executed", { description: "Number of calls that started to run." }),
    meanMs: t.exposeFloat("meanMs", {
      nullable: true,
      description: "Mean run time in ms of the calls that ran and have ended. Null if there are none.",
    }),
    slowestMs: t.exposeFloat("slowestMs", {
      nullable: true,
      description: "Longest run time in ms of the calls that ran and have ended. Null if there are none.",
    }),
  }),
});

const ToolCallStats = builder.objectRef<{ readonly filter: Filter }>("ToolCallStats").implement({
  description: "Statistics of tool calls.",
  fields: (t) => ({
    tools: t.field({
      type: [ToolStatistics],
      description: "Statistics by tool, one for each, most used first.",
      resolve: async ({ filter }, _args, context) => [...(await toolStats(context, filter))],
    }),
    slowest: t.prismaField({
      type: [ToolCall],
      complexity: (sizes) => entries(sizeOf(sizes, SLOWEST, MAX_PAGE)),
      description: "The calls with the longest run time, slowest first, at most `first`.",
      args: { first: t.arg.int({ defaultValue: SLOWEST, description: `Maximum number of calls, 1 to ${MAX_PAGE}.` }) },
      resolve: (query, { filter }, { first }, context) => slowestCalls(context, filter, first ?? SLOWEST, query),
    }),
  }),
});

builder.queryField("toolCallStats", (t) =>
  t.field({
    type: ToolCallStats,
    complexity: 500,
    description:
      "Statistics of the tool calls that the viewer may see. TOO_BUSY if too many statistics of the tenant are being computed.",
    args: { filter: t.arg({ type: ToolCallFilter, description: "Filter. All calls if omitted." }) },
    resolve: (_root, { filter }) => ({ filter: filter ?? {} }),
  }),
);
