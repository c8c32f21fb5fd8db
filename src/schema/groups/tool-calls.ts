import type { CallDimension } from "../../agent/calls/audit/groups/dimensions.ts";
import { NO_CALLS, type CallFigures, type CallMeasure } from "../../agent/calls/audit/groups/figures.ts";
import type { CallGroup } from "../../agent/calls/audit/groups/groups.ts";
import { VERDICTS } from "../../agent/policy/permission.ts";
import { RISKS } from "../../agent/tools/tool.ts";
import { ToolCallState as States } from "../../db/generated/enums.ts";
import { TOOL_CALL_ERROR_TYPES } from "../../events/snapshots.ts";
import { globalId } from "../../lib/global-id.ts";
import { keyActor, keyAgent, keyAmong, keyNumber, keyText } from "../../resolvers/groups/keys.ts";
import { toolCallGroups } from "../../resolvers/groups/tool-calls.ts";
import { ActorRef } from "../actor.ts";
import { builder, described } from "../builder.ts";
import { OrderDirection, PermissionVerdict, Risk, ToolCallErrorType, ToolCallState } from "../enums.ts";
import { ToolCallFilter } from "../inputs/tool-calls.ts";
import { Distribution, groupsPrice, groupsType, rangeArguments } from "./groups.ts";

const ToolCallDimension = builder.enumType("ToolCallDimension", {
  description: "Property by which tool calls are grouped. Calls without a value are of a group of their own.",
  values: described<CallDimension>({
    TOOL: "Name of the tool.",
    TEMPLATE: "Template of the agent.",
    AGENT: "Agent that made the call.",
    ROOT_AGENT: "First agent of its tree.",
    REQUESTER: "Actor that created the agent.",
    STATE: "State of the call.",
    ERROR_TYPE: "Type of its error.",
    VERDICT: "Verdict on it.",
    RULE: "Rule, list, mode or hook that decided, as in `explanation.rule`.",
    PLACE: "Place of the rule in the configuration, as in `explanation.place`.",
    RISK: "Highest risk of its approvals.",
    DECIDER: "Actor that decided on it. A call with decisions of several people is of several groups.",
    EXIT_CODE: "Exit code of a shell call.",
    HOST: "Host that it asked to reach, allowed or not. A call with several hosts is of several groups.",
    MODEL: "Model whose step made the call, by the name that `Step.model` has.",
  }),
});

const ToolCallMeasure = builder.enumType("ToolCallMeasure", {
  description: "Figure by which groups of tool calls are sorted. Groups without it come last.",
  values: described<CallMeasure>({
    CALLS: "`calls`.",
    FAILED: "`failed`.",
    FAILURE_RATE: "`failureRate`.",
    DENIED: "`denied`.",
    ASKED: "`asked`.",
    EXECUTED: "`executed`.",
    LAST_AT: "`lastAt`.",
    DURATION_MEAN: "Mean of `durationMs`.",
    DURATION_P50: "Median of `durationMs`.",
    DURATION_P95: "95th percentile of `durationMs`.",
    DURATION_P99: "99th percentile of `durationMs`.",
    WAITED_MEAN: "Mean of `waitedMs`.",
    WAITED_P95: "95th percentile of `waitedMs`.",
  }),
});

const ToolCallGroupOrder = builder.inputType("ToolCallGroupOrder", {
  description: "Sort order for groups of tool calls. Equal groups are sorted by their values.",
  fields: (t) => ({
    measure: t.field({ type: ToolCallMeasure, required: true, description: "Sort key." }),
    direction: t.field({ type: OrderDirection, required: true, description: "Sort direction." }),
  }),
});

export const ToolCallFigures = builder.objectRef<CallFigures>("ToolCallFigures").implement({
  description: "Figures of tool calls. Copies that forks have are left out.",
  fields: (t) => ({
    calls: t.exposeInt("calls", { description: "Number of calls." }),
    ended: t.exposeInt("ended", { description: "Calls in a final state." }),
    failed: t.exposeInt("failed", { description: "Calls in state FAILED." }),
    failureRate: t.float({
      nullable: true,
      description: "`failed` as a share of `ended`. Null if none has ended.",
      resolve: ({ failed, ended }) => (ended === 0 ? null : failed / ended),
    }),
    denied: t.exposeInt("denied", { description: "Calls in state DENIED." }),
    asked: t.exposeInt("asked", { description: "Calls with the verdict ASK." }),
    executed: t.exposeInt("executed", { description: "Calls that started to run." }),
    lastAt: t.expose("lastAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of the newest call. Null if there is none.",
    }),
    durationMs: t.expose("duration", {
      type: Distribution,
      complexity: 0,
      description: "Run times of the calls that ran and have ended.",
    }),
    waitedMs: t.expose("waited", {
      type: Distribution,
      complexity: 0,
      description:
        "Times from request to end of the approvals of a call, summed up for each call. Calls without any are left out.",
    }),
  }),
});

