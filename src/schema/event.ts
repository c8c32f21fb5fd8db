import type { BodyOf, EventKind as Kind } from "../events/event.ts";
import { agentOfEvent } from "../resolvers/agent.ts";
import { globalId } from "../lib/global-id.ts";
import { messageByRow } from "../resolvers/message.ts";
import { answeredMessages, blockText, receivedText, type EventView } from "../resolvers/timeline.ts";
import { formatCursor } from "../events/cursor.ts";
import { ActorRef } from "./actor.ts";
import { Agent } from "./agent.ts";
import { builder } from "./builder.ts";
import { AgentState, Breakpoint, Channel, DoneReason, ErrorPhase, ErrorSeverity, EventKind, ResumeStrategy } from "./enums.ts";
import { Message } from "./message.ts";
import { TodoItem } from "./todo.ts";
import { ToolCallSnapshot } from "./tool-call.ts";

/** The name of a kind's object type: the kind in Pascal case. */
function typeName(kind: Kind): string {
  return kind.replace(/(?:^|_)([A-Z])([A-Z]*)/g, (_match, first: string, rest: string) => first + rest.toLowerCase());
}

export const TimelineEvent = builder.interfaceRef<EventView>("TimelineEvent").implement({
  description: "Something that happened to an agent. Clients must ignore kinds that they do not know.",
  resolveType: (view) => typeName(view.body.kind),
  fields: (t) => ({
    cursor: t.field({
      type: "Cursor",
      resolve: ({ event, log }) => formatCursor(log, event.position),
    }),
    seq: t.int({ description: "Place among the agent's events, from 1, without gaps.", resolve: ({ event }) => event.seq }),
    timestamp: t.field({ type: "DateTime", resolve: ({ event }) => event.at }),
    channel: t.field({ type: Channel, resolve: ({ event }) => event.channel }),
    kind: t.field({ type: EventKind, resolve: ({ body }) => body.kind }),
    agent: t.prismaField({
      type: Agent,
      description: "The agent as it stands now.",
      resolve: (query, { event }, _args, context) => agentOfEvent(context, event.agentId, query),
    }),
  }),
});

/** The object type of one kind. */
export function eventType<EventName extends Kind>(kind: EventName) {
  return builder.objectRef<EventView<BodyOf<EventName>>>(typeName(kind));
}

eventType("MESSAGE_RECEIVED").implement({
  description: "A person or service sent a message.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    messageId: t.id({ resolve: ({ body }) => globalId("Message", body.messageId) }),
    text: t.string({ resolve: (view, _args, context) => receivedText(context, view) }),
    images: t.int({ description: "How many images came with it: the message has them.", resolve: ({ body }) => body.images }),
    sentBy: t.field({ type: ActorRef, resolve: ({ body }) => body.sentBy }),
    receivedMessage: t.prismaField({
      type: Message,
      nullable: true,
      description: "The message as it stands now.",
      resolve: (query, { body }, _args, context) => messageByRow(context, body.messageId, query),
    }),
  }),
});

type BlockKind = Extract<Kind, `${"TEXT" | "THINK"}_CHUNK${string}`>;

const BlockEvent = builder.interfaceRef<EventView<BodyOf<BlockKind>>>("BlockEvent").implement({
  description: "Something that happened to a block of what the model says.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ resolve: ({ body }) => body.step }),
    block: t.int({ description: "Number of the block in the step.", resolve: ({ body }) => body.block }),
  }),
});

const ChunkEvent = builder.interfaceRef<EventView<BodyOf<"TEXT_CHUNK" | "THINK_CHUNK">>>("ChunkEvent").implement({
  description: "This much more of a block.",
  interfaces: [TimelineEvent, BlockEvent],
  fields: (t) => ({ delta: t.string({ resolve: ({ body }) => body.delta }) }),
});

const BlockEndEvent = builder.interfaceRef<EventView<BodyOf<"TEXT_CHUNK_END" | "THINK_CHUNK_END">>>("BlockEndEvent").implement({
  description: "A block is complete, or was aborted.",
  interfaces: [TimelineEvent, BlockEvent],
  fields: (t) => ({
    text: t.string({ description: "The whole text of the block.", resolve: (view, _args, context) => blockText(context, view) }),
    aborted: t.boolean({ description: "Whether it is no part of the conversation.", resolve: ({ body }) => body.aborted }),
  }),
});

eventType("TEXT_CHUNK_START").implement({
  description: "A block of the agent's text begins.",
  interfaces: [TimelineEvent, BlockEvent],
});

eventType("TEXT_CHUNK").implement({
  description: "The agent wrote this much more of a block.",
  interfaces: [TimelineEvent, BlockEvent, ChunkEvent],
});

eventType("TEXT_CHUNK_END").implement({
  description: "A block of text is complete, or was aborted: then no model reads it.",
  interfaces: [TimelineEvent, BlockEvent, BlockEndEvent],
});

eventType("THINK_CHUNK_START").implement({
  description: "The model begins to think. Only if the template exposes thinking, as the two kinds after it.",
  interfaces: [TimelineEvent, BlockEvent],
});

eventType("THINK_CHUNK").implement({
  description: "The model thought this much more.",
  interfaces: [TimelineEvent, BlockEvent, ChunkEvent],
});

