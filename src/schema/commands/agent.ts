import {
  agentByRow,
  archiveAgent,
  deleteAgent,
  compactAgent,
  createAgent,
  forkAgent,
  interruptAgent,
  renameAgent,
  retryTurn,
} from "../../resolvers/agent.ts";
import { globalId } from "../../lib/global-id.ts";
import { Agent } from "../agent.ts";
import { builder } from "../builder.ts";
import { PermissionScope } from "../enums.ts";
import { payloadType } from "../payload.ts";
import { PermissionInput, permissionSource } from "../inputs/permission.ts";

const agentPayload = (name: string) =>
  payloadType(name, (t) => ({
    agent: t.prismaField({
      type: Agent,
      nullable: true,
      description: "The agent. Null if the mutation failed.",
      resolve: (query, { rowId }, _args, context) => agentByRow(context, rowId, query),
    }),
  }));

const CreateAgentInput = builder.inputType("CreateAgentInput", {
  description: "Input of `createAgent`.",
  fields: (t) => ({
    templateId: t.id({
      required: true,
      description: "Template of the agent, given by `templateId`. NOT_FOUND if it is not configured; see `templates`.",
    }),
    title: t.string({ description: "Title for people, one line of at most 200 characters." }),
    workspace: t.string({
      description:
        "Folder in which the agent works. An absolute path, or relative to a workspace root or to the server's start folder. It must exist, and lie in a workspace root if any are configured. If omitted, `defaultWorkspace` of the configuration, or else a new empty folder.",
    }),
    model: t.string({ description: "Name of a configured model. The template's model if omitted." }),
    toolTimeoutMs: t.int({
      description: "Time limit of each tool call in ms, 1 to 3,600,000. The template's limit if omitted.",
    }),
    permission: t.field({ type: PermissionInput, description: "Permission block of this agent." }),
    permissionScope: t.field({
      type: PermissionScope,
      defaultValue: "TIGHTEN",
      description: "How `permission` combines with the template's permission. REPLACE needs the role admin.",
    }),
    hooks: t.stringList({
      description:
        "Names of hooks in `agentHooks` of the configuration. They run after the template's hooks, and can only tighten permissions.",
    }),
    idempotencyKey: t.string({
      description:
        "Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same agent. IDEMPOTENCY_KEY_REUSED for another input.",
    }),
  }),
});

builder.mutationField("createAgent", (t) =>
  t.field({
    type: agentPayload("CreateAgentPayload"),
    description: "Creates an agent from a template. Needs the role user or admin.",
    args: { input: t.arg({ type: CreateAgentInput, required: true, description: "Properties of the agent." }) },
    resolve: (_root, { input }, context) =>
      createAgent(context, {
        templateId: input.templateId,
        title: input.title ?? null,
        workspace: input.workspace ?? null,
        model: input.model ?? null,
        toolTimeoutMs: input.toolTimeoutMs ?? null,
        permission:
          input.permission || input.permissionScope === "REPLACE"
            ? { scope: input.permissionScope ?? "TIGHTEN", source: permissionSource(input.permission ?? {}) }
            : null,
        hooks: [...new Set(input.hooks ?? [])],
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
);

const ForkAgentInput = builder.inputType("ForkAgentInput", {
  description: "Input of `forkAgent`.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "`id` of the agent to fork." }),
    messageId: t.id({
      description:
        "Last message that both agents share, one of `Agent.forkPoints`. The newest fork point if omitted. INVALID if the agent cannot be forked there.",
    }),
    idempotencyKey: t.string({
      description:
        "Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same agent. IDEMPOTENCY_KEY_REUSED for another input.",
    }),
  }),
});

builder.mutationField("forkAgent", (t) =>
  t.field({
    type: agentPayload("ForkAgentPayload"),
    description:
      "Creates an agent with the conversation, tool calls and todos of another one up to a message. Template, model, workspace, permission, hooks and title are the same. The original is unchanged. FORBIDDEN for another actor's agent in a folder of its own, unless the viewer is an administrator.",
    args: { input: t.arg({ type: ForkAgentInput, required: true, description: "Agent and message." }) },
    resolve: (_root, { input }, context) =>
      forkAgent(context, {
        agentId: input.agentId,
        messageId: input.messageId ?? null,
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
);

const InterruptAgentInput = builder.inputType("InterruptAgentInput", {
  description: "Input of `interruptAgent`.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "`id` of the agent." }),
    note: t.string({ description: "Reason, at most 4,000 characters. The model reads it." }),
    tree: t.boolean({
      defaultValue: false,
      description: "True to interrupt all agents below it as well, also those that it started in the background.",
    }),
  }),
});

builder.mutationField("interruptAgent", (t) =>
  t.field({
    type: agentPayload("InterruptAgentPayload"),
    description:
      "Ends the agent's turn: the model call and running tools are aborted, and open calls are sealed. Background shells are stopped, even if the agent is idle. Agents that the turn waits for are interrupted, too. Otherwise an idle agent is unchanged.",
    args: { input: t.arg({ type: InterruptAgentInput, required: true, description: "Agent and reason." }) },
    resolve: (_root, { input }, context) => interruptAgent(context, input.agentId, input.note ?? null, input.tree ?? false),
  }),
);

const RetryTurnInput = builder.inputType("RetryTurnInput", {
  description: "Input of `retryTurn`.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "`id` of the agent." }),
    idempotencyKey: t.string({
      description: "Key of 1 to 200 characters, kept for 30 days. Repeating the request does not start another retry.",
    }),
  }),
});

builder.mutationField("retryTurn", (t) =>
  t.field({
    type: agentPayload("RetryTurnPayload"),
    description:
      "Starts a new turn for the messages of the last turn, which ended with ERROR, INTERRUPTED, SHAPE or BUDGET. The conversation is kept, so the model reads what that turn did. NOTHING_TO_RETRY if the turn ended otherwise or one is running.",
    args: { input: t.arg({ type: RetryTurnInput, required: true, description: "Agent whose turn to retry." }) },
    resolve: (_root, { input }, context) => retryTurn(context, input.agentId, input.idempotencyKey ?? null),
  }),
);

const CompactAgentInput = builder.inputType("CompactAgentInput", {
  description: "Input of `compactAgent`.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "`id` of the agent." }),
    instruction: t.string({ description: "Wish for the summary, at most 4,000 characters, such as `keep all file names`." }),
    idempotencyKey: t.string({
      description:
        "Key of 1 to 200 characters, kept for 30 days. Repeating the request asks once. IDEMPOTENCY_KEY_REUSED for another input.",
    }),
  }),
});

