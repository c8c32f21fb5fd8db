import type { MemorySettings } from "../../agent/calls/memory/memory-rows.ts";
import type { Template as Configured } from "../../agent/loop/scope.ts";
import type { Tool as ConfiguredTool } from "../../agent/tools/tool.ts";
import type { Permission, PolicyBox } from "../../agent/policy/permission.ts";
import { changeOfTool, type DefinitionChange } from "../../resolvers/tool-pin.ts";
import {
  boxOf,
  hooksOf,
  modelNamed,
  models,
  permissionOf,
  rulesOf,
  templateNamed,
  templates,
  tools,
  toolsOf,
  type ListedRule,
  type NamedModel,
} from "../../resolvers/template.ts";
import type { TemplateVersionSnapshot } from "../../events/snapshots.ts";
import { describedLower, builder } from "../builder.ts";
import { Risk, ToolSource } from "../enums.ts";

const MemoryPer = builder.enumType("MemoryPer", {
  description: "Agents of a template that share a memory.",
  values: describedLower<MemorySettings["per"]>({
    requester: "Those of one requester, with the agents below them.",
    template: "All agents of the template.",
  }),
});

export const Model = builder.objectRef<NamedModel>("Model").implement({
  description: "A configured model.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Name in the configuration: pass it to `createAgent`." }),
    displayName: t.exposeString("displayName", { description: "Provider and model." }),
  }),
});

const ToolChange = builder.objectRef<DefinitionChange>("ToolChange").implement({
  description: "Difference between the definition of an MCP server's tool and the accepted one.",
  fields: (t) => ({
    reason: t.exposeString("reason", { description: "Reason, as approvals say it." }),
    accepted: t.exposeString("accepted", {
      nullable: true,
      description:
        "Accepted definition, as canonical JSON (RFC 8785) whose invisible characters are escaped. Null for a tool that is new.",
    }),
    acceptedAt: t.expose("acceptedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which it was accepted. Null for a tool that is new.",
    }),
    present: t.exposeString("present", { description: "Present definition, in the same form." }),
    digest: t.exposeString("digest", { description: "SHA-256 of the present definition, in hex: pass it to `acceptTool`." }),
  }),
});

export const Tool = builder.objectRef<ConfiguredTool>("Tool").implement({
  description: "A tool that agents can use.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Name used by models and in rules." }),
    description: t.exposeString("description", { description: "Description for models." }),
    inputSchema: t.field({
      type: "JSON",
      description: "JSON Schema of the input.",
      resolve: ({ inputSchema }) => inputSchema,
    }),
    outputSchema: t.field({
      type: "JSON",
      nullable: true,
      description: "JSON Schema of the results that `completeToolCall` takes. Null for any.",
      resolve: ({ outputSchema }) => outputSchema,
    }),
    isReadOnly: t.exposeBoolean("readOnly", { description: "True if the tool changes nothing." }),
    isIdempotent: t.exposeBoolean("idempotent", {
      description: "True if a repeated run has no further effect. Such a call runs again if its server stopped.",
    }),
    isCacheable: t.exposeBoolean("cacheable", {
      description:
        "True if an identical call reuses the earlier result, until the agent changes something or one of the files it depends on changes.",
    }),
    risk: t.expose("risk", { type: Risk, description: "Default risk of its calls." }),
    source: t.expose("source", { type: ToolSource, description: "Where the tool comes from." }),
    server: t.exposeString("server", { nullable: true, description: "Name of its MCP server. Null for other tools." }),
    prompt: t.exposeString("prompt", {
      nullable: true,
      description: "Its section of the tools manual, with which the system prompt of its agents ends. Null for none.",
    }),
    change: t.field({
      type: ToolChange,
      nullable: true,
      description:
        "Difference from the definition that administrators accepted: until one accepts it, every call needs approval. Null without a difference, and for viewers who are not administrators.",
      resolve: (tool, _args, context) => changeOfTool(context, tool),
    }),
    unavailable: t.exposeString("unavailable", {
      nullable: true,
      description: "Reason why it cannot be called at present. Null if it can.",
    }),
  }),
});