eventType("THINK_CHUNK_END").implement({
  description: "A block of thinking is complete, or was aborted.",
  interfaces: [TimelineEvent, BlockEvent, BlockEndEvent],
});

eventType("DONE").implement({
  description: "A turn ended. One a turn, always.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    turn: t.int({ resolve: ({ body }) => body.turn }),
    step: t.int({ resolve: ({ body }) => body.step }),
    reason: t.field({ type: DoneReason, resolve: ({ body }) => body.reason }),
    messageIds: t.idList({
      description: "The messages that the turn answers.",
      resolve: async (view, _args, context) => (await answeredMessages(context, view)).map((id) => globalId("Message", id)),
    }),
  }),
});

eventType("AGENT_CREATED").implement({
  description: "The agent was created.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    templateId: t.string({ resolve: ({ body }) => body.templateId }),
    model: t.string({ resolve: ({ body }) => body.model }),
    createdBy: t.field({ type: ActorRef, resolve: ({ body }) => body.createdBy }),
    forkedFrom: t.id({
      nullable: true,
      description: "The agent that it was forked from.",
      resolve: ({ body }) => (body.forkedFrom === null ? null : globalId("Agent", body.forkedFrom)),
    }),
  }),
});

eventType("STATE_CHANGED").implement({
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousState: t.field({ type: AgentState, resolve: ({ body }) => body.previousState }),
    state: t.field({ type: AgentState, resolve: ({ body }) => body.state }),
  }),
});

eventType("BREAKPOINT_CHANGED").implement({
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousBreakpoint: t.field({ type: Breakpoint, resolve: ({ body }) => body.previousBreakpoint }),
    breakpoint: t.field({ type: Breakpoint, resolve: ({ body }) => body.breakpoint }),
  }),
});

eventType("STEP_COMPLETE").implement({
  description: "A model call is complete.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ resolve: ({ body }) => body.step }),
    durationMs: t.float({ resolve: ({ body }) => body.durationMs }),
    stopReason: t.string({ resolve: ({ body }) => body.stopReason }),
  }),
});

eventType("TOKEN_USAGE").implement({
  description: "What a model call used.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ resolve: ({ body }) => body.step }),
    inputTokens: t.int({ resolve: ({ body }) => body.inputTokens }),
    outputTokens: t.int({ resolve: ({ body }) => body.outputTokens }),
    cacheReadTokens: t.int({
      description: "Input that the provider had in its cache, besides inputTokens.",
      resolve: ({ body }) => body.cacheReadTokens,
    }),
    cacheWriteTokens: t.int({
      description: "Input that the provider put into its cache, besides inputTokens.",
      resolve: ({ body }) => body.cacheWriteTokens,
    }),
    totalTokens: t.int({ description: "All four together.", resolve: ({ body }) => body.totalTokens }),
    costUsd: t.float({
      nullable: true,
      description: "In US dollars, by the model's price in the configuration; null if it has none.",
      resolve: ({ body }) => body.costUsd,
    }),
  }),
});

eventType("ERROR").implement({
  description: "Something went wrong that operators should see.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    severity: t.field({ type: ErrorSeverity, resolve: ({ body }) => body.severity }),
    phase: t.field({ type: ErrorPhase, resolve: ({ body }) => body.phase }),
    message: t.string({ resolve: ({ body }) => body.message }),
    detail: t.string({ nullable: true, resolve: ({ body }) => body.detail }),
  }),
});

eventType("STORAGE_FAILURE").implement({
  description: "The database was away while a server worked on the agent, and is back.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    severity: t.field({ type: ErrorSeverity, resolve: ({ body }) => body.severity }),
    since: t.field({ type: "DateTime", resolve: ({ body }) => new Date(body.since) }),
    failedEvent: t.field({
      type: EventKind,
      nullable: true,
      description: "The kind of the first event that waited.",
      resolve: ({ body }) => body.failedEvent,
    }),
    bufferedCount: t.int({ description: "How many events waited to be committed.", resolve: ({ body }) => body.bufferedCount }),
    lostCount: t.int({
      description: "How many of them were refused afterwards, since another server had gone on with the agent.",
      resolve: ({ body }) => body.lostCount,
    }),
    error: t.string({ description: "What the database said, or did not.", resolve: ({ body }) => body.error }),
  }),
});

eventType("INTERRUPT_REQUESTED").implement({
  description: "Somebody asked for the end of the running turn: nothing more of it starts.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    requestedBy: t.field({ type: ActorRef, resolve: ({ body }) => body.requestedBy }),
    note: t.string({ nullable: true, description: "Why.", resolve: ({ body }) => body.note }),
  }),
});

eventType("AGENT_RESUMED").implement({
  description: "The agent goes on after its server stopped; calls whose outcome is unknown were sealed.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    strategy: t.field({ type: ResumeStrategy, resolve: ({ body }) => body.strategy }),
    sealed: t.field({ type: [ToolCallSnapshot], resolve: ({ body }) => [...body.sealed] }),
  }),
});

eventType("TODO_CHANGED").implement({
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousTodos: t.field({ type: [TodoItem], resolve: ({ body }) => [...body.previousTodos] }),
    todos: t.field({ type: [TodoItem], resolve: ({ body }) => [...body.todos] }),
  }),
});
