import type { BodyOf, EventKind as Kind } from "../../events/event.ts";
import { agentOfEvent } from "../../resolvers/agent.ts";
import { globalId } from "../../lib/global-id.ts";
import { messageByRow } from "../../resolvers/message.ts";
import { receivedText, type EventView } from "../../resolvers/timeline.ts";
import { formatCursor } from "../../events/cursor.ts";
import { ActorRef } from "../actor.ts";
import { Agent } from "../agent.ts";
import { builder } from "../builder.ts";
import { AgentState, Breakpoint } from "../enums.ts";
import { Channel, ErrorPhase, ErrorSeverity, EventKind, ResumeStrategy } from "./enums.ts";
import { Message } from "../message.ts";
import { TodoItem } from "../agent-state.ts";
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
  description: "An event of an agent, or of the tenant itself. Clients must ignore unknown types.",
  resolveType: (view) => typeName(view.body.kind),
  fields: (t) => ({
    cursor: t.field({
      type: "Cursor",
      description: "Position of the event in the tenant's log. Subscribe `since` it to receive the following events.",
      resolve: ({ event, log }) => formatCursor(log, event.position),
    }),
    seq: t.int({
      description: "Sequence number among the events of its agent, or of the tenant itself. Starts at 1, without gaps.",
      resolve: ({ event }) => event.seq,
    }),
    timestamp: t.field({ type: "DateTime", description: "Time of the event.", resolve: ({ event }) => event.at }),
    channel: t.field({ type: Channel, description: "Plane of the event.", resolve: ({ event }) => event.channel }),
    kind: t.field({ type: EventKind, description: "Kind of the event.", resolve: ({ body }) => body.kind }),
    agent: t.prismaField({
      type: Agent,
      nullable: true,
      description: "The agent as it is now. Null for events of the tenant itself.",
      resolve: (query, { event }, _args, context) => agentOfEvent(context, event.agentId, query),
    }),
  }),
});

/** The object type of one kind. */
export function eventType<EventName extends Kind>(kind: EventName) {
  return builder.objectRef<EventView<BodyOf<EventName>>>(typeName(kind));
}

eventType("MESSAGE_RECEIVED").implement({
  description: "A person or program sent a message.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    messageId: t.id({ description: "Id of the message.", resolve: ({ body }) => globalId("Message", body.messageId) }),
    text: t.string({
      nullable: true,
      description: "Text of the message. Null if it was erased.",
      resolve: (view, _args, context) => receivedText(context, view),
    }),
    images: t.int({
      description: "Number of images in the message. `receivedMessage` contains them.",
      resolve: ({ body }) => body.images,
    }),
    sentBy: t.field({ type: ActorRef, description: "Actor that sent the message.", resolve: ({ body }) => body.sentBy }),
    receivedMessage: t.prismaField({
      type: Message,
      nullable: true,
      description: "The message as it is now.",
      resolve: (query, { body }, _args, context) => messageByRow(context, body.messageId, query),
    }),
  }),
});

eventType("MESSAGE_WITHDRAWN").implement({
  description: "A queued message was withdrawn: the model never reads it.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    messageId: t.id({ description: "Id of the message.", resolve: ({ body }) => globalId("Message", body.messageId) }),
    withdrawnBy: t.field({
      type: ActorRef,
      description: "Actor that withdrew the message.",
      resolve: ({ body }) => body.withdrawnBy,
    }),
  }),
});

eventType("AGENT_CREATED").implement({
  description: "The agent was created.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    templateId: t.id({ description: "Template from which it was created.", resolve: ({ body }) => body.templateId }),
    model: t.string({ description: "Name of the configured model that it uses.", resolve: ({ body }) => body.model }),
    createdBy: t.field({ type: ActorRef, description: "Actor that created it.", resolve: ({ body }) => body.createdBy }),
    forkedFrom: t.id({
      nullable: true,
      description: "Id of the agent from which it was forked. Null if it was not forked.",
      resolve: ({ body }) => (body.forkedFrom === null ? null : globalId("Agent", body.forkedFrom)),
    }),
    workspace: t.string({
      nullable: true,
      description: "Path of the folder in which it works.",
      resolve: ({ body }) => body.workspace,
    }),
    hooks: t.stringList({
      nullable: true,
      description: "Names of the agent's own hooks.",
      resolve: ({ body }) => [...body.hooks],
    }),
    permission: t.field({
      type: "JSON",
      nullable: true,
      description:
        "The agent's own permission block as `{ scope, source }`. Null if only the template's permission applies, or if the block exceeds 16 KB: then read `Agent.permission`.",
      resolve: ({ body }) => body.permission,
    }),
  }),
});

eventType("AGENT_RENAMED").implement({
  description: "The title of the agent changed.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousTitle: t.string({
      nullable: true,
      description: "Previous title. Null if there was none.",
      resolve: ({ body }) => body.previousTitle,
    }),
    title: t.string({ nullable: true, description: "New title. Null if it was removed.", resolve: ({ body }) => body.title }),
    changedBy: t.field({ type: ActorRef, description: "Actor that changed the title.", resolve: ({ body }) => body.changedBy }),
  }),
});

