import { cachedShareOf } from "../../agent/conversation/cache-use.ts";
import { MODEL_ERROR_KINDS } from "../../agent/models/model.ts";
import { DONE_REASONS } from "../../db/commit/change.ts";
import type { AuditTurn } from "../../db/generated/client.ts";
import { globalId } from "../../lib/global-id.ts";
import { agentByRow } from "../../resolvers/agent.ts";
import { requestersOf, turns } from "../../resolvers/turns/turn-audit.ts";
import { ActorRef } from "../actor.ts";
import { builder, connectionOf } from "../builder.ts";
import { DoneReason } from "../events/enums.ts";
import { ModelErrorKind, TurnFilter, TurnOrder } from "./inputs.ts";

const Turn = builder.objectRef<AuditTurn>("Turn").implement({
  description: "A turn with the sums of its steps. Counts of tokens are whole numbers that may exceed 32 bits.",
  fields: (t) => ({
    agentId: t.id({ description: "`id` of the agent.", resolve: ({ agentId }) => globalId("Agent", agentId) }),
    agent: t.prismaField({
      type: "Agent",
      nullable: true,
      description: "The agent as it is now.",
      resolve: (query, { agentId }, _args, context) => agentByRow(context, agentId, query),
    }),
    rootAgentId: t.id({
      description: "`id` of the first agent of its tree: the agent itself if a person started it.",
      resolve: ({ rootId }) => globalId("Agent", rootId),
    }),
    templateId: t.exposeID("templateId", { description: "Template of the agent." }),
    turn: t.exposeInt("turn", { description: "Number of the turn within its agent, from 1." }),
    requestedBy: t.field({
      type: ActorRef,
      description: "First sender of its messages. The agent's creator if there was none.",
      resolve: ({ requestedBy: id, requestedByKind: kind }) => ({ kind, id }),
    }),
    requesters: t.field({
      type: [ActorRef],
      description: "Senders of its messages, the first one first, at most 100.",
      resolve: (turn) => requestersOf(turn),
    }),
    model: t.exposeString("model", { nullable: true, description: "Model of its first step. Null without a step." }),
    isFallback: t.exposeBoolean("isFallback", { description: "True if a later step had another model." }),
    reason: t.field({
      type: DoneReason,
      nullable: true,
      description: "Reason why it ended. Null while it is open, or if it is unknown because old events were removed.",
      resolve: ({ reason }) => DONE_REASONS.find((known) => known === reason) ?? null,
    }),
    errorType: t.field({
      type: ModelErrorKind,
      nullable: true,
      description: "Kind of the failure of its last model call. Null if it did not fail.",
      resolve: ({ errorType }) => MODEL_ERROR_KINDS.find((known) => known === errorType) ?? null,
    }),
    steps: t.exposeInt("steps", { description: "Number of its steps." }),
    calls: t.exposeInt("calls", { description: "Number of its tool calls." }),
    inputTokens: t.exposeFloat("inputTokens", { description: "Input tokens outside of the provider's cache." }),
    outputTokens: t.exposeFloat("outputTokens", { description: "Output tokens." }),
    cacheReadTokens: t.exposeFloat("cacheReadTokens", { description: "Input tokens read from the provider's cache." }),
    cacheWriteTokens: t.exposeFloat("cacheWriteTokens", { description: "Input tokens written to the provider's cache." }),
    cachedShare: t.float({
      nullable: true,
      description: "Share of input tokens that came from the provider's cache, from 0 to 1. Null if none were counted.",
      resolve: (turn) => cachedShareOf(turn),
    }),
    outputIsEstimated: t.exposeBoolean("outputIsEstimated", {
      description: "True if the provider did not report the output tokens of a step.",
    }),
    costUsd: t.exposeFloat("costUsd", { description: "Cost of the priced steps in US dollars, without compactions." }),
    unpricedSteps: t.exposeInt("unpriced", { description: "Number of steps with counted tokens whose model had no price." }),
    startedAt: t.expose("startedAt", {
      type: "DateTime",
      description: "Start of its first step. The end of a turn without a step.",
    }),
    endedAt: t.expose("endedAt", { type: "DateTime", nullable: true, description: "Time of its DONE. Null while it is open." }),
    durationMs: t.exposeFloat("durationMs", {
      nullable: true,
      description: "Time from start to end in ms. Null while it is open.",
    }),
    waitingMs: t.exposeFloat("waitingMs", {
      description: "Time in ms with at least one open approval. An approval counts when it is closed.",
    }),
    firstTokenMs: t.exposeFloat("firstTokenMs", {
      nullable: true,
      description: "`firstTokenMs` of its first step that has one. Null without one.",
    }),
  }),
});

const TurnConnection = connectionOf("Turn", Turn);

builder.queryField("turns", (t) =>
  t.connection(
    {
      type: Turn,
      description:
        "Turns of agents that the viewer may see, once their first step has begun or they have ended. Turns copied by forks are left out.",
      args: {
        filter: t.arg({ type: TurnFilter, description: "Filter. All turns if omitted." }),
        orderBy: t.arg({ type: TurnOrder, description: "Sort order. Newest first if omitted." }),
      },
      resolve: (_root, args, context) => turns(context, args),
    },
    TurnConnection,
  ),
);