builder.mutationField("compactAgent", (t) =>
  t.field({
    type: agentPayload("CompactAgentPayload"),
    description:
      "Asks for a summary that replaces the older part of the context, also during a turn. CONTEXT_COMPRESSION reports its start and end. COMPACTING if one is asked for or under way.",
    args: { input: t.arg({ type: CompactAgentInput, required: true, description: "Agent and instruction." }) },
    resolve: (_root, { input }, context) =>
      compactAgent(context, {
        agentId: input.agentId,
        instruction: input.instruction ?? null,
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
);

const RenameAgentInput = builder.inputType("RenameAgentInput", {
  description: "Input of `renameAgent`.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "`id` of the agent." }),
    title: t.string({ description: "New title, one line of at most 200 characters. Omitted or empty removes the title." }),
  }),
});

builder.mutationField("renameAgent", (t) =>
  t.field({
    type: agentPayload("RenameAgentPayload"),
    description: "Changes the title of an agent. Setting the current title again creates no event.",
    args: { input: t.arg({ type: RenameAgentInput, required: true, description: "Agent and title." }) },
    resolve: (_root, { input }, context) => renameAgent(context, input.agentId, input.title ?? null),
  }),
);

const ArchiveAgentInput = builder.inputType("ArchiveAgentInput", {
  description: "Input of `archiveAgent`.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "`id` of the agent." }),
    tree: t.boolean({
      defaultValue: false,
      description: "True to archive it although agents below it are at work: they end as interrupted.",
    }),
  }),
});

builder.mutationField("archiveAgent", (t) =>
  t.field({
    type: agentPayload("ArchiveAgentPayload"),
    description:
      "Archives an agent: it accepts no messages, and lists leave it out by default. Background shells are stopped; a running turn continues to its end, but one that only waits ends. Agents below it are archived with it: CHILDREN_WORK if one is at work, unless `tree` is true. Archiving it again changes nothing.",
    args: { input: t.arg({ type: ArchiveAgentInput, required: true, description: "Agent to archive." }) },
    resolve: (_root, { input }, context) => archiveAgent(context, input.agentId, true, input.tree ?? false),
  }),
);

const UnarchiveAgentInput = builder.inputType("UnarchiveAgentInput", {
  description: "Input of `unarchiveAgent`.",
  fields: (t) => ({ agentId: t.id({ required: true, description: "`id` of the agent." }) }),
});

builder.mutationField("unarchiveAgent", (t) =>
  t.field({
    type: agentPayload("UnarchiveAgentPayload"),
    description: "Restores an archived agent: it accepts messages again. If it is not archived, nothing changes.",
    args: { input: t.arg({ type: UnarchiveAgentInput, required: true, description: "Agent to restore." }) },
    resolve: (_root, { input }, context) => archiveAgent(context, input.agentId, false, false),
  }),
);

const DeleteAgentInput = builder.inputType("DeleteAgentInput", {
  description: "Input of `deleteAgent`.",
  fields: (t) => ({ agentId: t.id({ required: true, description: "`id` of the first agent of a tree." }) }),
});

const DeleteAgentPayload = payloadType("DeleteAgentPayload", (t) => ({
  deletedAgentId: t.id({
    nullable: true,
    description: "`id` that the agent had. Null if it was not deleted.",
    resolve: ({ rowId: id }) => (id === null ? null : globalId("Agent", id)),
  }),
}));

builder.mutationField("deleteAgent", (t) =>
  t.field({
    type: DeleteAgentPayload,
    description:
      "Deletes an archived agent for ever, with all agents below it: messages, calls, approvals and events. Groups and counters of the audit stay. NOT_ARCHIVED and AT_WORK are its refusals. FORBIDDEN for viewers who are not administrators (DELETE_AGENTS).",
    args: { input: t.arg({ type: DeleteAgentInput, required: true, description: "Agent to delete." }) },
    resolve: (_root, { input }, context) => deleteAgent(context, input.agentId),
  }),
);
