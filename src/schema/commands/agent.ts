import {
  agentByRow,
  archiveAgent,
  createAgent,
  forkAgent,
  interruptAgent,
  renameAgent,
  retryTurn,
} from "../../resolvers/agent.ts";
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
      description: "The agent, if the mutation was carried out.",
      resolve: (query, { rowId }, _args, context) => agentByRow(context, rowId, query),
    }),
  }));

const CreateAgentInput = builder.inputType("CreateAgentInput", {
  description: "What to make an agent from.",
  fields: (t) => ({
    templateId: t.id({ required: true, description: "The template: `templates` lists them." }),
    title: t.string({ description: "What people call it: one line of at most 200 characters." }),
    workspace: t.string({
      description:
        "The folder in which the agent works: an absolute path, or one below a workspace root, or below the folder in which the server was started. If omitted: the configuration's default, or else an empty folder of the agent's own.",
    }),
    model: t.string({ description: "Name of a configured model. The template's if omitted." }),
    toolTimeoutMs: t.int({
      description: "The longest time of each tool call, in ms. The template's if omitted.",
    }),
    permission: t.field({ type: PermissionInput, description: "A permission block of the agent's own." }),
    permissionScope: t.field({
      type: PermissionScope,
      defaultValue: "TIGHTEN",
      description: "Whether `permission` adds to the template's, so that it can only tighten, or replaces it.",
    }),
    hooks: t.stringList({
      description: "Names of hooks of the configuration (`agentHooks`) that run after its template's. They only tighten.",
    }),
    idempotencyKey: t.string({ description: "The same key with the same input creates once and answers the same agent." }),
  }),
});

builder.mutationField("createAgent", (t) =>
  t.field({
    type: agentPayload("CreateAgentPayload"),
    description: "Creates an agent of a template.",
    args: { input: t.arg({ type: CreateAgentInput, required: true, description: "What to make it from." }) },
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
  description: "Which agent to fork, and where.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "The agent." }),
    messageId: t.id({ description: "The last message that both share, one of `agent.forkPoints`; the newest if omitted." }),
    idempotencyKey: t.string({ description: "The same key with the same input forks once and answers the same agent." }),
  }),
});

builder.mutationField("forkAgent", (t) =>
  t.field({
    type: agentPayload("ForkAgentPayload"),
    description:
      "Makes a new agent with the conversation of another up to a message, its tool calls and todos, and its template, model, workspace and permission. The other may go on meanwhile.",
    args: { input: t.arg({ type: ForkAgentInput, required: true, description: "Which agent, and where." }) },
    resolve: (_root, { input }, context) =>
      forkAgent(context, {
        agentId: input.agentId,
        messageId: input.messageId ?? null,
        idempotencyKey: input.idempotencyKey ?? null,
      }),
  }),
);

const InterruptAgentInput = builder.inputType("InterruptAgentInput", {
  description: "Which agent's turn to end.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "The agent." }),
    note: t.string({ description: "Why; the model reads it." }),
  }),
});

builder.mutationField("interruptAgent", (t) =>
  t.field({
    type: agentPayload("InterruptAgentPayload"),
    description:
      "Ends the agent's turn: the model call and running tools are aborted, open calls are sealed. Its background shells end, also those of an idle agent, which is left as it is otherwise.",
    args: { input: t.arg({ type: InterruptAgentInput, required: true, description: "Which turn, and why." }) },
    resolve: (_root, { input }, context) => interruptAgent(context, input.agentId, input.note ?? null),
  }),
);

const RetryTurnInput = builder.inputType("RetryTurnInput", {
  description: "Which agent's last turn to retry.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "The agent." }),
    idempotencyKey: t.string({ description: "The same key with the same input retries once." }),
  }),
});

builder.mutationField("retryTurn", (t) =>
  t.field({
    type: agentPayload("RetryTurnPayload"),
    description:
      "Begins a new turn for the messages of the last one, which ended with an error or was interrupted. The conversation stays: the model reads what that turn did.",
    args: { input: t.arg({ type: RetryTurnInput, required: true, description: "Which agent." }) },
    resolve: (_root, { input }, context) => retryTurn(context, input.agentId, input.idempotencyKey ?? null),
  }),
);

const RenameAgentInput = builder.inputType("RenameAgentInput", {
  description: "Which agent, and what to call it.",
  fields: (t) => ({
    agentId: t.id({ required: true, description: "The agent." }),
    title: t.string({ description: "One line of at most 200 characters; none if omitted or empty." }),
  }),
});

builder.mutationField("renameAgent", (t) =>
  t.field({
    type: agentPayload("RenameAgentPayload"),
    description: "Gives an agent another title. One that it has already stays, without an event.",
    args: { input: t.arg({ type: RenameAgentInput, required: true, description: "Which agent, and its title." }) },
    resolve: (_root, { input }, context) => renameAgent(context, input.agentId, input.title ?? null),
  }),
);

const ArchiveAgentInput = builder.inputType("ArchiveAgentInput", {
  description: "Which agent to archive.",
  fields: (t) => ({ agentId: t.id({ required: true, description: "The agent." }) }),
});

builder.mutationField("archiveAgent", (t) =>
  t.field({
    type: agentPayload("ArchiveAgentPayload"),
    description:
      "Archives an agent: it takes no more messages, and is not listed unless it is asked for. What is under way ends as it would have, but for background shells, which are ended. One that is archived stays as it is.",
    args: { input: t.arg({ type: ArchiveAgentInput, required: true, description: "Which agent." }) },
    resolve: (_root, { input }, context) => archiveAgent(context, input.agentId, true),
  }),
);

const UnarchiveAgentInput = builder.inputType("UnarchiveAgentInput", {
  description: "Which agent to take back.",
  fields: (t) => ({ agentId: t.id({ required: true, description: "The agent." }) }),
});

builder.mutationField("unarchiveAgent", (t) =>
  t.field({
    type: agentPayload("UnarchiveAgentPayload"),
    description: "Takes an archived agent back: it takes messages again. One that is not archived stays as it is.",
    args: { input: t.arg({ type: UnarchiveAgentInput, required: true, description: "Which agent." }) },
    resolve: (_root, { input }, context) => archiveAgent(context, input.agentId, false),
  }),
);
