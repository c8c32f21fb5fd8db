import type { ForkPoint as Point } from "../agent/commands/fork-agent.ts";
import { cachedShareOf } from "../agent/conversation/cache-use.ts";
import type { AgentUsage } from "../agent/loop/usage.ts";
import type { OpenBlock as Open } from "../events/blocks.ts";
import { DONE_REASONS } from "../db/commit/change.ts";
import type { TodoItem as Item } from "../events/snapshots.ts";
import { globalId } from "../lib/global-id.ts";
import {
  agentByRow,
  childOfCall,
  childrenOf,
  MOST_CHILDREN,
  snapshotCursor,
  forkPointsOf,
  knownFilesOf,
  noticesOf,
} from "../resolvers/agent.ts";
import { pendingApprovalsOf } from "../resolvers/approval.ts";
import { messagesOf } from "../resolvers/message.ts";
import { schedulesOf } from "../resolvers/schedule.ts";
import { contextAtStep } from "../resolvers/step-context.ts";
import { templateNamed, templateVersionOf } from "../resolvers/template.ts";
import { fileEditsOf, shellsOf, toolCallByRow, toolCallsOf } from "../resolvers/tool-call.ts";
import { ActorRef } from "./actor.ts";
import { AgentContext } from "./agent-context.ts";
import { Approval } from "./approvals/approval.ts";
import { builder, connectionOf, nodesSelection } from "./builder.ts";
import { AgentState, Breakpoint } from "./enums.ts";
import { DoneReason } from "./events/enums.ts";
import { KnownFile, KnownFileConnection, Notice, NoticeConnection, Shell, TodoItem } from "./agent-state.ts";
import { Message, MessageConnection } from "./message.ts";
import { Schedule } from "./schedule.ts";
import { StepContext } from "./step-context.ts";
import { Template, TemplateVersion } from "./templates/template.ts";
import { ToolCall, ToolCallConnection } from "./tool-call.ts";

const Usage = builder.objectRef<AgentUsage>("AgentUsage").implement({
  description: "Token counts and cost of an agent's model calls. Counts are whole numbers that may exceed 32 bits.",
  fields: (t) => ({
    inputTokens: t.exposeFloat("inputTokens", {
      description: "Input tokens that were neither read from nor written to the provider's cache.",
    }),
    outputTokens: t.exposeFloat("outputTokens", { description: "Output tokens." }),
    cacheReadTokens: t.exposeFloat("cacheReadTokens", { description: "Input tokens read from the provider's cache." }),
    cacheWriteTokens: t.exposeFloat("cacheWriteTokens", { description: "Input tokens written to the provider's cache." }),
    cachedShare: t.float({
      nullable: true,
      description: "Share of input tokens that came from the provider's cache, from 0 to 1. Null if none were counted.",
      resolve: (usage) => cachedShareOf(usage),
    }),
    totalTokens: t.exposeFloat("totalTokens", { description: "Sum of input, output, cache read and cache write tokens." }),
    costUsd: t.exposeFloat("costUsd", {
      nullable: true,
      description: "Cost in US dollars, by the prices at the time of each call. Null if a call's model had no price.",
    }),
    isEstimated: t.exposeBoolean("isEstimated", {
      description: "True if the output of a call was estimated: the call was aborted and its provider did not report the usage.",
    }),
  }),
});

