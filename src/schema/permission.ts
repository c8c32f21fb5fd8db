import type { CallExplanation } from "../agent/calls/judge.ts";
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
import { TimeRangeInput } from "./inputs/tool-calls.ts";
import { UserError } from "./payload.ts";
import { sizeOf } from "./price.ts";
import { ToolCall } from "./tool-call.ts";

export const PermissionExplanation = builder.objectRef<CallExplanation>("PermissionExplanation").implement({
  description: "Why a call would be allowed, asked about or denied.",
  interfaces: [Explained],
  fields: (t) => ({
    values: t.expose("values", {
      type: "JSON",
      nullable: true,
      description: "Input values as rules see them: paths resolved, defaults applied. Null if there are none.",
    }),
    hooks: t.stringList({
      description:
        "Configuration paths of hooks that would also be asked. They can only tighten the verdict, and are not run here.",
      resolve: ({ hooks }) => [...hooks],
    }),
  }),
});

const ExplainPermissionResult = builder.objectRef<ExplanationResult>("ExplainPermissionResult").implement({
  description: "An explanation, or the problems of the call.",
  fields: (t) => ({
    explanation: t.field({
      type: PermissionExplanation,
      nullable: true,
      description: "The explanation. Null if the call has problems.",
      resolve: ({ explanation }) => explanation,
    }),
    problems: t.field({
      type: [UserError],
      description: "Problems of the call, one for each field, at most 20. `field` is a path such as `input.path`.",
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

builder.queryField("explainPermission", (t) =>
  t.field({
    type: ExplainPermissionResult,
    description:
      "Explains the verdict that the current rules give on a call, without running or recording anything. Pass `callId` for a recorded call, or `agentId`, `tool` and `input` for a possible one. For a connection, use the tool `network` with `{ host, port }` as input.",
    args: {
      callId: t.arg.id({
        description: "`callId` of a recorded call. Its last input is evaluated. All other arguments must be omitted.",
      }),
      agentId: t.arg.id({ description: "`id` of the agent that would make the call." }),
      tool: t.arg.string({ description: "Name of the tool, or `network`." }),
      input: t.arg({ type: "JSON", description: "Input of the call." }),
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
  description: "Number of calls of one tool whose verdict would change in the same way.",
  fields: (t) => ({
    tool: t.exposeString("tool", { description: "Name of the tool." }),
    before: t.expose("before", { type: PermissionVerdict, description: "Recorded verdict." }),
    after: t.expose("after", { type: PermissionVerdict, description: "Verdict with the proposed permission." }),
    calls: t.exposeInt("calls", { description: "Number of calls." }),
  }),
});

const PolicyExample = builder.objectRef<ChangedCall>("PolicyExample").implement({
  description: "A call whose verdict would change, with the new explanation.",
  interfaces: [Explained],
  fields: (t) => ({
    before: t.expose("before", { type: PermissionVerdict, description: "Recorded verdict." }),
    toolCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "The call as it is now.",
      resolve: (query, { callId }, _args, context) => toolCallByRow(context, callId, query),
    }),
  }),
});

const ToolExamined = builder.objectRef<{ readonly tool: string; readonly calls: number }>("ToolExamined").implement({
  description: "Number of examined calls of one tool.",
  fields: (t) => ({
    tool: t.exposeString("tool", { description: "Name of the tool." }),
    calls: t.exposeInt("calls", { description: "Number of calls." }),
  }),
});

const PolicySimulation = builder.objectRef<SimulationView>("PolicySimulation").implement({
  description: "Verdicts that a proposed permission would have given on recorded calls.",
  fields: (t) => ({
    examined: t.exposeInt("examined", {
      description: "Number of examined calls. Calls that were refused before the permission stage are not examined.",
    }),
    changed: t.exposeInt("changed", { description: "Number of examined calls whose verdict would change." }),
    examinedByTool: t.field({
      type: [ToolExamined],
      description: "`examined` by tool, one for each tool.",
      resolve: ({ examinedByTool }) => [...examinedByTool].map(([tool, calls]) => ({ tool, calls })),
    }),
    changes: t.field({
      type: [PolicyChange],
      description: "Changes by tool and verdicts, one for each combination.",
      resolve: ({ changes }) => [...changes],
    }),
    examples: t.field({
      type: [PolicyExample],
      description: "Up to three examples for each entry of `changes`.",
      resolve: ({ examples }) => [...examples],
    }),
    pageInfo: t.field({
      type: builder.pageInfoRef(),
      description: "Whether more recorded calls exist: pass `endCursor` as `after` to continue.",
      resolve: ({ endCursor }) => ({ hasNextPage: endCursor !== null, hasPreviousPage: false, startCursor: null, endCursor }),
    }),
  }),
});

const SimulatePolicyResult = builder.objectRef<SimulationResult>("SimulatePolicyResult").implement({
  description: "A simulation, or the problems of the proposed permission.",
  fields: (t) => ({
    simulation: t.field({
      type: PolicySimulation,
      nullable: true,
      description: "The simulation. Null if the permission has problems.",
      resolve: ({ simulation }) => simulation,
    }),
    problems: t.field({
      type: [UserError],
      description: "Problems of the permission, one for each field. `field` is a path such as `permission.deny.0`.",
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

const SimulationFilter = builder.inputType("SimulationFilter", {
  description: "Filter for recorded calls. All given conditions must match.",
  fields: (t) => ({
    created: t.field({ type: TimeRangeInput, description: "Calls requested by the model in this time range." }),
    agentIds: t.idList({ description: "Calls of one of these agents." }),
    templateIds: t.idList({ description: "Calls of agents of one of these templates, given by `templateId`." }),
    tools: t.stringList({ description: "Calls of one of these tools." }),
  }),
});

builder.queryField("simulatePolicy", (t) =>
  t.field({
    type: SimulatePolicyResult,
    // One point for each hundred calls.
    complexity: (sizes) => ({ field: 500 + Math.ceil(sizeOf(sizes, MOST_CALLS, MOST_CALLS) / 100), multiplier: 1 }),
    description:
      "Evaluates recorded calls, oldest first, with a proposed permission instead of that of their templates. Agents that keep an earlier version are bound by both. Changes nothing. Stored rules, agents' own permissions and recorded hook verdicts still apply. TOO_BUSY if too many statistics of the tenant are being computed.",
    args: {
      permission: t.arg({ type: PermissionInput, required: true, description: "The proposed permission." }),
      filter: t.arg({ type: SimulationFilter, description: "Filter. All calls if omitted." }),
      first: t.arg.int({ description: "Number of calls to read, 1 to 100,000. 100,000 if omitted." }),
      after: t.arg.string({ description: "Continue after the `pageInfo.endCursor` of an earlier simulation." }),
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