export const TemplateVersion = builder.objectRef<TemplateVersionSnapshot>("TemplateVersion").implement({
  description: "Version of a template.",
  fields: (t) => ({
    digest: t.exposeString("digest", {
      description: "SHA-256 of the template's data (prompt, model, limits, permission) and version name, in hex.",
    }),
    version: t.exposeString("version", {
      nullable: true,
      description: "Name in the configuration. Null if none was configured.",
    }),
  }),
});

const RuleList = builder.enumType("RuleList", {
  description: "List of a permission block.",
  values: describedLower<ListedRule["list"]>({
    deny: "Matching calls and hosts are denied.",
    allow: "Matching calls run, and matching hosts are reached, without asking.",
    ask: "Matching calls need approval.",
  }),
});

export const TemplateRule = builder.objectRef<ListedRule>("TemplateRule").implement({
  description: "A permission rule of the configuration.",
  fields: (t) => ({
    list: t.expose("list", { type: RuleList, description: "List that contains the rule." }),
    rule: t.exposeString("rule", {
      description: "The rule as written. `explanation.rule` of a call adds the name of the list in front of it.",
    }),
    place: t.exposeString("place", {
      description:
        "Path in the configuration, for example `templates.assistant.permission.allow.2`. It equals `explanation.place` of the calls that it decided.",
    }),
  }),
});

const TemplatePermission = builder.objectRef<Permission>("TemplatePermission").implement({
  description: "Permission block that applies to the agents of a template.",
  fields: (t) => ({
    mode: t.string({
      description: "Name of the mode that decides calls not decided by any list.",
      resolve: ({ mode }) => mode.name,
    }),
    rules: t.field({
      type: [TemplateRule],
      description: "Rules of all lists, in the order deny, allow, ask, at most 300.",
      resolve: (permission) => [...rulesOf(permission)],
    }),
    allowTools: t.stringList({
      nullable: true,
      description: "The only tools that are not denied. Null if all may be used.",
      resolve: ({ allowTools }) => allowTools && [...allowTools],
    }),
    denyTools: t.stringList({ description: "Tools that are denied.", resolve: ({ denyTools }) => [...denyTools] }),
    autoAllowTools: t.stringList({
      description: "Tools that run without asking.",
      resolve: ({ autoAllowTools }) => [...autoAllowTools],
    }),
    autoAllowInBox: t.stringList({
      description: "Tools that run without asking if programs run in a sandbox.",
      resolve: ({ autoAllowInBox }) => [...autoAllowInBox],
    }),
    requireApprovalTools: t.stringList({
      description: "Tools that need approval.",
      resolve: ({ requireApprovalTools }) => [...requireApprovalTools],
    }),
    readOnlyCommands: t.exposeBoolean("readOnlyCommands", {
      description: "True if command lines that only read run without asking.",
    }),
  }),
});

const TemplateBox = builder.objectRef<PolicyBox>("TemplateBox").implement({
  description: "Sandbox (box) in which programs of the agents run.",
  fields: (t) => ({
    protectedPaths: t.stringList({
      description: "Paths that programs may read but not change, relative to the workspace.",
      resolve: ({ protectedPaths }) => [...protectedPaths],
    }),
  }),
});

const OnTemplateChange = builder.enumType("OnTemplateChange", {
  description: "Version of a changed template with which later turns of an agent begin.",
  values: describedLower<Configured["onTemplateChange"]>({
    take: "The present version.",
    keep: "The version of the agent's latest turn. The denials and questions of the present permission apply as well.",
  }),
});

/** A template by its id. `configured` is null if the server does not have it. */
export type NamedTemplate = { readonly templateId: string; readonly configured: Configured | null };

export const Template = builder.objectRef<NamedTemplate>("Template");

