import type { PermissionSource } from "../agent/policy/permission-source.ts";
import type { CallExplanation } from "../agent/calls/explain.ts";
import type { Consideration, Explanation } from "../agent/policy/permission.ts";
import type { ChangedCall, VerdictChange } from "../agent/policy/simulate.ts";
import { explainPermission, simulatePolicy, type SimulationView } from "../resolvers/permission.ts";
import { toolCallByRow } from "../resolvers/tool-call.ts";
import { builder } from "./builder.ts";
import { PermissionVerdict } from "./enums.ts";
import { ToolCall } from "./tool-call.ts";

/** A permission block as clients write it. */
export const PermissionInput = builder.inputType("PermissionInput", {
  description: "A permission block, as in the configuration: docs/permissions.md.",
  fields: (t) => ({
    mode: t.string({ description: "auto, approval (ask), readonly, deny, default, or one of the configuration's own." }),
    deny: t.stringList({ description: "Rules such as fs_read(path:.env)." }),
    allow: t.stringList(),
    ask: t.stringList(),
    allowTools: t.stringList({ description: "If given, every other tool is denied." }),
    denyTools: t.stringList(),
    autoAllowTools: t.stringList(),
    requireApprovalTools: t.stringList(),
  }),
});

/** The block without what the client left out. */
export function permissionSource(input: (typeof PermissionInput)["$inferInput"]): PermissionSource {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined));
}

const PermissionConsideration = builder.objectRef<Consideration>("PermissionConsideration").implement({
  description: "A rule, a list, a mode or a hook that was asked what it says of a call.",
  fields: (t) => ({
    rule: t.exposeString("rule"),
    place: t.exposeString("place", { description: "Where it stands in the configuration." }),
    verdict: t.field({
      type: PermissionVerdict,
      nullable: true,
      description: "Null if it said nothing of the call.",
      resolve: ({ verdict }) => (verdict === "no match" ? null : verdict),
    }),
  }),
});

const Explained = builder.interfaceRef<Explanation>("Explained").implement({
  description: "A verdict, and why.",
  fields: (t) => ({
    verdict: t.expose("verdict", { type: PermissionVerdict }),
    decidedBy: t.exposeString("decidedBy"),
    place: t.exposeString("place", { description: "Where the deciding rule stands in the configuration." }),
    reason: t.exposeString("reason"),
    considered: t.field({ type: [PermissionConsideration], resolve: ({ considered }) => [...considered] }),
  }),
});

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

builder.queryField("explainPermission", (t) =>
  t.field({
    type: PermissionExplanation,
    description: "What would become of a call, and why. Nothing is run or recorded.",
    args: {
      agentId: t.arg.id({ required: true }),
      tool: t.arg.string({ required: true }),
      input: t.arg({ type: "JSON", required: true }),
    },
    resolve: (_root, { agentId, tool, input }, context) => explainPermission(context, { agentId, tool, input: input ?? {} }),
  }),
);

const PolicyChange = builder.objectRef<VerdictChange>("PolicyChange").implement({
  description: "So many calls of a tool would be judged otherwise.",
  fields: (t) => ({
    tool: t.exposeString("tool"),
    before: t.expose("before", { type: PermissionVerdict }),
    after: t.expose("after", { type: PermissionVerdict }),
    calls: t.exposeInt("calls"),
  }),
});

const PolicyExample = builder.objectRef<ChangedCall>("PolicyExample").implement({
  description: "A call that would be judged otherwise, with the new explanation.",
  interfaces: [Explained],
  fields: (t) => ({
    before: t.expose("before", { type: PermissionVerdict }),
    toolCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      resolve: (query, { callId }, _args, context) => toolCallByRow(context, callId, query),
    }),
  }),
});

const ToolExamined = builder.objectRef<{ readonly tool: string; readonly calls: number }>("ToolExamined").implement({
  fields: (t) => ({ tool: t.exposeString("tool"), calls: t.exposeInt("calls") }),
});

const PolicySimulation = builder.objectRef<SimulationView>("PolicySimulation").implement({
  description: "What a proposed permission would have said of recorded calls.",
  fields: (t) => ({
    examined: t.exposeInt("examined", { description: "Calls that were judged when they were made." }),
    changed: t.exposeInt("changed", { description: "Those of them that would be judged otherwise." }),
    examinedByTool: t.field({
      type: [ToolExamined],
      resolve: ({ examinedByTool }) => [...examinedByTool].map(([tool, calls]) => ({ tool, calls })),
    }),
    changes: t.field({ type: [PolicyChange], resolve: ({ changes }) => [...changes] }),
    examples: t.field({
      type: [PolicyExample],
      description: "Up to three of each change of a tool.",
      resolve: ({ examples }) => [...examples],
    }),
    hasNextPage: t.boolean({ resolve: ({ endCursor }) => endCursor !== null }),
    endCursor: t.exposeString("endCursor", { nullable: true, description: "Go on after it; null if nothing is left." }),
  }),
});

const SimulationFilter = builder.inputType("SimulationFilter", {
  description: "Which recorded calls; all conditions that are given must hold.",
  fields: (t) => ({
    agentId: t.id(),
    templateIds: t.idList(),
    names: t.stringList(),
    createdAfter: t.field({ type: "DateTime" }),
    createdBefore: t.field({ type: "DateTime" }),
  }),
});

builder.queryField("simulatePolicy", (t) =>
  t.field({
    type: PolicySimulation,
    description:
      "Judges recorded calls, the oldest first, as if this permission stood in the place of their templates'. Changes nothing.",
    args: {
      permission: t.arg({ type: PermissionInput, required: true }),
      filter: t.arg({ type: SimulationFilter }),
      first: t.arg.int({ description: "Calls to look at: 100,000 at most, and if omitted." }),
      after: t.arg.string(),
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
