import {
  NO_STEPS,
  type StepDimension as Dimension,
  type StepFigures as Figures,
  type StepGroup as Grouped,
  type StepMeasure as Measure,
} from "../../agent/loop/groups/step-groups.ts";
import { globalId } from "../../lib/global-id.ts";
import { DEFAULT_GROUPS, MOST_GROUPS, MOST_POINTS } from "../../resolvers/groups/buckets.ts";
import { keyActor, keyAgent, keyText } from "../../resolvers/groups/keys.ts";
import { groupsOfSteps, type StepGroupsAnswer } from "../../resolvers/groups/steps.ts";
import { ActorRef } from "../actor.ts";
import { builder, described } from "../builder.ts";
import { OrderDirection } from "../enums.ts";
import { BucketInput, TimeBucket } from "./buckets.ts";
import { Distribution } from "./distribution.ts";
import { groupsPrice } from "./price.ts";

const StepDimension = builder.enumType("StepDimension", {
  description: "Property by which steps are grouped. Steps without a value are of a group of their own.",
  values: described<Dimension>({
    MODEL: "Name of the configured model.",
    TEMPLATE: "Template of the agent.",
    AGENT: "Agent of the step.",
    ROOT_AGENT: "First agent of its tree.",
    REQUESTER: "Actor that created the agent.",
    STOP_REASON: "Reason why the model stopped, as its provider names it.",
  }),
});

const StepMeasure = builder.enumType("StepMeasure", {
  description: "Figure by which groups of steps are sorted. Groups without it come last.",
  values: described<Measure>({
    STEPS: "`steps`.",
    INPUT_TOKENS: "All input tokens, those of the cache included.",
    OUTPUT_TOKENS: "`outputTokens`.",
    COST: "`costUsd`.",
    DURATION_MEAN: "Mean of `durationMs`.",
    DURATION_P50: "Median of `durationMs`.",
    DURATION_P95: "95th percentile of `durationMs`.",
  }),
});

const StepGroupOrder = builder.inputType("StepGroupOrder", {
  description: "Sort order for groups of steps. Equal groups are sorted by their values.",
  fields: (t) => ({
    measure: t.field({ type: StepMeasure, required: true, description: "Sort key." }),
    direction: t.field({ type: OrderDirection, required: true, description: "Sort direction." }),
  }),
});

const StepGroupFilter = builder.inputType("StepGroupFilter", {
  description: "Filter for grouped steps. All given conditions must match.",
  fields: (t) => ({
    agentIds: t.idList({ description: "Steps of one of these agents." }),
    templateIds: t.idList({ description: "Steps of agents of one of these templates, given by `templateId`." }),
    models: t.stringList({ description: "Steps with one of these configured models." }),
    createdBy: t.idList({ description: "Steps of agents created by one of these actors, given by `ActorRef.id` or `actorId`." }),
  }),
});

const StepFigures = builder.objectRef<Figures>("StepFigures").implement({
  description: "Figures of steps. Copies that forks have are left out, and so are the calls that compact a conversation.",
  fields: (t) => ({
    steps: t.exposeInt("steps", { description: "Number of steps." }),
    inputTokens: t.exposeFloat("inputTokens", { description: "Input tokens outside of the provider's cache." }),
    outputTokens: t.exposeFloat("outputTokens", { description: "Output tokens." }),
    cacheReadTokens: t.exposeFloat("cacheReadTokens", { description: "Input tokens read from the provider's cache." }),
    cacheWriteTokens: t.exposeFloat("cacheWriteTokens", { description: "Input tokens written to the provider's cache." }),
    cachedShare: t.float({
      nullable: true,
      description: "`cacheReadTokens` as a share of all input tokens. Null without input.",
      resolve: ({ inputTokens, cacheReadTokens, cacheWriteTokens }) => {
        const all = inputTokens + cacheReadTokens + cacheWriteTokens;
        return all === 0 ? null : cacheReadTokens / all;
      },
    }),
    costUsd: t.exposeFloat("costUsd", {
      description: "Cost in US dollars of the steps that have a price. `unpricedCalls` have none.",
    }),
    unpricedCalls: t.exposeInt("unpricedCalls", { description: "Steps with tokens whose model had no price." }),
    durationMs: t.expose("duration", {
      type: Distribution,
      complexity: 0,
      description: "Times of the model calls that have ended.",
    }),
  }),
});