builder.node(Template, {
  description: "A template from which agents are created.",
  id: { resolve: ({ templateId }) => templateId, description: "Relay id of the template." },
  loadOne: (id, context) => templateNamed(context, id),
  fields: (t) => ({
    templateId: t.exposeID("templateId", { description: "Id in the configuration: pass it to `createAgent`." }),
    isConfigured: t.boolean({
      description:
        "False if the template is no longer configured for the tenant. All other fields but the ids and the name are then null or empty.",
      resolve: ({ configured }) => configured !== null,
    }),
    name: t.string({
      description: "Name for people. The template id if none is configured.",
      resolve: ({ templateId, configured }) => configured?.name ?? templateId,
    }),
    description: t.string({
      nullable: true,
      description: "Purpose of the agents. Null if none is configured.",
      resolve: ({ configured }) => configured?.description ?? null,
    }),
    version: t.string({
      nullable: true,
      description: "Name of this version in the configuration. Null if none is configured.",
      resolve: ({ configured }) => configured?.version ?? null,
    }),
    digest: t.string({
      nullable: true,
      description: "Digest of the present version. Null if the template is not configured.",
      resolve: ({ configured }) => configured?.digest ?? null,
    }),
    onTemplateChange: t.field({
      type: OnTemplateChange,
      nullable: true,
      description: "Version of later turns of an agent. Null if the template is not configured.",
      resolve: ({ configured }) => configured?.onTemplateChange ?? null,
    }),
    memoryPer: t.field({
      type: MemoryPer,
      nullable: true,
      description: "Agents that share a memory. Null if they have none.",
      resolve: ({ configured }) => configured?.memory?.per ?? null,
    }),
    metadata: t.field({
      type: "JSON",
      nullable: true,
      description: "JSON of the configuration for programs, at most 16 KB. Null if the template is not configured.",
      resolve: ({ configured }) => configured?.metadata ?? null,
    }),
    model: t.field({
      type: Model,
      nullable: true,
      description: "Default model of the agents. Null if the template is not configured.",
      resolve: ({ configured }, _args, context) => modelNamed(context, configured?.model ?? null),
    }),
    fallbackModel: t.field({
      type: Model,
      nullable: true,
      description: "Model that continues a turn if the first model fails. Null if none is configured.",
      resolve: ({ configured }, _args, context) => modelNamed(context, configured?.fallbackModel ?? null),
    }),
    outputSchema: t.field({
      type: "JSON",
      nullable: true,
      description: "JSON Schema of the answers of its agents. Null for answers in text.",
      resolve: ({ configured }) => configured?.outputSchema ?? null,
    }),
    tools: t.field({
      type: [Tool],
      description: "Tools of the agents, each once, including unavailable ones.",
      resolve: ({ configured }, _args, context) => toolsOf(context, configured),
    }),
    permission: t.field({
      type: TemplatePermission,
      nullable: true,
      description:
        "Permission of the agents. Null if the template is not configured, or if the viewer may not read the tenant (READ_TENANT).",
      resolve: ({ configured }, _args, context) => permissionOf(context, configured),
    }),
    box: t.field({
      type: TemplateBox,
      nullable: true,
      description:
        "Sandbox of the agents' programs. Null if there is none, or if the viewer may not read the tenant (READ_TENANT).",
      resolve: ({ configured }, _args, context) => boxOf(context, configured),
    }),
    hooks: t.stringList({
      description:
        "Configuration paths of its hooks, by kind and in order. Empty if the viewer may not read the tenant (READ_TENANT).",
      resolve: ({ configured }, _args, context) => [...hooksOf(context, configured)],
    }),
    approvalQuorum: t.int({
      nullable: true,
      description: "Number of people who must allow a call. Null if the template is not configured.",
      resolve: ({ configured }) => configured?.approvalQuorum ?? null,
    }),
    allowsSelfApproval: t.boolean({
      nullable: true,
      description: "Whether people may decide on what they asked for. Null if the template is not configured.",
      resolve: ({ configured }) => configured?.selfApproval ?? null,
    }),
  }),
});

builder.queryField("templates", (t) =>
  t.field({
    type: [Template],
    description: "Templates of the configuration that are available to the viewer's tenant.",
    resolve: (_root, _args, context) => templates(context),
  }),
);

builder.queryField("tools", (t) =>
  t.field({
    type: [Tool],
    description: "Tools of the viewer's tenant: built-in ones, those of the configuration and those of MCP servers.",
    resolve: (_root, _args, context) => tools(context),
  }),
);

builder.queryField("models", (t) =>
  t.field({
    type: [Model],
    description: "Models of the configuration that are available to the viewer's tenant.",
    resolve: (_root, _args, context) => models(context),
  }),
);