for (const [kind, description] of [
  ["AGENT_ARCHIVED", "The agent was archived and accepts no messages."],
  ["AGENT_UNARCHIVED", "The agent was restored from the archive and accepts messages."],
] as const)
  eventType(kind).implement({
    description,
    interfaces: [TimelineEvent],
    fields: (t) => ({
      changedBy: t.field({ type: ActorRef, description: "Actor that made the change.", resolve: ({ body }) => body.changedBy }),
    }),
  });

eventType("STATE_CHANGED").implement({
  description: "The state of the agent changed.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousState: t.field({ type: AgentState, description: "Previous state.", resolve: ({ body }) => body.previousState }),
    state: t.field({ type: AgentState, description: "New state.", resolve: ({ body }) => body.state }),
  }),
});

eventType("BREAKPOINT_CHANGED").implement({
  description: "The agent reached another stage of its turn.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousBreakpoint: t.field({
      type: Breakpoint,
      description: "Previous stage.",
      resolve: ({ body }) => body.previousBreakpoint,
    }),
    breakpoint: t.field({ type: Breakpoint, description: "New stage.", resolve: ({ body }) => body.breakpoint }),
  }),
});

eventType("ERROR").implement({
  description: "A problem that operators should see.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    severity: t.field({ type: ErrorSeverity, description: "Severity.", resolve: ({ body }) => body.severity }),
    phase: t.field({ type: ErrorPhase, description: "Part of the system where it occurred.", resolve: ({ body }) => body.phase }),
    message: t.string({
      nullable: true,
      description: "Description of the problem. Null if it was erased.",
      resolve: ({ body }) => body.message,
    }),
    detail: t.string({
      nullable: true,
      description: "Machine-readable cause, for example `slow_tool`. Null if there is none.",
      resolve: ({ body }) => body.detail,
    }),
    retryAt: t.field({
      type: "DateTime",
      nullable: true,
      description:
        "Time of the next attempt, which may follow a wait requested by the provider. Null if there is no further attempt.",
      resolve: ({ body }) => (body.retryAt === undefined ? null : new Date(body.retryAt)),
    }),
  }),
});

eventType("STORAGE_FAILURE").implement({
  description: "The database was unavailable while a server worked on the agent, and is available again.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    severity: t.field({ type: ErrorSeverity, description: "Severity.", resolve: ({ body }) => body.severity }),
    since: t.field({ type: "DateTime", description: "Start of the outage.", resolve: ({ body }) => new Date(body.since) }),
    failedEvent: t.field({
      type: EventKind,
      nullable: true,
      description: "Kind of the first event that waited. Null if none waited.",
      resolve: ({ body }) => body.failedEvent,
    }),
    bufferedCount: t.int({
      description: "Number of events that waited to be committed.",
      resolve: ({ body }) => body.bufferedCount,
    }),
    lostCount: t.int({
      description: "Number of those events that were rejected because another server had taken over the agent.",
      resolve: ({ body }) => body.lostCount,
    }),
    error: t.string({
      nullable: true,
      description: "Error of the database, or that it did not answer.",
      resolve: ({ body }) => body.error,
    }),
  }),
});

eventType("INTERRUPT_REQUESTED").implement({
  description: "An interrupt of the running turn was requested: nothing new of the turn starts.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    requestedBy: t.field({ type: ActorRef, description: "Actor that requested it.", resolve: ({ body }) => body.requestedBy }),
    note: t.string({ nullable: true, description: "Reason given. Null if there is none.", resolve: ({ body }) => body.note }),
  }),
});

eventType("TURN_RETRY_REQUESTED").implement({
  description: "A retry was requested for a turn that ended without an answer.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    turn: t.int({ description: "Number of the turn to retry.", resolve: ({ body }) => body.turn }),
    requestedBy: t.field({ type: ActorRef, description: "Actor that requested it.", resolve: ({ body }) => body.requestedBy }),
  }),
});

eventType("TOOL_CANCEL_REQUESTED").implement({
  description: "The cancellation of one tool call was requested. The turn continues.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "`callId` of the call. Never null here.", resolve: ({ body }) => body.callId }),
    requestedBy: t.field({ type: ActorRef, description: "Actor that requested it.", resolve: ({ body }) => body.requestedBy }),
    note: t.string({ nullable: true, description: "Reason given. Null if there is none.", resolve: ({ body }) => body.note }),
  }),
});

eventType("AGENT_RESUMED").implement({
  description: "The agent continues after its server stopped.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    strategy: t.field({
      type: ResumeStrategy,
      description: "How calls with an unknown outcome were handled.",
      resolve: ({ body }) => body.strategy,
    }),
    sealed: t.field({
      type: [ToolCallSnapshot],
      description: "Calls that were sealed, at most those of one answer.",
      resolve: ({ body }) => [...body.sealed],
    }),
  }),
});

eventType("TODO_CHANGED").implement({
  description: "The todo list of the agent changed.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    previousTodos: t.field({
      type: [TodoItem],
      description: "Previous list, at most 200 entries.",
      resolve: ({ body }) => [...body.previousTodos],
    }),
    todos: t.field({ type: [TodoItem], description: "New list, at most 200 entries.", resolve: ({ body }) => [...body.todos] }),
  }),
});