const ToolCallGroup = builder.objectRef<CallGroup>("ToolCallGroup").implement({
  description:
    "Tool calls with the same values of the dimensions. A value is null if its dimension was not requested, or if the calls have none.",
  fields: (t) => ({
    tool: t.string({ nullable: true, description: "TOOL.", resolve: (group) => keyText(group, "TOOL") }),
    templateId: t.id({ nullable: true, description: "TEMPLATE.", resolve: (group) => keyText(group, "TEMPLATE") }),
    agentId: t.id({
      nullable: true,
      description: "AGENT: `id` of the agent.",
      resolve: (group) => globalOf(keyText(group, "AGENT")),
    }),
    agent: t.prismaField({
      type: "Agent",
      nullable: true,
      description: "AGENT.",
      resolve: (query, group, _args, context) => keyAgent(context, group, "AGENT", query),
    }),
    rootAgent: t.prismaField({
      type: "Agent",
      nullable: true,
      description: "ROOT_AGENT. Null if the viewer may not see it.",
      resolve: (query, group, _args, context) => keyAgent(context, group, "ROOT_AGENT", query),
    }),
    requestedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "REQUESTER.",
      resolve: (group) => keyActor(group, "REQUESTER"),
    }),
    state: t.field({
      type: ToolCallState,
      nullable: true,
      description: "STATE.",
      resolve: (group) => keyAmong(group, "STATE", Object.values(States)),
    }),
    errorType: t.field({
      type: ToolCallErrorType,
      nullable: true,
      description: "ERROR_TYPE.",
      resolve: (group) => keyAmong(group, "ERROR_TYPE", TOOL_CALL_ERROR_TYPES),
    }),
    verdict: t.field({
      type: PermissionVerdict,
      nullable: true,
      description: "VERDICT.",
      resolve: (group) => keyAmong(group, "VERDICT", VERDICTS),
    }),
    rule: t.string({ nullable: true, description: "RULE.", resolve: (group) => keyText(group, "RULE") }),
    place: t.string({ nullable: true, description: "PLACE.", resolve: (group) => keyText(group, "PLACE") }),
    risk: t.field({ type: Risk, nullable: true, description: "RISK.", resolve: (group) => keyAmong(group, "RISK", RISKS) }),
    decidedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "DECIDER.",
      resolve: (group) => keyActor(group, "DECIDER"),
    }),
    exitCode: t.int({ nullable: true, description: "EXIT_CODE.", resolve: (group) => keyNumber(group, "EXIT_CODE") }),
    host: t.string({ nullable: true, description: "HOST.", resolve: (group) => keyText(group, "HOST") }),
    model: t.string({ nullable: true, description: "MODEL.", resolve: (group) => keyText(group, "MODEL") }),
    figures: t.expose("figures", { type: ToolCallFigures, complexity: 1, description: "Figures of all its calls." }),
    series: t.field({
      type: [ToolCallFigures],
      complexity: 0,
      description: "Figures by bucket, one for each of `buckets` in their order. Empty without `bucket`.",
      resolve: ({ series }) => [...(series ?? [])],
    }),
  }),
});

function globalOf(agentId: string | null): string | null {
  return agentId === null ? null : globalId("Agent", agentId);
}

const ToolCallGroups = groupsType<CallGroup, CallFigures>("ToolCallGroups", "calls", ToolCallGroup, (t) =>
  t.field({
    type: ToolCallFigures,
    complexity: 0,
    description: "Figures of all calls, those of groups beyond `first` included. Each one counts once.",
    resolve: ({ total }) => total ?? NO_CALLS,
  }),
);

builder.queryField("toolCallGroups", (t) =>
  t.field({
    type: ToolCallGroups,
    complexity: groupsPrice,
    description:
      "Figures of the tool calls that the viewer may see, by dimensions and time. TOO_BUSY if too many statistics of the tenant are being computed.",
    args: {
      by: t.arg({
        type: [ToolCallDimension],
        required: true,
        defaultValue: ["TOOL"],
        description: "Dimensions. An empty list makes one group of all calls.",
      }),
      ...rangeArguments(t.arg, "Calls requested"),
      filter: t.arg({ type: ToolCallFilter, description: "Filter. All calls if omitted." }),
      orderBy: t.arg({ type: ToolCallGroupOrder, description: "Sort order. Most calls first if omitted." }),
    },
    resolve: (_root, args, context, info) => toolCallGroups(context, args, info),
  }),
);
