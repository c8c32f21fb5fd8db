import type { BodyOf, EventKind as Kind } from "../../events/event.ts";
import { agentOfEvent } from "../../resolvers/agent.ts";
import { globalId } from "../../lib/global-id.ts";
import { messageByRow } from "../../resolvers/message.ts";
import { answeredMessages, receivedText, type EventView } from "../../resolvers/timeline.ts";
import { formatCursor } from "../../events/cursor.ts";
import { ActorRef } from "../actor.ts";
import { Agent } from "../agent.ts";
import { builder } from "../builder.ts";
import { AgentState, Breakpoint } from "../enums.ts";
import { Channel, DoneReason, ErrorPhase, ErrorSeverity, EventKind, ResumeStrategy } from "./enums.ts";
import { Message } from "../message.ts";
import { TodoItem } from "../todo.ts";
import { ToolCallSnapshot } from "../tool-call.ts";

/** The kinds whose names in Pascal case would shadow a global of clients, or take the noun of another type. */
const NAMES: { readonly [Name in Kind]?: string } = { ERROR: "ErrorRaised", TOKEN_USAGE: "TokensUsed" };

/** The name of a kind's object type: the kind in Pascal case. */
function typeName(kind: Kind): string {
  const own = NAMES[kind];
  if (own !== undefined) return own;
  return kind.replace(/(?:^|_)([A-Z])([A-Z]*)/g, (_match, first: string, rest: string) => first + rest.toLowerCase());
}

export const TimelineEvent = builder.interfaceRef<EventView>("TimelineEvent").implement({
  description: "Something that happened to an agent, or to a tenant. Clients must ignore kinds that they do not know.",
  resolveType: (view) => typeName(view.body.kind),
  fields: (t) => ({
    cursor: t.field({
      type: "Cursor",
      description: "Its place in the tenant's log: go on since it.",
      resolve: ({ event, log }) => formatCursor(log, event.position),
    }),
    seq: t.int({
      description: "Place among the events of its agent, or of the tenant itself, from 1, without gaps.",
      resolve: ({ event }) => event.seq,
    }),
    timestamp: t.field({ type: "DateTime", description: "When it happened.", resolve: ({ event }) => event.at }),
    channel: t.field({ type: Channel, description: "The plane that it is on.", resolve: ({ event }) => event.channel }),
    kind: t.field({ type: EventKind, description: "What it reports.", resolve: ({ body }) => body.kind }),
    agent: t.prismaField({
      type: Agent,
      nullable: true,
      description: "The agent as it stands now; null for an event of the tenant itself.",
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
    messageId: t.id({ description: "The message.", resolve: ({ body }) => globalId("Message", body.messageId) }),
    text: t.string({
      nullable: true,
      description: "What it says; null where that was erased.",
      resolve: (view, _args, context) => receivedText(context, view),
    }),
    images: t.int({ description: "How many images came with it: the message has them.", resolve: ({ body }) => body.images }),
    sentBy: t.field({ type: ActorRef, description: "Who sent it.", resolve: ({ body }) => body.sentBy }),
    receivedMessage: t.prismaField({
      type: Message,
      nullable: true,
      description: "The message as it stands now.",
      resolve: (query, { body }, _args, context) => messageByRow(context, body.messageId, query),
    }),
  }),
});

eventType("MESSAGE_WITHDRAWN").implement({
  description: "Somebody took back a message that waited: the model never reads it.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    messageId: t.id({ description: "The message.", resolve: ({ body }) => globalId("Message", body.messageId) }),
    withdrawnBy: t.field({ type: ActorRef, description: "Who took it back.", resolve: ({ body }) => body.withdrawnBy }),
  }),
});

eventType("DONE").implement({
  description: "A turn ended. One a turn, always.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ description: "Its last step.", resolve: ({ body }) => body.step }),
    turn: t.int({ description: "The turn.", resolve: ({ body }) => body.turn }),
    reason: t.field({ type: DoneReason, description: "How it ended.", resolve: ({ body }) => body.reason }),
    detail: t.string({
      nullable: true,
      description: "A word by which programs tell more: `empty` if the model's last answer had nothing in it; null for nothing.",
      resolve: ({ body }) => body.detail ?? null,
    }),
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
    templateId: t.id({ description: "What it was made from.", resolve: ({ body }) => body.templateId }),
    model: t.string({ description: "Name of the configured model that it uses.", resolve: ({ body }) => body.model }),
    createdBy: t.field({ type: ActorRef, description: "Who made it.", resolve: ({ body }) => body.createdBy }),
    forkedFrom: t.id({
      nullable: true,
      description: "The agent that it was forked from.",
      resolve: ({ body }) => (body.forkedFrom === null ? null : globalId("Agent", body.forkedFrom)),
    }),
    workspace: t.string({
      nullable: true,
      description: "The folder in which it works; null in events of earlier versions.",
      resolve: ({ body }) => body.workspace,
    }),
    hooks: t.stringList({
      nullable: true,
      description: "Names of hooks of its own, as it was given them; null in events of earlier versions.",
      resolve: ({ body }) => [...body.hooks],
    }),
    permission: t.field({
      type: "JSON",
      nullable: true,
      description:
        "Its own permission, `{ scope, source }`; null if its template's holds alone, and where it has more than 16 KB: the agent has it.",
      resolve: ({ body }) => body.permission,
    }),
  }),
});

eventType("AGENT_RENAMED").implement({
  description: "Somebody gave the agent another title.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousTitle: t.string({ nullable: true, description: "The title before.", resolve: ({ body }) => body.previousTitle }),
    title: t.string({ nullable: true, description: "The title now; null for none.", resolve: ({ body }) => body.title }),
    changedBy: t.field({ type: ActorRef, description: "Who changed it.", resolve: ({ body }) => body.changedBy }),
  }),
});

