import type { AgentSnapshot as Snapshot } from "../agent/commands/safe-points.ts";
import type { TodoItem as Item } from "../events/event.ts";
import {
  agent,
  agentByRow,
  agents,
  createAgent,
  forkAgent,
  interruptAgent,
  snapshotCursor,
  snapshotsOf,
  templateOf,
  usageOf,
  waitingForOf,
  type AgentUsage,
} from "../resolvers/agent.ts";
import { globalId } from "../lib/global-id.ts";
import { messagesOf } from "../resolvers/message.ts";
import { toolCallsOf } from "../resolvers/tool-call.ts";
import { ActorRef } from "./actor.ts";
import { Approval } from "./approval.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { AgentState, Breakpoint, PermissionScope } from "./enums.ts";
import { PermissionInput, permissionSource } from "./permission.ts";
import { Message, MessageConnection } from "./message.ts";
import { TodoItem } from "./todo.ts";
import { ToolCall, ToolCallConnection } from "./tool-call.ts";
import { payloadType } from "./payload.ts";

const Template = builder.objectRef<ReturnType<typeof templateOf>>("Template").implement({
  description: "What an agent was made from.",
  fields: (t) => ({
    templateId: t.exposeString("templateId"),
    isConfigured: t.boolean({
      description: "Whether the server still has it.",
      resolve: ({ configured }) => configured !== undefined,
    }),
    tools: t.stringList({
      nullable: true,
      description: "The tools its agents have; null for all.",
      resolve: ({ configured }) => (configured?.tools ? [...configured.tools] : null),
    }),
  }),
});

const Usage = builder.objectRef<AgentUsage>("AgentUsage").implement({
  description: "Tokens as whole numbers that may be beyond 32 bits. Input from and into the provider's cache is counted apart.",
  fields: (t) => ({
    inputTokens: t.exposeFloat("inputTokens"),
    outputTokens: t.exposeFloat("outputTokens"),
    cacheReadTokens: t.exposeFloat("cacheReadTokens"),
    cacheWriteTokens: t.exposeFloat("cacheWriteTokens"),
    totalTokens: t.exposeFloat("totalTokens", { description: "All four together." }),
    costUsd: t.exposeFloat("costUsd", {
      nullable: true,
      description: "In US dollars, by the prices at the time; null if a call's model had none.",
    }),
  }),
});