const ForkPoint = builder.objectRef<Point>("ForkPoint").implement({
  description: "A message after which an agent can be forked: no tool call is open there.",
  fields: (t) => ({
    messageId: t.id({
      description: "`id` of the message: pass it to `forkAgent`.",
      resolve: ({ messageId }) => globalId("Message", messageId),
    }),
    index: t.exposeInt("index", { description: "Index of the message in the conversation, from 0." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Creation time of the message." }),
  }),
});

const ForkPointConnection = connectionOf("ForkPoint", ForkPoint);

const OpenBlock = builder.objectRef<Open>("OpenBlock").implement({
  description: "A block of model output that has started and not ended.",
  fields: (t) => ({
    step: t.exposeInt("step", { description: "Step (model call) that writes the block." }),
    block: t.exposeInt("block", { description: "Number of the block within the step." }),
    isThinking: t.boolean({ description: "True for thinking, false for text.", resolve: ({ kind }) => kind === "thinking" }),
    text: t.exposeString("text", { description: "Text written up to `Agent.cursor`." }),
  }),
});

export const Agent = builder.prismaNode("Agent", {
  id: { field: "id", description: "Relay id of the agent." },
  description: "An agent: a conversation in which a model works with tools in a folder.",
  fields: (t) => ({
    title: t.exposeString("title", { nullable: true, description: "Title for people. Null if none is set." }),
    template: t.field({
      type: Template,
      description:
        "Template from which the agent was created, as it is configured at present. `templateVersion` names the version that the agent has.",
      select: { templateId: true },
      resolve: (row, _args, context) => templateNamed(context, row.templateId),
    }),
    templateVersion: t.field({
      type: TemplateVersion,
      nullable: true,
      description: "Version of the template at the latest turn. Null before the first turn.",
      select: { templateVersion: true },
      resolve: ({ templateVersion }) => templateVersionOf(templateVersion),
    }),
    model: t.exposeString("model", { description: "Name of the configured model that the agent uses." }),
    workspace: t.exposeString("workspace", { description: "Path of the folder in which the agent works." }),
    permission: t.expose("permission", {
      type: "JSON",
      nullable: true,
      description: "The agent's own permission block as `{ scope, source }`. Null if only the template's permission applies.",
    }),
    hooks: t.stringList({
      description: "Names of the agent's own hooks. They run after the template's hooks.",
      select: { hooks: true },
      resolve: ({ hooks }) => (Array.isArray(hooks) ? hooks.filter((name) => typeof name === "string") : []),
    }),
    state: t.expose("state", { type: AgentState, description: "Whether the agent is idle, working or waiting for a person." }),
    breakpoint: t.expose("breakpoint", { type: Breakpoint, description: "Current stage within the turn. READY between turns." }),
    turn: t.exposeInt("turn", { description: "Number of turns started." }),
    doneReason: t.field({
      type: DoneReason,
      nullable: true,
      description:
        "How the latest completed turn ended. `retryTurn` accepts ERROR and INTERRUPTED. Null before the first turn has ended.",
      select: { doneReason: true },
      resolve: ({ doneReason }) => DONE_REASONS.find((known) => known === doneReason) ?? null,
    }),
    stepCount: t.exposeInt("stepCount", { description: "Number of steps (model calls) started." }),
    cursor: t.field({
      type: "Cursor",
      description: "Log position of this snapshot. Subscribe `since` it to receive every later event.",
      resolve: (_row, _args, context) => snapshotCursor(context),
    }),
    usage: t.field({
      type: Usage,
      description: "Tokens and cost of all model calls. Steps that a fork copied count only for the original agent.",
      select: { id: true },
      resolve: (row, _args, { loaders }) => loaders.usage.load(row.id),
    }),
    context: t.field({
      type: AgentContext,
      complexity: 1,
      description: "Size of the context that the model reads.",
      select: { id: true },
      resolve: ({ id }, _args, { loaders }) => loaders.contexts.load(id),
    }),
    contextAt: t.field({
      type: StepContext,
      nullable: true,
      complexity: 20,
      description:
        "Request that the model was sent at a step, for readers of the tenant. Null if there is no such step, or if it is no longer kept.",
      args: { step: t.arg.int({ required: true, description: "Number of the step, from 1." }) },
      select: { id: true },
      resolve: ({ id }, { step }, context) => contextAtStep(context, id, step),
    }),
    waitingFor: t.string({
      nullable: true,
      complexity: 1,
      description:
        "What the agent waits for, in words, for example `a person to decide on fs_write`. Null if it only waits for a message.",
      select: { id: true },
      resolve: async (row, _args, { loaders }) => (await loaders.standstills.load(row.id))?.words ?? null,
    }),
    lineage: t.idList({
      description:
        "Ids of the agents it was forked from, oldest first. Empty if it was not forked. The viewer may not be allowed to see all of them.",
      select: { lineage: true },
      resolve: ({ lineage }) =>
        Array.isArray(lineage) ? lineage.flatMap((id) => (typeof id === "string" ? [globalId("Agent", id)] : [])) : [],
    }),
    forkedAt: t.exposeInt("forkedAt", {
      nullable: true,
      description: "Index of the last message shared with the agent it was forked from. Null if it was not forked.",
    }),
    forkIsWhole: t.boolean({
      description: "Always true: a fork has copies of the tool calls, steps and todos of its messages.",
      resolve: () => true,
    }),
    forkPoints: t.connection(
      {
        type: ForkPoint,
        description: "Messages after which the agent can be forked, newest first.",
        select: { id: true },
        resolve: (row, args, context) => forkPointsOf(context, row.id, args),
      },
      ForkPointConnection,
    ),
    lastSfpIndex: t.exposeInt("lastSfpIndex", {
      description: "Index of the newest message after which the agent can be forked (safe fork point). -1 if there is none.",
    }),
    openBlocks: t.field({
      type: [OpenBlock],
      description:
        "Model output in progress at `cursor`, at most the blocks of one answer. Deltas received `since` that cursor continue it.",
      select: { id: true },
      resolve: async ({ id }, _args, { loaders }) => [...(await loaders.openBlocks.load(id))],
    }),
    messages: t.connection(
      {
        type: Message,
        description: "The conversation in order, with queued messages at the end. Withdrawn messages are left out.",
        select: { id: true },
        resolve: ({ id }, args, context, info) => messagesOf(context, id, args, nodesSelection(context, info)),
      },
      MessageConnection,
    ),
    toolCalls: t.connection(
      {
        type: ToolCall,
        description: "Tool calls in the order in which they were made, including those that a fork copied.",
        select: { id: true },
        resolve: ({ id }, args, context, info) => toolCallsOf(context, id, args, nodesSelection(context, info)),
      },
      ToolCallConnection,
    ),
    pendingApprovals: t.prismaField({
      type: [Approval],
      description: "Approvals waiting for a person, oldest first, at most 100.",
      select: { id: true },
      resolve: (query, { id }, _args, context) => pendingApprovalsOf(context, id, query),
    }),
    shells: t.prismaField({
      type: [Shell],
      description: "Background shells, newest first, at most 100.",
      select: { id: true },
      resolve: (query, { id }, _args, context) => shellsOf(context, id, query),
    }),
    schedules: t.prismaField({
      type: [Schedule],
      description: "Schedules that send reminders to the agent, oldest first, at most 20.",
      select: { id: true },
      resolve: (query, { id }, _args, context) => schedulesOf(context, id, query),
    }),
    knownFiles: t.connection(
      {
        type: KnownFile,
        description: "Files that the agent has read or written, ordered by path.",
        select: { id: true },
        resolve: ({ id }, args, context, info) => knownFilesOf(context, id, args, nodesSelection(context, info)),
      },
      KnownFileConnection,
    ),
    fileEdits: t.connection(
      {
        type: ToolCall,
        description: "Calls of the file tools that wrote a file, newest first. Their `details` have the diffs.",
        args: { path: t.arg.string({ required: true, description: "`path` of a known file." }) },
        select: { id: true },
        resolve: ({ id }, args, context, info) => fileEditsOf(context, id, args, nodesSelection(context, info)),
      },
      ToolCallConnection,
    ),
    notices: t.connection(
      {
        type: Notice,
        description: "Texts of the server for the model, newest first. Those without `toldAtStep` are told at the next step.",
        select: { id: true },
        resolve: ({ id }, args, context, info) => noticesOf(context, id, args, nodesSelection(context, info)),
      },
      NoticeConnection,
    ),
    todos: t.field({
      type: [TodoItem],
      description: "Todo list, at most 200 entries.",
      select: { todos: { orderBy: { place: "asc" } } },
      resolve: (row) => row.todos.map((todo): Item => ({ ...todo, status: todo.status as Item["status"] })),
    }),
    createdBy: t.field({
      type: ActorRef,
      description: "Actor that created the agent.",
      select: { createdBy: true, createdByKind: true },
      resolve: (row) => ({ id: row.createdBy, kind: row.createdByKind }),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Creation time." }),
    lastActivityAt: t.expose("lastActivityAt", {
      type: "DateTime",
      description: "Time of the latest message, approval request, decision or end of a turn.",
    }),
    parent: t.prismaField({
      type: "Agent",
      nullable: true,
      description: "Agent that started this one. Null if a person did.",
      select: { parentId: true },
      resolve: (query, { parentId }, _args, context) => agentByRow(context, parentId, query),
    }),
    parentCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "Call by which the agent was started. Null if a person started it.",
      select: { parentCallId: true },
      resolve: (query, { parentCallId }, _args, context) =>
        parentCallId === null ? null : toolCallByRow(context, parentCallId, query),
    }),
    spawnedBy: t.field({
      type: [ActorRef],
      // Most trees have one person who asks.
      complexity: { field: 1, multiplier: 1 },
      description:
        "Actors that asked for it, each once: senders of the messages that the turns of the agents above answer. Empty if a person started it.",
      select: { id: true, parentCallId: true },
      resolve: async ({ id, parentCallId }, _args, { loaders }) =>
        parentCallId === null ? [] : [...(await loaders.spawners.load(id))],
    }),
    depth: t.exposeInt("depth", { description: "Number of agents above this one. 0 if a person started it." }),
    children: t.prismaField({
      type: ["Agent"],
      complexity: { multiplier: MOST_CHILDREN },
      description: "Agents that this one started, oldest first, at most 64. `agents(filter: { parentIds })` pages through all.",
      select: { id: true },
      resolve: (query, { id }, _args, context) => childrenOf(context, id, query),
    }),
    childCount: t.int({
      complexity: 1,
      description: "Number of agents that this one started.",
      select: { id: true },
      resolve: ({ id }, _args, { loaders }) => loaders.childCounts.load(id),
    }),
    treeUsage: t.field({
      type: Usage,
      complexity: 5,
      description: "Tokens and cost of the agent and of all agents below it.",
      select: { id: true },
      resolve: (row, _args, { loaders }) => loaders.treeUsage.load(row.id),
    }),
    archivedAt: t.expose("archivedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of archiving. Null if the agent is not archived.",
    }),
  }),
});

builder.prismaObjectField(ToolCall, "child", (t) =>
  t.prismaField({
    type: Agent,
    nullable: true,
    description: "Agent that the call started. Null for every other call.",
    select: { id: true },
    resolve: (query, { id }, _args, context) => childOfCall(context, id, query),
  }),
);
