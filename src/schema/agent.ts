import type { ForkPoint as Point } from "../agent/commands/fork-points.ts";
import type { AgentUsage } from "../agent/loop/usage.ts";
import type { OpenBlock as Open } from "../events/blocks.ts";
import { DONE_REASONS } from "../db/done-reason.ts";
import { type TodoItem as Item } from "../events/snapshots.ts";
import { globalId } from "../lib/global-id.ts";
import { agent, agents, snapshotCursor, type AgentOrder as Order } from "../resolvers/agent.ts";
import { pendingApprovalsOf } from "../resolvers/approval.ts";
import { forkPointsOf } from "../resolvers/fork-point.ts";
import { knownFilesOf } from "../resolvers/files/known-file.ts";
import { messagesOf } from "../resolvers/message.ts";
import { templateNamed } from "../resolvers/template.ts";
import { shellsOf, toolCallsOf } from "../resolvers/tool-call.ts";
import { ActorRef } from "./actor.ts";
import { Approval } from "./approvals/approval.ts";
import { builder } from "./builder.ts";
import { connectionOf, nodesSelection } from "./connection.ts";
import { described } from "./described.ts";
import { AgentState, Breakpoint, OrderDirection } from "./enums.ts";
import { DoneReason } from "./events/enums.ts";
import { KnownFile, KnownFileConnection } from "./known-file.ts";
import { Message, MessageConnection } from "./message.ts";
import { Shell } from "./shell.ts";
import { Template } from "./template.ts";
import { TodoItem } from "./todo.ts";
import { ToolCall, ToolCallConnection } from "./tool-call.ts";

const Usage = builder.objectRef<AgentUsage>("AgentUsage").implement({
  description: "Tokens as whole numbers that may be beyond 32 bits. Input from and into the provider's cache is counted apart.",
  fields: (t) => ({
    inputTokens: t.exposeFloat("inputTokens", { description: "Input that the provider's cache has no part in." }),
    outputTokens: t.exposeFloat("outputTokens", { description: "Output." }),
    cacheReadTokens: t.exposeFloat("cacheReadTokens", { description: "Input that came from the provider's cache." }),
    cacheWriteTokens: t.exposeFloat("cacheWriteTokens", { description: "Input that was written into the provider's cache." }),
    totalTokens: t.exposeFloat("totalTokens", { description: "All four together." }),
    costUsd: t.exposeFloat("costUsd", {
      nullable: true,
      description: "In US dollars, by the prices at the time; null if a call's model had none.",
    }),
    isEstimated: t.exposeBoolean("isEstimated", {
      description: "Whether the output of a call was estimated: it broke off, and its provider did not say.",
    }),
  }),
});