const StepGroup = builder.objectRef<Grouped>("StepGroup").implement({
  description:
    "Steps with the same values of the dimensions. A value is null if its dimension was not requested, or if the steps have none.",
  fields: (t) => ({
    model: t.string({ nullable: true, description: "MODEL.", resolve: (group) => keyText(group, "MODEL") }),
    templateId: t.id({ nullable: true, description: "TEMPLATE.", resolve: (group) => keyText(group, "TEMPLATE") }),
    agentId: t.id({
      nullable: true,
      description: "AGENT: `id` of the agent.",
      resolve: (group) => {
        const id = keyText(group, "AGENT");
        return id === null ? null : globalId("Agent", id);
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
    stopReason: t.string({ nullable: true, description: "STOP_REASON.", resolve: (group) => keyText(group, "STOP_REASON") }),
    figures: t.expose("figures", { type: StepFigures, complexity: 1, description: "Figures of all its steps." }),
    series: t.field({
      type: [StepFigures],
      complexity: 0,
      description: "Figures by bucket, one for each of `buckets` in their order. Empty without `bucket`.",
      resolve: ({ series }) => [...(series ?? [])],
    }),
  }),
});

const StepGroups = builder.objectRef<StepGroupsAnswer>("StepGroups").implement({
  description: "Steps in groups.",
  fields: (t) => ({
    groups: t.field({
      type: [StepGroup],
      complexity: { field: 1, multiplier: 1 },
      description: "The first groups of the order, at most `first`.",
      resolve: ({ groups }) => [...groups],
    }),
    groupCount: t.exposeInt("groupCount", { description: "Number of all groups, those beyond `first` included." }),
    total: t.field({
      type: StepFigures,
      complexity: 0,
      description: "Figures of all steps, those of groups beyond `first` included.",
      resolve: ({ total }) => total ?? NO_STEPS,
    }),
    buckets: t.field({
      type: [TimeBucket],
      complexity: 0,
      description: "Buckets of the range, one for each entry of a `series`. Empty without `bucket`.",
      resolve: ({ buckets }) => [...buckets],
    }),
    asOf: t.field({
      type: "Cursor",
      description: "Log position up to which the figures contain all changes.",
      resolve: ({ asOf }) => asOf,
    }),
  }),
});

builder.queryField("stepGroups", (t) =>
  t.field({
    type: StepGroups,
    complexity: groupsPrice,
    description:
      "Figures of the model calls that the viewer may see: tokens and cost, by dimensions and time. TOO_BUSY if too many statistics of the tenant are being computed.",
    args: {
      by: t.arg({
        type: [StepDimension],
        required: true,
        defaultValue: ["MODEL"],
        description: "Dimensions. An empty list makes one group of all steps.",
      }),
      bucket: t.arg({ type: BucketInput, description: "Time buckets of `series`. They need `from`." }),
      from: t.arg({ type: "DateTime", description: "Steps started at or after this moment." }),
      to: t.arg({ type: "DateTime", description: "Steps started before this moment. With `bucket`, the present if omitted." }),
      filter: t.arg({ type: StepGroupFilter, description: "Filter. All steps if omitted." }),
      orderBy: t.arg({ type: StepGroupOrder, description: "Sort order. Highest cost first if omitted." }),
      first: t.arg.int({
        defaultValue: DEFAULT_GROUPS,
        description: `Maximum number of groups, 1 to ${MOST_GROUPS}. Groups times buckets are at most ${MOST_POINTS}.`,
      }),
    },
    resolve: (_root, args, context, info) => groupsOfSteps(context, args, info),
  }),
);