const AgentSnapshot = builder.objectRef<Snapshot>("AgentSnapshot").implement({
  description: "A point at which an agent can be forked: after a message with which nothing is open.",
  fields: (t) => ({
    messageId: t.id({ resolve: ({ messageId }) => globalId("Message", messageId) }),
    index: t.exposeInt("index", { description: "Place of the message in the conversation, from 0." }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
  }),
});

export const Agent = builder.prismaNode("Agent", {
  id: { field: "id" },
  description: "An agent: a conversation that works with tools in a folder.",
  fields: (t) => ({
    template: t.field({
      type: Template,
      select: { templateId: true },
      resolve: (row, _args, context) => templateOf(context, row),
    }),
    model: t.exposeString("model", { description: "Name of the configured model that it uses." }),
    workspace: t.exposeString("workspace", { description: "The folder in which it works." }),
    permission: t.expose("permission", {
      type: "JSON",
      nullable: true,
      description: "Its own permission block, `{ scope, source }`; null if its template's holds alone.",
    }),
    state: t.expose("state", { type: AgentState }),
    breakpoint: t.expose("breakpoint", { type: Breakpoint }),
    turn: t.exposeInt("turn", { description: "Turns that it has begun." }),
    stepCount: t.exposeInt("stepCount", { description: "Model calls that it has begun." }),
    cursor: t.field({
      type: "Cursor",
      description: "The snapshot's cursor: subscribe since it.",
      resolve: (_row, _args, context) => snapshotCursor(context),
    }),
    usage: t.field({
      type: Usage,
      description: "The tokens of all its complete model calls, and what they cost.",
      select: { id: true },
      resolve: (row, _args, context) => usageOf(context, row.id),
    }),
    waitingFor: t.string({
      nullable: true,
      description: "What it waits for, in words; null if that is only a message.",
      select: { id: true },
      resolve: (row, _args, context) => waitingForOf(context, row.id),
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
    snapshots: t.field({
      type: [AgentSnapshot],
      description: "The messages after which it can be forked, newest first.",
      args: { first: t.arg.int(), before: t.arg.int({ description: "Only before the message of this index." }) },
      select: { id: true },
      resolve: (row, args, context) => snapshotsOf(context, row.id, args),
    }),
    lastSfpIndex: t.exposeInt("lastSfpIndex", {
      description: "Index of the newest message from which it can be safely forked; -1 for none.",
    }),
    messages: t.prismaConnection(
      {
        type: Message,
        cursor: "id",
        description: "The conversation, with what waits to join it at the end.",
        resolve: (query, { id }, args, context) => messagesOf(context, id, args, query),
      },
      MessageConnection,
    ),
    toolCalls: t.prismaConnection(
      {
        type: ToolCall,
        cursor: "id",
        description: "Its tool calls in the order in which they were made.",
        resolve: (query, { id }, args, context) => toolCallsOf(context, id, args, query),
      },
      ToolCallConnection,
    ),
    pendingApprovals: t.prismaField({
      type: [Approval],
      description: "What waits for a person, longest first.",
      select: (_args, _context, nestedSelection) => ({
        approvals: nestedSelection({ where: { state: "PENDING" }, orderBy: { requestedAt: "asc" } }),
      }),
      resolve: (_query, row) => row.approvals,
    }),
    todos: t.field({
      type: [TodoItem],
      select: { todos: { orderBy: { place: "asc" } } },
      resolve: (row) => row.todos.map((todo): Item => ({ ...todo, status: todo.status as Item["status"] })),
    }),
    createdBy: t.field({
      type: ActorRef,
      select: { createdBy: true, createdByKind: true },
      resolve: (row) => ({ id: row.createdBy, kind: row.createdByKind }),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
  }),
});

builder.queryField("agent", (t) =>
  t.prismaField({
    type: Agent,
    nullable: true,
    description: "An agent; null if it does not exist or may not be seen.",
    args: { id: t.arg.id({ required: true }) },
    resolve: (query, _root, { id }, context) => agent(context, id, query),
  }),
);

const AgentConnection = connectionOf("Agent", Agent);

builder.queryField("agents", (t) =>
  t.prismaConnection(
    {
      type: Agent,
      cursor: "id",
      description: "The agents that you may see, newest first.",
      resolve: (query, _root, args, context) => agents(context, args, query),
    },
    AgentConnection,
  ),
);

const CreateAgentInput = builder.inputType("CreateAgentInput", {
  fields: (t) => ({
    templateId: t.id({ required: true }),
    workspace: t.string({
      description:
        "The folder in which the agent works, absolute or relative to where the server was started. If omitted: the configuration's default, or else an empty folder of the agent's own.",
    }),
    model: t.string({ description: "Name of a configured model. The template's if omitted." }),
    toolTimeoutMs: t.int({ description: "After so long a tool call fails. The template's if omitted." }),
    permission: t.field({ type: PermissionInput, description: "A permission block of the agent's own." }),
    permissionScope: t.field({
      type: PermissionScope,
      defaultValue: "TIGHTEN",
      description: "Whether `permission` adds to the template's, so that it can only tighten, or replaces it.",
    }),
    idempotencyKey: t.string({ description: "The same key with the same input creates once and answers the same agent." }),
  }),
});

const agentPayload = (name: string) =>
  payloadType(name, (t) => ({
    agent: t.prismaField({
      type: Agent,
      nullable: true,
      resolve: (query, { rowId }, _args, context) => agentByRow(context, rowId, query),
    }),
  }));

const CreateAgentPayload = agentPayload("CreateAgentPayload");

builder.mutationField("createAgent", (t) =>
  t.field({
    type: CreateAgentPayload,
    description: "Creates an agent of a template.",
    args: { input: t.arg({ type: CreateAgentInput, required: true }) },
    resolve: (_root, { input }, context) =>
      createAgent(context, {
        templateId: input.templateId,
        workspace: input.workspace ?? null,
        model: input.model ?? null,
        toolTimeoutMs: input.toolTimeoutMs ?? null,
        permission:
          input.permission || input.permissionScope === "REPLACE"
            ? { scope: input.permissionScope ?? "TIGHTEN", source: permissionSource(input.permission ?? {}) }
            : null,
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
);

const ForkAgentInput = builder.inputType("ForkAgentInput", {
  fields: (t) => ({
    agentId: t.id({ required: true }),
    messageId: t.id({ description: "The last message that both share, one of `agent.snapshots`; the newest if omitted." }),
    idempotencyKey: t.string({ description: "The same key with the same input forks once and answers the same agent." }),
  }),
});

const ForkAgentPayload = agentPayload("ForkAgentPayload");

builder.mutationField("forkAgent", (t) =>
  t.field({
    type: ForkAgentPayload,
    description:
      "Makes a new agent with the conversation of another up to a message, and its template, model, workspace and permission. The other may go on meanwhile.",
    args: { input: t.arg({ type: ForkAgentInput, required: true }) },
    resolve: (_root, { input }, context) =>
      forkAgent(context, {
        agentId: input.agentId,
        messageId: input.messageId ?? null,
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
);

const InterruptAgentInput = builder.inputType("InterruptAgentInput", {
  fields: (t) => ({ agentId: t.id({ required: true }), note: t.string({ description: "Why; the model reads it." }) }),
});

const InterruptAgentPayload = agentPayload("InterruptAgentPayload");

builder.mutationField("interruptAgent", (t) =>
  t.field({
    type: InterruptAgentPayload,
    description:
      "Ends the agent's turn: the model call and running tools are aborted, open calls are sealed. An idle agent is left as it is.",
    args: { input: t.arg({ type: InterruptAgentInput, required: true }) },
    resolve: (_root, { input }, context) => interruptAgent(context, input.agentId, input.note ?? null),
  }),
);
