import type { ModelErrorKind as ErrorKind } from "../../agent/models/model.ts";
import type { TurnOrder as Order } from "../../resolvers/turns/turn-audit.ts";
import type { StepState as State } from "../../db/generated/enums.ts";
import { builder, described, describedLower } from "../builder.ts";
import { OrderDirection } from "../enums.ts";
import { DoneReason } from "../events/enums.ts";
import { TimeRangeInput } from "../inputs/tool-calls.ts";

export const StepState = builder.enumType("StepState", {
  description: "State of a step.",
  values: described<State>({
    STARTED: "The model call is under way.",
    COMPLETED: "The model has answered.",
    ABORTED: "The model call ended without an answer: it failed, or was interrupted.",
  }),
});

export const ModelErrorKind = builder.enumType("ModelErrorKind", {
  description: "Kind of a failed model call.",
  values: describedLower<ErrorKind>({
    rate_limited: "The provider limits requests.",
    overloaded: "The provider is overloaded.",
    unavailable: "The provider cannot be reached, or has an error of its own.",
    silent: "The answer stopped for longer than `modelIdleMs`.",
    broken: "The answer broke off.",
    empty: "The answer is empty.",
    too_long: "The context window is full.",
    rejected: "The provider rejects the request.",
    refused: "The model refuses to answer.",
  }),
});

export const StepFilter = builder.inputType("StepFilter", {
  description: "Filter for steps. All given conditions must match.",
  fields: (t) => ({
    started: t.field({ type: TimeRangeInput, description: "Steps that started in this time range." }),
    agentIds: t.idList({ description: "Steps of one of these agents." }),
    rootAgentIds: t.idList({ description: "Steps in the trees of these agents: their own, and those of agents below them." }),
    templateIds: t.idList({ description: "Steps of agents of one of these templates, given by `templateId`." }),
    models: t.stringList({ description: "Steps of one of these models, by name." }),
    requestedBy: t.idList({
      description: "Steps requested by one of these actors, given by `ActorRef.id` or `actorId`: see `Step.requestedBy`.",
    }),
    states: t.field({ type: [StepState], description: "Steps in one of these states." }),
    stopReasons: t.stringList({ description: "Steps with one of these stop reasons, for example `max_tokens`." }),
    isUnpriced: t.boolean({ description: "True for unpriced steps only, false for the others." }),
    errorTypes: t.field({ type: [ModelErrorKind], description: "Steps whose model call failed in one of these ways." }),
  }),
});

export const TurnFilter = builder.inputType("TurnFilter", {
  description: "Filter for turns. All given conditions must match.",
  fields: (t) => ({
    started: t.field({ type: TimeRangeInput, description: "Turns that started in this time range." }),
    agentIds: t.idList({ description: "Turns of one of these agents." }),
    rootAgentIds: t.idList({ description: "Turns in the trees of these agents: their own, and those of agents below them." }),
    templateIds: t.idList({ description: "Turns of agents of one of these templates, given by `templateId`." }),
    models: t.stringList({ description: "Turns with one of these models in their first step, by name." }),
    requestedBy: t.idList({
      description: "Turns requested by one of these actors, given by `ActorRef.id` or `actorId`: see `Turn.requestedBy`.",
    }),
    reasons: t.field({ type: [DoneReason], description: "Turns that ended for one of these reasons." }),
    isOpen: t.boolean({ description: "True for turns that have not ended, false for those that have." }),
    isUnpriced: t.boolean({ description: "True for turns with unpriced steps only, false for the others." }),
    errorTypes: t.field({ type: [ModelErrorKind], description: "Turns whose last model call failed in one of these ways." }),
  }),
});

const TurnOrderField = builder.enumType("TurnOrderField", {
  description: "Sort key for steps and turns.",
  values: described<Order["field"]>({
    STARTED_AT: "Start time.",
    DURATION: "Duration. Open ones come last.",
    COST: "Cost. Steps without a known cost come last.",
  }),
});

export const TurnOrder = builder.inputType("TurnOrder", {
  description: "Sort order for steps and turns.",
  fields: (t) => ({
    field: t.field({ type: TurnOrderField, required: true, description: "Sort key." }),
    direction: t.field({ type: OrderDirection, required: true, description: "Sort direction." }),
  }),
});
