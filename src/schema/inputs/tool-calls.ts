import type { ToolCallOrder as Order } from "../../resolvers/tool-audit.ts";
import { builder, described } from "../builder.ts";
import { OrderDirection, PermissionVerdict, ToolCallErrorType, ToolCallState } from "../enums.ts";

export const TimeRangeInput = builder.inputType("TimeRangeInput", {
  description: "A half-open range of time: `from` is included, `to` is not. Consecutive ranges do not overlap.",
  fields: (t) => ({
    from: t.field({ type: "DateTime", description: "First moment of the range. Unbounded if omitted." }),
    to: t.field({ type: "DateTime", description: "First moment after the range. Unbounded if omitted." }),
  }),
});

export const ToolCallFilter = builder.inputType("ToolCallFilter", {
  description: "Filter for tool calls. All given conditions must match.",
  fields: (t) => ({
    created: t.field({ type: TimeRangeInput, description: "Calls requested by the model in this time range." }),
    agentIds: t.idList({ description: "Calls of one of these agents." }),
    templateIds: t.idList({ description: "Calls of agents of one of these templates, given by `templateId`." }),
    tools: t.stringList({ description: "Calls of one of these tools." }),
    states: t.field({ type: [ToolCallState], description: "Calls in one of these states." }),
    errorTypes: t.field({
      type: [ToolCallErrorType],
      description: "Calls that were refused or failed with one of these error types.",
    }),
    verdicts: t.field({ type: [PermissionVerdict], description: "Calls with one of these verdicts." }),
    rules: t.stringList({ description: "Calls decided by one of these rules, as in `explanation.rule`." }),
    places: t.stringList({
      description:
        "Calls decided at one of these places, as in `explanation.place`. For rules of the configuration see `Template.permission.rules`; for stored rules `AllowRule.place`.",
    }),
    createdBy: t.idList({ description: "Calls of agents created by one of these actors, given by `ActorRef.id` or `actorId`." }),
    decidedBy: t.idList({ description: "Calls with a decision by one of these actors, given by `ActorRef.id` or `actorId`." }),
    minDurationMs: t.float({ description: "Calls whose `durationMs` is at least this value." }),
    exitCodes: t.intList({ description: "Shell calls that ended with one of these exit codes." }),
    hosts: t.stringList({ description: "Calls that asked to reach one of these hosts, by name without a port." }),
    models: t.stringList({ description: "Calls requested by one of these models, by the names that `Step.model` has." }),
  }),
});

const ToolCallOrderField = builder.enumType("ToolCallOrderField", {
  description: "Sort key for tool calls.",
  values: described<Order["field"]>({
    CREATED_AT: "Time at which the model requested the call.",
    DURATION: "Duration. Calls that have not ended come last.",
  }),
});

export const ToolCallOrder = builder.inputType("ToolCallOrder", {
  description: "Sort order for tool calls.",
  fields: (t) => ({
    field: t.field({ type: ToolCallOrderField, required: true, description: "Sort key." }),
    direction: t.field({ type: OrderDirection, required: true, description: "Sort direction." }),
  }),
});
