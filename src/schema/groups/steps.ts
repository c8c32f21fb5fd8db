import { cachedShareOf } from "../../agent/conversation/cache-use.ts";
import { NO_STEPS, type StepFigures } from "../../agent/calls/audit/groups/turn-figures.ts";
import type { StepDimension, StepGroup, StepMeasure } from "../../agent/calls/audit/groups/turn-groups.ts";
import { StepState as States } from "../../db/generated/enums.ts";
import { MODEL_ERROR_KINDS } from "../../agent/models/model.ts";
import { globalId } from "../../lib/global-id.ts";
import { keyActor, keyAgent, keyAmong, keyText } from "../../resolvers/groups/keys.ts";
import { groupsOfSteps } from "../../resolvers/groups/turns.ts";
import { ActorRef } from "../actor.ts";
import { builder, described } from "../builder.ts";
import { OrderDirection } from "../enums.ts";
import { ModelErrorKind, StepFilter, StepState } from "../turns/inputs.ts";
import { Distribution, groupsPrice, groupsType, rangeArguments } from "./groups.ts";

const Dimension = builder.enumType("StepDimension", {
  description: "Property by which steps are grouped.",
  values: described<StepDimension>({
    TEMPLATE: "Template of the agent.",
    AGENT: "Agent of the step.",
    ROOT_AGENT: "First agent of its tree.",
    REQUESTER: "Actor as in `Step.requestedBy`: one of each step.",
    ERROR_TYPE: "Kind of the failure of its model call, as in `Step.errorType`.",
    MODEL: "Model, by the name that `Step.model` has.",
    STATE: "State of the step.",
    STOP_REASON: "Reason why the model stopped. Steps without an answer are of a group of their own.",
  }),
});

const Measure = builder.enumType("StepMeasure", {
  description: "Figure by which groups of steps are sorted. Groups without it come last.",
  values: described<StepMeasure>({
    STEPS: "`steps`.",
    ABORTED: "`aborted`.",
    COST: "`costUsd`.",
    UNPRICED_STEPS: "`unpricedSteps`.",
    INPUT_TOKENS: "All input tokens, those of the cache included.",
    OUTPUT_TOKENS: "`outputTokens`.",
    LAST_AT: "`lastAt`.",
    DURATION_MEAN: "Mean of `durationMs`.",
    DURATION_P50: "Median of `durationMs`.",
    DURATION_P95: "95th percentile of `durationMs`.",
  }),
});

const GroupOrder = builder.inputType("StepGroupOrder", {
  description: "Sort order for groups of steps. Equal groups are sorted by their values.",
  fields: (t) => ({
    measure: t.field({ type: Measure, required: true, description: "Sort key." }),
    direction: t.field({ type: OrderDirection, required: true, description: "Sort direction." }),
  }),
});

const Figures = builder.objectRef<StepFigures>("StepFigures").implement({
  description: "Figures of steps. Copies that forks have are left out.",
  fields: (t) => ({
    steps: t.exposeInt("steps", { description: "Number of steps." }),
    completed: t.exposeInt("completed", { description: "Steps in state COMPLETED." }),
    aborted: t.exposeInt("aborted", { description: "Steps in state ABORTED." }),
    durationMs: t.expose("duration", {
      type: Distribution,
      complexity: 0,
      description: "Times of completed steps from start to end.",
    }),
    firstTokenMs: t.expose("firstToken", {
      type: Distribution,
      complexity: 0,
      description: "Times from the sent request to the first piece of output.",
    }),
    inputTokens: t.exposeFloat("inputTokens", { description: "Input tokens outside of the provider's cache." }),
    outputTokens: t.exposeFloat("outputTokens", { description: "Output tokens." }),
    cacheReadTokens: t.exposeFloat("cacheReadTokens", { description: "Input tokens read from the provider's cache." }),
    cacheWriteTokens: t.exposeFloat("cacheWriteTokens", { description: "Input tokens written to the provider's cache." }),
    cachedShare: t.float({
      nullable: true,
      description: "Share of input tokens that came from the provider's cache, from 0 to 1. Null if none were counted.",
      resolve: (figures) => cachedShareOf(figures),
    }),
    costUsd: t.exposeFloat("costUsd", { description: "Cost of the priced steps in US dollars, without compactions." }),
    unpricedSteps: t.exposeInt("unpricedSteps", {
      description: "Number of steps with counted tokens whose model had no price.",
    }),
    lastAt: t.expose("lastAt", {
      type: "DateTime",
      nullable: true,
      description: "Start of the newest one. Null if there is none.",
    }),
  }),
});

const Group = builder.objectRef<StepGroup>("StepGroup").implement({
  description:
    "Steps with the same values of the dimensions. A value is null if its dimension was not requested, or if the steps have none.",
  fields: (t) => ({
    templateId: t.id({ nullable: true, description: "TEMPLATE.", resolve: (group) => keyText(group, "TEMPLATE") }),
    agentId: t.id({
      nullable: true,
      description: "AGENT: `id` of the agent.",
      resolve: (group) => {
        const agent = keyText(group, "AGENT");
        return agent === null ? null : globalId("Agent", agent);
      },
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
    errorType: t.field({
      type: ModelErrorKind,
      nullable: true,
      description: "ERROR_TYPE.",
      resolve: (group) => keyAmong(group, "ERROR_TYPE", MODEL_ERROR_KINDS),
    }),
    model: t.string({ nullable: true, description: "MODEL.", resolve: (group) => keyText(group, "MODEL") }),
    state: t.field({
      type: StepState,
      nullable: true,
      description: "STATE.",
      resolve: (group) => keyAmong(group, "STATE", Object.values(States)),
    }),
    stopReason: t.string({ nullable: true, description: "STOP_REASON.", resolve: (group) => keyText(group, "STOP_REASON") }),
    figures: t.expose("figures", { type: Figures, complexity: 1, description: "Figures of all its steps." }),
    series: t.field({
      type: [Figures],
      complexity: 0,
      description: "Figures by bucket, one for each of `buckets` in their order. Empty without `bucket`.",
      resolve: ({ series }) => [...(series ?? [])],
    }),
  }),
});

const Groups = groupsType<StepGroup, StepFigures>("StepGroups", "steps", Group, (t) =>
  t.field({
    type: Figures,
    complexity: 0,
    description: "Figures of all steps, those of groups beyond `first` included. Each one counts once.",
    resolve: ({ total }) => total ?? NO_STEPS,
  }),
);

builder.queryField("stepGroups", (t) =>
  t.field({
    type: Groups,
    complexity: groupsPrice,
    description:
      "Figures of the steps that the viewer may see, by dimensions and time. TOO_BUSY if too many statistics of the tenant are being computed.",
    args: {
      by: t.arg({
        type: [Dimension],
        required: true,
        defaultValue: ["MODEL"],
        description: "Dimensions. An empty list makes one group of all steps.",
      }),
      ...rangeArguments(t.arg, "Steps that started"),
      filter: t.arg({ type: StepFilter, description: "Filter. All steps if omitted." }),
      orderBy: t.arg({ type: GroupOrder, description: "Sort order. Most steps first if omitted." }),
    },
    resolve: (_root, args, context, info) => groupsOfSteps(context, args, info),
  }),
);
