import { cachedShareOf } from "../../agent/conversation/cache-use.ts";
import { NO_TURNS, type TurnFigures } from "../../agent/calls/audit/groups/turn-figures.ts";
import type { TurnDimension, TurnGroup, TurnMeasure } from "../../agent/calls/audit/groups/turn-groups.ts";
import { DONE_REASONS } from "../../db/commit/change.ts";
import { MODEL_ERROR_KINDS } from "../../agent/models/model.ts";
import { globalId } from "../../lib/global-id.ts";
import { keyActor, keyAgent, keyAmong, keyText } from "../../resolvers/groups/keys.ts";
import { groupsOfTurns } from "../../resolvers/groups/turns.ts";
import { ActorRef } from "../actor.ts";
import { builder, described } from "../builder.ts";
import { OrderDirection } from "../enums.ts";
import { DoneReason } from "../events/enums.ts";
import { ModelErrorKind, TurnFilter } from "../turns/inputs.ts";
import { Distribution, groupsPrice, groupsType, rangeArguments } from "./groups.ts";

const Dimension = builder.enumType("TurnDimension", {
  description: "Property by which turns are grouped.",
  values: described<TurnDimension>({
    TEMPLATE: "Template of the agent.",
    AGENT: "Agent of the turn.",
    ROOT_AGENT: "First agent of its tree.",
    REQUESTER: "Actor as in `Turn.requestedBy`: one of each turn.",
    ERROR_TYPE: "Kind of the failure of its last model call, as in `Turn.errorType`.",
    MODEL: "Model of its first step. Turns without a step are of a group of their own.",
    REASON: "Reason why it ended. Open turns are of a group of their own.",
  }),
});

const Measure = builder.enumType("TurnMeasure", {
  description: "Figure by which groups of turns are sorted. Groups without it come last.",
  values: described<TurnMeasure>({
    TURNS: "`turns`.",
    FAILED: "`failed`.",
    STEPS: "`steps`.",
    CALLS: "`calls`.",
    WAITED_MEAN: "Mean of `waitingMs`.",
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

const GroupOrder = builder.inputType("TurnGroupOrder", {
  description: "Sort order for groups of turns. Equal groups are sorted by their values.",
  fields: (t) => ({
    measure: t.field({ type: Measure, required: true, description: "Sort key." }),
    direction: t.field({ type: OrderDirection, required: true, description: "Sort direction." }),
  }),
});

const Figures = builder.objectRef<TurnFigures>("TurnFigures").implement({
  description: "Figures of turns. Copies that forks have are left out.",
  fields: (t) => ({
    turns: t.exposeInt("turns", { description: "Number of turns." }),
    ended: t.exposeInt("ended", { description: "Turns that have ended." }),
    failed: t.exposeInt("failed", { description: "Turns that ended with ERROR." }),
    interrupted: t.exposeInt("interrupted", { description: "Turns that ended with INTERRUPTED." }),
    steps: t.exposeInt("steps", { description: "Steps of the turns." }),
    calls: t.exposeInt("calls", { description: "Tool calls of the turns." }),
    durationMs: t.expose("duration", {
      type: Distribution,
      complexity: 0,
      description: "Times of ended turns from start to end.",
    }),
    waitingMs: t.expose("waited", {
      type: Distribution,
      complexity: 0,
      description: "`Turn.waitingMs` of the turns that waited for people.",
    }),
    firstTokenMs: t.expose("firstToken", {
      type: Distribution,
      complexity: 0,
      description: "`Turn.firstTokenMs` of the turns that have one.",
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

const Group = builder.objectRef<TurnGroup>("TurnGroup").implement({
  description:
    "Turns with the same values of the dimensions. A value is null if its dimension was not requested, or if the turns have none.",
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
    reason: t.field({
      type: DoneReason,
      nullable: true,
      description: "REASON.",
      resolve: (group) => keyAmong(group, "REASON", DONE_REASONS),
    }),
    figures: t.expose("figures", { type: Figures, complexity: 1, description: "Figures of all its turns." }),
    series: t.field({
      type: [Figures],
      complexity: 0,
      description: "Figures by bucket, one for each of `buckets` in their order. Empty without `bucket`.",
      resolve: ({ series }) => [...(series ?? [])],
    }),
  }),
});

const Groups = groupsType<TurnGroup, TurnFigures>("TurnGroups", "turns", Group, (t) =>
  t.field({
    type: Figures,
    complexity: 0,
    description: "Figures of all turns, those of groups beyond `first` included. Each one counts once.",
    resolve: ({ total }) => total ?? NO_TURNS,
  }),
);

builder.queryField("turnGroups", (t) =>
  t.field({
    type: Groups,
    complexity: groupsPrice,
    description:
      "Figures of the turns that the viewer may see, by dimensions and time. TOO_BUSY if too many statistics of the tenant are being computed.",
    args: {
      by: t.arg({
        type: [Dimension],
        required: true,
        defaultValue: ["MODEL"],
        description: "Dimensions. An empty list makes one group of all turns.",
      }),
      ...rangeArguments(t.arg, "Turns that started"),
      filter: t.arg({ type: TurnFilter, description: "Filter. All turns if omitted." }),
      orderBy: t.arg({ type: GroupOrder, description: "Sort order. Most turns first if omitted." }),
    },
    resolve: (_root, args, context, info) => groupsOfTurns(context, args, info),
  }),
);