const ForkPoint = builder.objectRef<Point>("ForkPoint").implement({
  description: "A point at which an agent can be forked: after a message with which nothing is open.",
  fields: (t) => ({
    messageId: t.id({
      description: "The message: `forkAgent` takes it.",
      resolve: ({ messageId }) => globalId("Message", messageId),
    }),
    index: t.exposeInt("index", { description: "Place of the message in the conversation, from 0." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the message came." }),
  }),
});

const ForkPointConnection = connectionOf("ForkPoint", ForkPoint);

const OpenBlock = builder.objectRef<Open>("OpenBlock").implement({
  description: "A block of what the model says that has begun and not ended.",
  fields: (t) => ({
    step: t.exposeInt("step", { description: "The model call." }),
    block: t.exposeInt("block", { description: "Number of the block in the step." }),
    isThinking: t.boolean({ description: "Whether it is thought, and not said.", resolve: ({ kind }) => kind === "thinking" }),
    text: t.exposeString("text", { description: "What was said of it so far." }),
  }),
});

export const Agent = builder.prismaNode("Agent", {
  id: { field: "id", description: "The agent's id." },
  description: "An agent: a conversation that works with tools in a folder.",
  fields: (t) => ({
    title: t.exposeString("title", { nullable: true, description: "What people call it; null if nobody said so." }),
    template: t.field({
      type: Template,
      description: "What it was made from.",
      select: { templateId: true },
      resolve: (row, _args, context) => templateNamed(context, row.templateId),
    }),
    model: t.exposeString("model", { description: "Name of the configured model that it uses." }),
    workspace: t.exposeString("workspace", { description: "The folder in which it works." }),
    permission: t.expose("permission", {
      type: "JSON",
      nullable: true,
      description: "Its own permission block, `{ scope, source }`; null if its template's holds alone.",
    }),
    hooks: t.stringList({
      description: "Names of the hooks that run after its template's.",
      select: { hooks: true },
      resolve: ({ hooks }) => (Array.isArray(hooks) ? hooks.filter((name) => typeof name === "string") : []),
    }),
    state: t.expose("state", { type: AgentState, description: "What it does." }),
    breakpoint: t.expose("breakpoint", { type: Breakpoint, description: "Where in its turn it stands." }),
    turn: t.exposeInt("turn", { description: "Turns that it has begun." }),
    doneReason: t.field({
      type: DoneReason,
      nullable: true,
      description: "How the newest turn that has ended did: `retryTurn` takes ERROR and INTERRUPTED. Null before the first has.",
      select: { doneReason: true },
      resolve: ({ doneReason }) => DONE_REASONS.find((known) => known === doneReason) ?? null,
    }),
    stepCount: t.exposeInt("stepCount", { description: "Model calls that it has begun." }),
    cursor: t.field({
      type: "Cursor",
      description: "The snapshot's cursor: subscribe since it.",
      resolve: (_row, _args, context) => snapshotCursor(context),
    }),
    usage: t.field({
      type: Usage,
      description: "The tokens of all its model calls, and what they cost. A fork's copies are the other's.",
      select: { id: true },
      resolve: (row, _args, { loaders }) => loaders.usage.load(row.id),
    }),
    waitingFor: t.string({
      nullable: true,
      complexity: 1,
      description: "What it waits for, in words; null if that is only a message.",
      select: { id: true },
      resolve: (row, _args, { loaders }) => loaders.waitingFor.load(row.id),
    }),
    lineage: t.idList({
      description: "The agents that it was forked from, the first of all first. Not all of them need to be visible.",
      select: { lineage: true },
      resolve: ({ lineage }) =>
        Array.isArray(lineage) ? lineage.flatMap((id) => (typeof id === "string" ? [globalId("Agent", id)] : [])) : [],
    }),
    forkedAt: t.exposeInt("forkedAt", {
      nullable: true,
      description: "Index of the last message that it shares with the agent it was forked from.",
    }),
    forkIsWhole: t.boolean({
      description:
        "False for a fork of before: its messages have no turns, and their tool calls, steps and todos are the other's alone.",
      resolve: () => true,
    }),
    forkPoints: t.connection(
      {
        type: ForkPoint,
        description: "The messages after which it can be forked, newest first.",
        select: { id: true },
        resolve: (row, args, context) => forkPointsOf(context, row.id, args),
      },
      ForkPointConnection,
    ),
    lastSfpIndex: t.exposeInt("lastSfpIndex", {
      description: "Index of the newest message from which it can be safely forked (its safe fork point); -1 for none.",
    }),
    openBlocks: t.field({
      type: [OpenBlock],
      description:
        "What the model is saying at `cursor` and has not ended, at most the blocks of one answer: deltas `since` it go on with it.",
      select: { id: true },
      resolve: async ({ id }, _args, { loaders }) => [...(await loaders.openBlocks.load(id))],
    }),
    messages: t.connection(
      {
        type: Message,
        description: "The conversation, with what waits to join it at the end.",
        select: { id: true },
        resolve: ({ id }, args, context, info) => messagesOf(context, id, args, nodesSelection(context, info)),
      },
      MessageConnection,
    ),
    toolCalls: t.connection(
      {
        type: ToolCall,
        description: "Its tool calls in the order in which they were made, a fork's copies among them.",
        select: { id: true },
        resolve: ({ id }, args, context, info) => toolCallsOf(context, id, args, nodesSelection(context, info)),
      },
      ToolCallConnection,
    ),
    pendingApprovals: t.prismaField({
      type: [Approval],
      description: "What waits for a person, longest first; at most 100.",
      select: { id: true },
      resolve: (query, { id }, _args, context) => pendingApprovalsOf(context, id, query),
    }),
    shells: t.prismaField({
      type: [Shell],
      description: "The commands that it left running in the background, newest first; at most 100.",
      select: { id: true },
      resolve: (query, { id }, _args, context) => shellsOf(context, id, query),
    }),
    knownFiles: t.connection(
      {
        type: KnownFile,
        description: "The files that it has read or written, by their paths.",
        select: { id: true },
        resolve: ({ id }, args, context, info) => knownFilesOf(context, id, args, nodesSelection(context, info)),
      },
      KnownFileConnection,
    ),
    todos: t.field({
      type: [TodoItem],
      description: "Its todo list; at most 200.",
      select: { todos: { orderBy: { place: "asc" } } },
      resolve: (row) => row.todos.map((todo): Item => ({ ...todo, status: todo.status as Item["status"] })),
    }),
    createdBy: t.field({
      type: ActorRef,
      description: "Who made it.",
      select: { createdBy: true, createdByKind: true },
      resolve: (row) => ({ id: row.createdBy, kind: row.createdByKind }),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was made." }),
    lastActivityAt: t.expose("lastActivityAt", {
      type: "DateTime",
      description:
        "When something last happened that people look for: a message, a question to them or its answer, the end of a turn.",
    }),
    archivedAt: t.expose("archivedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was archived; null for one that takes messages.",
    }),
  }),
});

builder.queryField("agent", (t) =>
  t.prismaField({
    type: Agent,
    nullable: true,
    description: "An agent; null if it does not exist or may not be seen.",
    args: { id: t.arg.id({ required: true, description: "The agent's id." }) },
    resolve: (query, _root, { id }, context) => agent(context, id, query),
  }),
);

const AgentFilter = builder.inputType("AgentFilter", {
  description: "All conditions that are given must hold.",
  fields: (t) => ({
    states: t.field({ type: [AgentState], description: "In one of these states." }),
    templateIds: t.idList({ description: "Of one of these templates." }),
    createdBy: t.idList({ description: "Made by one of these actors: ids of ActorRefs, or the actors' own." }),
    isArchived: t.boolean({
      defaultValue: false,
      description: "Archived ones only, or others only; null for both.",
    }),
    idleSince: t.field({
      type: "DateTime",
      description: "Nothing has happened since then: `lastActivityAt` is that or earlier.",
    }),
    title: t.string({ description: "With this in their title, in any case." }),
  }),
});

const AgentOrderField = builder.enumType("AgentOrderField", {
  description: "By what agents are ordered.",
  values: described<Order["field"]>({
    CREATED_AT: "When they were made.",
    LAST_ACTIVITY_AT:
      "When something last happened. It moves: follow since `asOf` to hear of agents that have moved between two pages.",
  }),
});

const AgentOrder = builder.inputType("AgentOrder", {
  description: "An order of agents.",
  fields: (t) => ({
    field: t.field({ type: AgentOrderField, required: true, description: "By what." }),
    direction: t.field({ type: OrderDirection, required: true, description: "In which direction." }),
  }),
});

builder.queryField("agents", (t) =>
  t.connection(
    {
      type: Agent,
      description: "The agents that you may see.",
      args: {
        filter: t.arg({ type: AgentFilter, description: "Which; those that are not archived if omitted." }),
        orderBy: t.arg({ type: AgentOrder, description: "In which order; the newest first if omitted." }),
      },
      resolve: (_root, args, context, info) => agents(context, args, nodesSelection(context, info)),
    },
    connectionOf("Agent", Agent),
  ),
);
