import type { ToolCallOrder as Order } from "../../resolvers/tool-audit.ts";
import { builder } from "../builder.ts";
import { described } from "../described.ts";
import { OrderDirection, PermissionVerdict, ToolCallErrorType, ToolCallState } from "../enums.ts";
import { TimeRangeInput } from "./time-range.ts";

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
        "Calls decided at one of these places, as in `explanation.place`. For rules of the configuration see `Template.permission.rules`; for stored rules use `allowRules.` and the row id.",
    }),
    createdBy: t.idList({ description: "Calls of agents created by one of these actors, given by `ActorRef.id` or `actorId`." }),
    decidedBy: t.idList({ description: "Calls with a decision by one of these actors, given by `ActorRef.id` or `actorId`." }),
    minDurationMs: t.float({ description: "Calls whose `durationMs` is at least this value." }),
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
