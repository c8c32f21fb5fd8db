import type { CallExplanation } from "../agent/calls/explain.ts";
import { MOST_CALLS, type ChangedCall, type VerdictChange } from "../agent/policy/simulate.ts";
import {
  explainPermission,
  simulatePolicy,
  type ExplanationResult,
  type SimulationResult,
  type SimulationView,
} from "../resolvers/permission.ts";
import { toolCallByRow } from "../resolvers/tool-call.ts";
import { builder } from "./builder.ts";
import { PermissionVerdict } from "./enums.ts";
import { Explained } from "./explained.ts";
import { PermissionInput, permissionSource } from "./inputs/permission.ts";
import { TimeRangeInput } from "./inputs/time-range.ts";
import { sizeOf } from "./price.ts";
import { ToolCall } from "./tool-call.ts";
import { UserError } from "./user-error.ts";

const PermissionExplanation = builder.objectRef<CallExplanation>("PermissionExplanation").implement({
  description: "Why a call would be allowed, asked or denied.",
  interfaces: [Explained],
  fields: (t) => ({
    values: t.expose("values", {
      type: "JSON",
      nullable: true,
      description: "The values as rules see them: paths resolved, defaults applied.",
    }),
    hooks: t.stringList({
      description: "Hooks that would be asked besides. They only tighten, and are not run here.",
      resolve: ({ hooks }) => [...hooks],
    }),
  }),
});

const ExplainPermissionResult = builder.objectRef<ExplanationResult>("ExplainPermissionResult").implement({
  description: "An explanation, or what is wrong with the call.",
  fields: (t) => ({
    explanation: t.field({
      type: PermissionExplanation,
      nullable: true,
      description: "The explanation; null if the call has problems.",
      resolve: ({ explanation }) => explanation,
    }),
    problems: t.field({
      type: [UserError],
      description: "What is wrong with the call, one for each place, 20 at most: `field` says where, as in `input.path`.",
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

builder.queryField("explainPermission", (t) =>
  t.field({
    type: ExplainPermissionResult,
    description:
      "What would become of a call by the rules as they are, and why: of a recorded one (`callId`), or of one that an agent could make (`agentId`, `tool` and `input`); of a connection with the tool `network` and `{ host, port }` as its input. Nothing is run or recorded.",
    args: {
      callId: t.arg.id({
        description: "A recorded call's `callId`: with the input that it ran with, or was asked for. Nothing else is given then.",
      }),
      agentId: t.arg.id({ description: "Whose call." }),
      tool: t.arg.string({ description: "Of which tool." }),
      input: t.arg({ type: "JSON", description: "With which input." }),
    },
    resolve: (_root, { callId, agentId, tool, input }, context) =>
      explainPermission(context, {
        callId: callId ?? null,
        agentId: agentId ?? null,
        tool: tool ?? null,
        input: input ?? null,
      }),
  }),
);

const PolicyChange = builder.objectRef<VerdictChange>("PolicyChange").implement({
  description: "So many calls of a tool would be judged otherwise.",
  fields: (t) => ({
    tool: t.exposeString("tool", { description: "The tool." }),
    before: t.expose("before", { type: PermissionVerdict, description: "What was said of them." }),
    after: t.expose("after", { type: PermissionVerdict, description: "What would be." }),
    calls: t.exposeInt("calls", { description: "How many." }),
  }),
});

const PolicyExample = builder.objectRef<ChangedCall>("PolicyExample").implement({
  description: "A call that would be judged otherwise, with the new explanation.",
  interfaces: [Explained],
  fields: (t) => ({
    before: t.expose("before", { type: PermissionVerdict, description: "What was said of it." }),
    toolCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "The call.",
      resolve: (query, { callId }, _args, context) => toolCallByRow(context, callId, query),
    }),
  }),
});

const ToolExamined = builder.objectRef<{ readonly tool: string; readonly calls: number }>("ToolExamined").implement({
  description: "How many calls of a tool were looked at.",
  fields: (t) => ({
    tool: t.exposeString("tool", { description: "The tool." }),
    calls: t.exposeInt("calls", { description: "How many." }),
  }),
});

const PolicySimulation = builder.objectRef<SimulationView>("PolicySimulation").implement({
  description: "What a proposed permission would have said of recorded calls.",
  fields: (t) => ({
    examined: t.exposeInt("examined", { description: "Calls that were judged when they were made." }),
    changed: t.exposeInt("changed", { description: "Those of them that would be judged otherwise." }),
    examinedByTool: t.field({
      type: [ToolExamined],
      description: "Those by tool, one for each.",
      resolve: ({ examinedByTool }) => [...examinedByTool].map(([tool, calls]) => ({ tool, calls })),
    }),
    changes: t.field({
      type: [PolicyChange],
      description: "By tool and by what would change, one for each.",
      resolve: ({ changes }) => [...changes],
    }),
    examples: t.field({
      type: [PolicyExample],
      description: "Up to three of each change of a tool.",
      resolve: ({ examples }) => [...examples],
    }),
    pageInfo: t.field({
      type: builder.pageInfoRef(),
      description: "Whether recorded calls are left: go on `after` its `endCursor`.",
      resolve: ({ endCursor }) => ({ hasNextPage: endCursor !== null, hasPreviousPage: false, startCursor: null, endCursor }),
    }),
  }),
});

const SimulatePolicyResult = builder.objectRef<SimulationResult>("SimulatePolicyResult").implement({
  description: "A simulation, or what is wrong with the proposed permission.",
  fields: (t) => ({
    simulation: t.field({
      type: PolicySimulation,
      nullable: true,
      description: "The simulation; null if the permission has problems.",
      resolve: ({ simulation }) => simulation,
    }),
    problems: t.field({
      type: [UserError],
      description: "What is wrong with the permission, one for each place: `field` says where, as in `permission.deny.0`.",
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

const SimulationFilter = builder.inputType("SimulationFilter", {
  description: "Which recorded calls; all conditions that are given must hold.",
  fields: (t) => ({
    created: t.field({ type: TimeRangeInput, description: "Asked for in this span." }),
    agentIds: t.idList({ description: "Of one of these agents." }),
    templateIds: t.idList({ description: "Of an agent of one of these templates." }),
    tools: t.stringList({ description: "Of one of these tools." }),
  }),
});

builder.queryField("simulatePolicy", (t) =>
  t.field({
    type: SimulatePolicyResult,
    // A point for some hundred calls that are judged.
    complexity: (sizes) => ({ field: 500 + Math.ceil(sizeOf(sizes, MOST_CALLS, MOST_CALLS) / 100), multiplier: 1 }),
    description:
      "Judges recorded calls, the oldest first, as if this permission stood in the place of their templates'. Changes nothing.",
    args: {
      permission: t.arg({ type: PermissionInput, required: true, description: "The proposed permission." }),
      filter: t.arg({ type: SimulationFilter, description: "Over which calls; all if omitted." }),
      first: t.arg.int({ description: "Calls to look at: 100,000 at most, and if omitted." }),
      after: t.arg.string({ description: "Go on after the `endCursor` of an earlier simulation." }),
    },
    resolve: (_root, { permission, filter, first, after }, context) =>
      simulatePolicy(context, {
        permission: permissionSource(permission),
        filter: filter ?? null,
        first: first ?? null,
        after: after ?? null,
      }),
  }),
);
