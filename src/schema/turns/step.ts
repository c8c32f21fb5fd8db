import { cachedShareOf } from "../../agent/conversation/cache-use.ts";
import { MODEL_ERROR_KINDS } from "../../agent/models/model.ts";
import type { AuditStep } from "../../db/generated/client.ts";
import { globalId } from "../../lib/global-id.ts";
import { agentByRow } from "../../resolvers/agent.ts";
import { contextAtStep } from "../../resolvers/step-context.ts";
import { steps } from "../../resolvers/turns/turn-audit.ts";
import { ActorRef } from "../actor.ts";
import { builder, connectionOf } from "../builder.ts";
import { StepContext } from "../step-context.ts";
import { ModelErrorKind, StepFilter, StepState, TurnOrder } from "./inputs.ts";

const Step = builder.objectRef<AuditStep>("Step").implement({
  description: "One model call. Tokens are null if they were not counted: while it is open, or if it was aborted early.",
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
    turn: t.exposeInt("turn", { description: "Turn of the step." }),
    step: t.exposeInt("step", { description: "Number of the step within its agent, from 1." }),
    context: t.field({
      type: StepContext,
      nullable: true,
      complexity: 20,
      description: "Request to the model, for readers of the tenant.",
      resolve: ({ agentId, step }, _args, context) => contextAtStep(context, agentId, step),
    }),
    requestedBy: t.field({
      type: ActorRef,
      description: "First sender of the turn's messages. The agent's creator if there was none.",
      resolve: ({ requestedBy: id, requestedByKind: kind }) => ({ kind, id }),
    }),
    model: t.exposeString("model", {
      description: "Name of the model at its provider. Of a scripted model, `scripted` and its file.",
    }),
    isFallback: t.exposeBoolean("isFallback", { description: "True if the turn began with another model." }),
    state: t.expose("state", { type: StepState, description: "State of the step." }),
    stopReason: t.exposeString("stopReason", {
      nullable: true,
      description: "Reason why the model stopped, for example `tool_use`. Null without an answer.",
    }),
    errorType: t.field({
      type: ModelErrorKind,
      nullable: true,
      description: "Kind of the failure of its model call. Null if it did not fail.",
      resolve: ({ errorType }) => MODEL_ERROR_KINDS.find((known) => known === errorType) ?? null,
    }),
    inputTokens: t.exposeInt("inputTokens", {
      nullable: true,
      description: "Input tokens outside of the provider's cache.",
    }),
    outputTokens: t.exposeInt("outputTokens", { nullable: true, description: "Output tokens." }),
    cacheReadTokens: t.exposeInt("cacheReadTokens", {
      nullable: true,
      description: "Input tokens read from the provider's cache.",
    }),
    cacheWriteTokens: t.exposeInt("cacheWriteTokens", {
      nullable: true,
      description: "Input tokens written to the provider's cache.",
    }),
    cachedShare: t.float({
      nullable: true,
      description: "Share of input tokens that came from the provider's cache, from 0 to 1. Null if none were counted.",
      resolve: ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }) =>
        cachedShareOf({
          inputTokens: inputTokens ?? 0,
          outputTokens: outputTokens ?? 0,
          cacheReadTokens: cacheReadTokens ?? 0,
          cacheWriteTokens: cacheWriteTokens ?? 0,
        }),
    }),
    outputIsEstimated: t.exposeBoolean("outputIsEstimated", {
      description: "True if the provider did not report the output tokens.",
    }),
    costUsd: t.exposeFloat("costUsd", {
      nullable: true,
      description: "Cost in US dollars, by the price at the time. Null if the step is unpriced, or if no tokens were counted.",
    }),
    isUnpriced: t.boolean({
      description: "True if tokens were counted and the model had no price.",
      resolve: ({ inputTokens, costUsd }) => inputTokens !== null && costUsd === null,
    }),
    startedAt: t.expose("startedAt", { type: "DateTime", description: "Start of the model call." }),
    completedAt: t.expose("completedAt", {
      type: "DateTime",
      nullable: true,
      description: "End of the model call. Null while it is open.",
    }),
    durationMs: t.exposeFloat("durationMs", {
      nullable: true,
      description: "Time from start to end in ms. Null while it is open.",
    }),
    firstTokenMs: t.exposeFloat("firstTokenMs", {
      nullable: true,
      description: "Time from the sent request to the first piece of output in ms. Null without one, or if it is unknown.",
    }),
  }),
});

const StepConnection = connectionOf("Step", Step);

builder.queryField("steps", (t) =>
  t.connection(
    {
      type: Step,
      description: "Model calls of agents that the viewer may see. Steps copied by forks are left out.",
      args: {
        filter: t.arg({ type: StepFilter, description: "Filter. All steps if omitted." }),
        orderBy: t.arg({ type: TurnOrder, description: "Sort order. Newest first if omitted." }),
      },
      resolve: (_root, args, context) => steps(context, args),
    },
    StepConnection,
  ),
);