for (const [kind, description] of [
  ["AGENT_ARCHIVED", "Somebody archived the agent: it takes no more messages."],
  ["AGENT_UNARCHIVED", "Somebody took an archived agent back: it takes messages again."],
] as const)
  eventType(kind).implement({
    description,
    interfaces: [TimelineEvent],
    fields: (t) => ({
      changedBy: t.field({ type: ActorRef, description: "Who changed it.", resolve: ({ body }) => body.changedBy }),
    }),
  });

eventType("STATE_CHANGED").implement({
  description: "The agent does something else.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousState: t.field({ type: AgentState, description: "What it did before.", resolve: ({ body }) => body.previousState }),
    state: t.field({ type: AgentState, description: "What it does now.", resolve: ({ body }) => body.state }),
  }),
});

eventType("BREAKPOINT_CHANGED").implement({
  description: "The agent stands elsewhere in its turn.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousBreakpoint: t.field({
      type: Breakpoint,
      description: "Where it stood before.",
      resolve: ({ body }) => body.previousBreakpoint,
    }),
    breakpoint: t.field({ type: Breakpoint, description: "Where it stands now.", resolve: ({ body }) => body.breakpoint }),
  }),
});

eventType("STEP_COMPLETE").implement({
  description: "A model call is complete.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ description: "The model call.", resolve: ({ body }) => body.step }),
    durationMs: t.float({ description: "How long it took, in ms.", resolve: ({ body }) => body.durationMs }),
    stopReason: t.string({ description: "Why the model stopped, as its provider says.", resolve: ({ body }) => body.stopReason }),
  }),
});

eventType("TOKEN_USAGE").implement({
  description: "What a model call used.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    step: t.int({ description: "The model call.", resolve: ({ body }) => body.step }),
    inputTokens: t.int({
      description: "Input that the provider's cache has no part in.",
      resolve: ({ body }) => body.inputTokens,
    }),
    outputTokens: t.int({ description: "Output.", resolve: ({ body }) => body.outputTokens }),
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
    isEstimated: t.boolean({
      description: "True if a call of the step broke off: its output was estimated from what came of it.",
      resolve: ({ body }) => body.isEstimated,
    }),
  }),
});

eventType("ERROR").implement({
  description: "Something went wrong that operators should see.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    severity: t.field({ type: ErrorSeverity, description: "How bad it is.", resolve: ({ body }) => body.severity }),
    phase: t.field({ type: ErrorPhase, description: "What went wrong.", resolve: ({ body }) => body.phase }),
    message: t.string({
      nullable: true,
      description: "The same in words; null where they were erased.",
      resolve: ({ body }) => body.message,
    }),
    detail: t.string({
      nullable: true,
      description: "A word by which programs tell what it was.",
      resolve: ({ body }) => body.detail,
    }),
    retryAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When what failed is tried again, also if its provider asks for that wait; null if it is not.",
      resolve: ({ body }) => (body.retryAt === undefined ? null : new Date(body.retryAt)),
    }),
  }),
});

eventType("STORAGE_FAILURE").implement({
  description: "The database was away while a server worked on the agent, and is back.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    severity: t.field({ type: ErrorSeverity, description: "How bad it is.", resolve: ({ body }) => body.severity }),
    since: t.field({ type: "DateTime", description: "Since when it was away.", resolve: ({ body }) => new Date(body.since) }),
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
    error: t.string({ nullable: true, description: "What the database said, or did not.", resolve: ({ body }) => body.error }),
  }),
});

eventType("INTERRUPT_REQUESTED").implement({
  description: "Somebody asked for the end of the running turn: nothing more of it starts.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    requestedBy: t.field({ type: ActorRef, description: "Who asked.", resolve: ({ body }) => body.requestedBy }),
    note: t.string({ nullable: true, description: "Why.", resolve: ({ body }) => body.note }),
  }),
});

eventType("TURN_RETRY_REQUESTED").implement({
  description: "Somebody asked for another turn for the messages of one that ended with an error or was interrupted.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    turn: t.int({ description: "The turn that ended so.", resolve: ({ body }) => body.turn }),
    requestedBy: t.field({ type: ActorRef, description: "Who asked.", resolve: ({ body }) => body.requestedBy }),
  }),
});

eventType("TOOL_CANCEL_REQUESTED").implement({
  description: "Somebody asked for the end of one tool call; the turn goes on.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "The call.", resolve: ({ body }) => body.callId }),
    requestedBy: t.field({ type: ActorRef, description: "Who asked.", resolve: ({ body }) => body.requestedBy }),
    note: t.string({ nullable: true, description: "Why.", resolve: ({ body }) => body.note }),
  }),
});

eventType("AGENT_RESUMED").implement({
  description: "The agent goes on after its server stopped; calls whose outcome is unknown were sealed.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    strategy: t.field({
      type: ResumeStrategy,
      description: "What became of calls whose outcome is unknown.",
      resolve: ({ body }) => body.strategy,
    }),
    sealed: t.field({
      type: [ToolCallSnapshot],
      description: "The calls that were sealed, at most those of one answer.",
      resolve: ({ body }) => [...body.sealed],
    }),
  }),
});

eventType("TODO_CHANGED").implement({
  description: "The agent's todo list changed.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousTodos: t.field({
      type: [TodoItem],
      description: "The list before; at most 200.",
      resolve: ({ body }) => [...body.previousTodos],
    }),
    todos: t.field({ type: [TodoItem], description: "The list now; at most 200.", resolve: ({ body }) => [...body.todos] }),
  }),
});
