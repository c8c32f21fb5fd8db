import type { Template as Configured } from "../agent/loop/template.ts";
import type { Tool as ConfiguredTool } from "../agent/tools/tool.ts";
import type { Permission, PolicyBox } from "../agent/policy/permission.ts";
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
} from "../resolvers/template.ts";
import { describedLower } from "./described.ts";
import { builder } from "./builder.ts";
import { Risk } from "./enums.ts";

export const Model = builder.objectRef<NamedModel>("Model").implement({
  description: "A configured model.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Its name in the configuration: `createAgent` takes it." }),
    displayName: t.exposeString("displayName", { description: "What it is: provider and model." }),
  }),
});

export const Tool = builder.objectRef<ConfiguredTool>("Tool").implement({
  description: "A tool that agents may have.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "The name by which models and rules call it." }),
    description: t.exposeString("description", { description: "What it does, as models read it." }),
    inputSchema: t.field({
      type: "JSON",
      description: "The JSON Schema of its input.",
      resolve: ({ inputSchema }) => inputSchema,
    }),
    isReadOnly: t.exposeBoolean("readOnly", { description: "Whether it changes nothing." }),
    isIdempotent: t.exposeBoolean("idempotent", {
      description: "Whether a second run changes nothing that the first did not: a call is run again if its server died.",
    }),
    isCacheable: t.exposeBoolean("cacheable", {
      description:
        "Whether a call of the same is given the earlier answer, as long as its agent changes nothing and its files are as they were.",
    }),
    risk: t.expose("risk", { type: Risk, description: "How much a call could change." }),
  }),
});

const RuleList = builder.enumType("RuleList", {
  description: "A list of a permission block.",
  values: describedLower<ListedRule["list"]>({
    deny: "A call, or a host, that a rule of it speaks of is denied.",
    allow: "It runs, or is reached, without asking.",
    ask: "A person is asked.",
  }),
});

const TemplateRule = builder.objectRef<ListedRule>("TemplateRule").implement({
  description: "A rule of the configuration.",
  fields: (t) => ({
    list: t.expose("list", { type: RuleList, description: "The list in which it stands." }),
    rule: t.exposeString("rule", {
      description: "The rule, as it is written; `explanation.rule` of a call that it decided has the list before it.",
    }),
    place: t.exposeString("place", { description: "Where it stands: `explanation.place` of a call that it decided." }),
  }),
});

const TemplatePermission = builder.objectRef<Permission>("TemplatePermission").implement({
  description: "The permission block by which a template's agents are judged.",
  fields: (t) => ({
    mode: t.string({ description: "What happens to calls of which no list speaks.", resolve: ({ mode }) => mode.name }),
    rules: t.field({
      type: [TemplateRule],
      description: "Its rules, list by list, in order; at most 300.",
      resolve: (permission) => [...rulesOf(permission)],
    }),
    allowTools: t.stringList({
      nullable: true,
      description: "The only tools that may be called; null for all.",
      resolve: ({ allowTools }) => allowTools && [...allowTools],
    }),
    denyTools: t.stringList({ description: "Tools that are denied.", resolve: ({ denyTools }) => [...denyTools] }),
    autoAllowTools: t.stringList({
      description: "Tools that run without asking.",
      resolve: ({ autoAllowTools }) => [...autoAllowTools],
    }),
    autoAllowInBox: t.stringList({
      description: "Tools that run without asking where programs run in a box.",
      resolve: ({ autoAllowInBox }) => [...autoAllowInBox],
    }),
    requireApprovalTools: t.stringList({
      description: "Tools that are asked for.",
      resolve: ({ requireApprovalTools }) => [...requireApprovalTools],
    }),
    readOnlyCommands: t.exposeBoolean("readOnlyCommands", {
      description: "Whether command lines that only read run without asking.",
    }),
  }),
});

const TemplateBox = builder.objectRef<PolicyBox>("TemplateBox").implement({
  description: "The box in which programs of a template's agents run.",
  fields: (t) => ({
    protectedPaths: t.stringList({
      description: "What programs may read and not change, from the workspace's root.",
      resolve: ({ protectedPaths }) => [...protectedPaths],
    }),
  }),
});

/** A template by its id, whether the server still has it or not. */
export type NamedTemplate = { readonly templateId: string; readonly configured: Configured | null };

export const Template = builder.objectRef<NamedTemplate>("Template");

builder.node(Template, {
  description: "What agents are made from.",
  id: { resolve: ({ templateId }) => templateId, description: "The same for all agents of it." },
  loadOne: (id, context) => templateNamed(context, id),
  fields: (t) => ({
    templateId: t.exposeID("templateId", { description: "Its id in the configuration: `createAgent` takes it." }),
    isConfigured: t.boolean({
      description: "Whether the tenant still has it. The other fields are null or empty where it has not.",
      resolve: ({ configured }) => configured !== null,
    }),
    model: t.field({
      type: Model,
      nullable: true,
      description: "The model that its agents use if they are not given another.",
      resolve: ({ configured }, _args, context) => modelNamed(context, configured?.model ?? null),
    }),
    fallbackModel: t.field({
      type: Model,
      nullable: true,
      description: "The model that answers the rest of a turn if the first one cannot.",
      resolve: ({ configured }, _args, context) => modelNamed(context, configured?.fallbackModel ?? null),
    }),
    tools: t.field({
      type: [Tool],
      description: "The tools that its agents have, each once.",
      resolve: ({ configured }, _args, context) => toolsOf(context, configured),
    }),
    permission: t.field({
      type: TemplatePermission,
      nullable: true,
      description: "How its agents' calls are judged, for those who read the tenant; null for others.",
      resolve: ({ configured }, _args, context) => permissionOf(context, configured),
    }),
    box: t.field({
      type: TemplateBox,
      nullable: true,
      description: "The box of its programs, for those who read the tenant; null for others, and where there is none.",
      resolve: ({ configured }, _args, context) => boxOf(context, configured),
    }),
    hooks: t.stringList({
      description:
        "The places of its hooks in the configuration, by kind and in order, for those who read the tenant; empty for others.",
      resolve: ({ configured }, _args, context) => [...hooksOf(context, configured)],
    }),
    approvalQuorum: t.int({
      nullable: true,
      description: "How many people must allow a call.",
      resolve: ({ configured }) => configured?.approvalQuorum ?? null,
    }),
    allowsSelfApproval: t.boolean({
      nullable: true,
      description: "Whether people may decide on what they asked for.",
      resolve: ({ configured }) => configured?.selfApproval ?? null,
    }),
  }),
});

builder.queryField("templates", (t) =>
  t.field({
    type: [Template],
    description:
      "What agents can be made from: all templates of the configuration that the tenant of who asks has, everybody's and its own.",
    resolve: (_root, _args, context) => templates(context),
  }),
);

builder.queryField("tools", (t) =>
  t.field({
    type: [Tool],
    description: "All tools that the tenant of who asks has: the server's, everybody's of the configuration, and its own.",
    resolve: (_root, _args, context) => tools(context),
  }),
);

builder.queryField("models", (t) =>
  t.field({
    type: [Model],
    description: "All models of the configuration that the tenant of who asks has, everybody's and its own.",
    resolve: (_root, _args, context) => models(context),
  }),
);
