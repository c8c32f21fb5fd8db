import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import canonicalize from "canonicalize";
import type { WantedSchedule } from "../agent/calls/schedules/schedule.ts";
import { readSchedule } from "../agent/calls/schedules/template-schedules.ts";
import { toolboxOf } from "../agent/calls/stages/validation.ts";
import type { ConfiguredTemplates } from "../agent/loop/template-versions.ts";
import { type Template } from "../agent/loop/scope.ts";
import { type Hooks } from "../agent/conversation/agent-template.ts";
import { CONTEXT_SETTINGS } from "../agent/conversation/scope.ts";
import type { Model } from "../agent/models/model.ts";
import type { Permission, CustomMode } from "../agent/policy/permission.ts";
import { readPermission, type PermissionSource, type Vocabulary } from "../agent/policy/permission-source.ts";
import { type Placed, listOf, type HookList } from "../agent/tools/tool-hooks.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { isServerTool } from "../agent/tools/tool.ts";
import { compileShape } from "../agent/tools/shapes/compiled-shape.ts";
import { boundsProblem } from "../agent/tools/shapes/shape.ts";
import { protectedPaths } from "../agent/workspace/sandbox/protected-paths.ts";
import { isJsonObject, isNestedDeeper, MOST_LEVELS, toJson, type JsonObject } from "../lib/json.ts";
import { complete } from "../lib/setting.ts";
import { byteLength } from "../lib/text.ts";
import { withClientTools, type DeclaredClientTools } from "./client-tools.ts";
import { budgetsOf } from "./budgets.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import type { Environment } from "./environment.ts";
import { keptTemplate } from "./kept-templates.ts";
import { TOOLS_BY_SETTING } from "./presets.ts";
import { completeTemplate, type HooksConfig, type TemplateConfig } from "./template-settings.ts";
import { modelsOf, type ModelConfig } from "./models.ts";

export function hooksOf(all: HooksConfig, place: string, own: HooksConfig): Hooks {
  const placed = <Hook>(kind: keyof HooksConfig, ofAll: HookList<Hook> | undefined, ofOwn: HookList<Hook> | undefined) => [
    ...placedHooks(`hooks.${kind}`, listOf(ofAll)),
    ...placedHooks(`${place}.${kind}`, listOf(ofOwn)),
  ];
  return {
    preToolUse: placed("preToolUse", all.preToolUse, own.preToolUse),
    postToolUse: placed("postToolUse", all.postToolUse, own.postToolUse),
    around: placed("around", all.around, own.around),
    preModel: placed("preModel", all.preModel, own.preModel),
    postModel: placed("postModel", all.postModel, own.postModel),
    messagesChanged: placed("messagesChanged", all.messagesChanged, own.messagesChanged),
  };
}

export function agentHooksOf(written: Readonly<Record<string, HooksConfig>>): ReadonlyMap<string, Hooks> {
  return new Map(Object.entries(written).map(([name, hooks]) => [name, hooksOf({}, `agentHooks.${name}`, hooks)]));
}

function placedHooks<Hook>(place: string, hooks: readonly Hook[]): readonly Placed<Hook>[] {
  return hooks.map((run, index) => ({ place: `${place}.${index}`, run }));
}

export type TemplateSource = {
  readonly path: string;
  readonly id: string;
  readonly place: string;
  readonly config: TemplateConfig;
  readonly hooks: HooksConfig;
  readonly protect: readonly string[];
  readonly modelNames: readonly string[];
  readonly templateNames: readonly string[];
  readonly vocabulary: Vocabulary;
};

export function templateOf({
  path,
  id,
  place,
  config,
  hooks,
  protect,
  modelNames,
  templateNames,
  vocabulary,
}: TemplateSource): Template {
  const field = `${path}: ${place}`;
  const problems = new Problems();
  for (const role of ["model", "fallbackModel"] as const)
    problems.of(() => checkModel(`${field}.${role}`, config[role], modelNames));
  for (const [index, { model }] of (config.fallbacks ?? []).entries())
    problems.of(() => checkModel(`${field}.fallbacks.${index}.model`, model, modelNames));
  problems.of(() => checkContext(`${field}.context`, config.context, modelNames));
  problems.of(() => checkMetadata(`${field}.metadata`, config.metadata));
  problems.of(() => checkShape(`${field}.outputSchema`, config.outputSchema));
  const available = toolboxOf(vocabulary.tools, {
    tools: null,
    clientTools: config.clientTools ?? {},
    subagents: config.subagents ?? null,
    memory: config.memory ?? null,
  }).enabled;
  problems.of(() => checkTools(`${field}.tools`, config.tools, available));
  const permission = problems.of(() => permissionOf(path, `${place}.permission`, config.permission ?? {}, vocabulary));
  problems.of(() => checkSubagents(`${field}.subagents`, config.subagents, templateNames));
  const schedules = (config.schedules ?? []).flatMap(
    (schedule, index) => problems.of(() => scheduleOf(`${field}.schedules.${index}`, schedule)) ?? [],
  );
  const budgets = problems.of(() => budgetsOf(`${field}.budgets`, config.budgets ?? [], id)) ?? [];
  const override = config.subagents?.overrides?.permission;
  if (override !== undefined)
    problems.of(() => permissionOf(path, `${place}.subagents.overrides.permission`, override, vocabulary));
  const plain = completeTemplate(config);
  const data = dataOf(config);
  return {
    id,
    ...plain,
    data,
    digest: digestOf(data),
    presentPermission: null,
    childPermissions: override === undefined ? [] : [override],
    above: [],
    schedules,
    budgets,
    box: plain.sandbox === "none" ? null : { protectedPaths: protectedPaths(protect) },
    ...problems.none({ permission }),
    hooks: hooksOf(hooks, `${place}.hooks`, config.hooks ?? {}),
  };
}

/** The data of a version of a template. Limits of spending are those of the configuration, whatever version an agent keeps. */
function dataOf({
  hooks: _hooks,
  name: _name,
  description: _description,
  metadata: _metadata,
  onTemplateChange: _onTemplateChange,
  budgets: _budgets,
  ...data
}: TemplateConfig): JsonObject {
  const json = toJson(data);
  if (!isJsonObject(json)) throw new Error("a template is an object");
  return json;
}

function digestOf(data: JsonObject): string {
  return createHash("sha256")
    .update(canonicalize(data) ?? "")
    .digest("hex");
}

function scheduleOf(field: string, schedule: NonNullable<TemplateConfig["schedules"]>[number]): WantedSchedule {
  const read = readSchedule(schedule, new Date());
  if (read.ok) return read.value;
  throw new ConfigurationError(`${[field, ...read.refusal.field].join(".")}: ${read.refusal.message}`);
}

function permissionOf(path: string, place: string, source: PermissionSource, vocabulary: Vocabulary): Permission {
  const { permission, problems } = readPermission(source, place, vocabulary);
  if (problems.length === 0) return permission;
  throw new ConfigurationError(
    problems.map(({ field, message }) => `${path}: ${[place, ...field].join(".")}: ${message}`).join("\n"),
  );
}

function checkModel(field: string, name: string | undefined, known: readonly string[]): void {
  if (name !== undefined && !known.includes(name))
    throw new ConfigurationError(`${field}: there is no model ${JSON.stringify(name)}: the models are ${known.join(", ")}`);
}

function checkShape(field: string, schema: JsonObject | undefined): void {
  if (schema === undefined) return;
  const compiled = boundsProblem(schema) ?? compileShape(schema);
  if (typeof compiled === "function") return;
  const [{ path, message } = { path: "/", message: "is no usable JSON Schema" }] = "path" in compiled ? [compiled] : compiled;
  throw new ConfigurationError(`${field}${path === "/" ? "" : ` at ${path}`} ${message}`);
}

function checkContext(field: string, written: TemplateConfig["context"], models: readonly string[]): void {
  checkModel(`${field}.model`, written?.model, models);
  const { target, compressAt } = complete(CONTEXT_SETTINGS, written ?? {});
  if (target >= compressAt) throw new ConfigurationError(`${field}.target must be less than compressAt (${compressAt})`);
}

const METADATA_BYTES = 16 * 1024;

/** Clients get it as JSON: it must be the same there. */
function checkMetadata(field: string, metadata: unknown): void {
  if (metadata === undefined) return;
  const json = toJson(metadata);
  if (json === undefined || !isDeepStrictEqual(json, metadata))
    throw new ConfigurationError(`${field} must be JSON: texts, finite numbers, booleans, null, lists and plain objects`);
  if (isNestedDeeper(json, MOST_LEVELS)) throw new ConfigurationError(`${field} must have at most ${MOST_LEVELS} levels`);
  const bytes = byteLength(JSON.stringify(json));
  if (bytes > METADATA_BYTES) throw new ConfigurationError(`${field} has ${bytes} bytes of JSON: at most ${METADATA_BYTES}`);
}

function checkSubagents(field: string, subagents: TemplateConfig["subagents"], known: readonly string[]): void {
  const unknown = subagents?.templates.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new ConfigurationError(
      `${field}.templates: there is no template ${JSON.stringify(unknown)}: the templates are ${known.join(", ")}`,
    );
}

/** All tools of an MCP server. */
const SERVER = /^mcp__[A-Za-z0-9_-]+__\*$/;

function checkTools(field: string, names: readonly string[] | undefined, tools: ReadonlyMap<string, Tool>): void {
  for (const [index, name] of (names ?? []).entries()) {
    const setting = TOOLS_BY_SETTING.get(name);
    if (setting !== undefined && !tools.has(name))
      throw new ConfigurationError(`${field}.${index}: the tool ${name} needs ${setting.example} in the template`);
    if (!tools.has(name) && !isServerTool(name) && !SERVER.test(name))
      throw new ConfigurationError(
        `${field}.${index}: there is no tool ${JSON.stringify(name)}: the tools are ${[...tools.keys()].join(", ")}${name.startsWith("mcp__") ? ". All tools of an MCP server are mcp__SERVER__*" : ""}`,
      );
  }
}

export type Offer = {
  readonly templates: ReadonlyMap<string, Template>;
  readonly models: ReadonlyMap<string, Model>;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly keptTemplate: ConfiguredTemplates["keptTemplate"];
};

type WrittenOffer = {
  readonly templates: Readonly<Record<string, TemplateConfig>>;
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly tools: readonly Tool[];
};

/** The common parts of every offer. Its templates are built again in each offer, with the offer's own tools and models. */
export type OfferSource = {
  readonly path: string;
  readonly folder: string;
  readonly environment: Environment;
  readonly onRead: (path: string) => void;
  readonly hooks: HooksConfig;
  readonly modes: ReadonlyMap<string, CustomMode>;
  readonly protect: readonly string[];
  readonly templates: Readonly<Record<string, TemplateConfig>>;
};

/**
 * An offer: its written parts and the common ones, with notes for the operator. Common templates are built for each
 * offer, since their rules apply to the offer's own tools too. `place` precedes its names in messages, as in
 * `tenants.acme.`. Throws ConfigurationError for a problem, or for a name that exists already.
 */
export async function offerOf(
  { path, folder, environment, onRead, hooks, modes, protect, templates }: OfferSource,
  place: string,
  written: WrittenOffer,
  shared: Pick<Offer, "models" | "tools">,
): Promise<Offer & { readonly notes: readonly string[] }> {
  const problems = new Problems();
  problems.of(() => refuseTaken(`${path}: ${place}templates`, Object.keys(written.templates), new Set(Object.keys(templates))));
  problems.of(() => refuseTaken(`${path}: ${place}models`, Object.keys(written.models), shared.models));
  const registered = problems.of(() => toolsOf(`${path}: ${place}tools`, written.tools, withoutClientTools(shared.tools)));
  const declared = [...declaredIn("", templates), ...declaredIn(place, written.templates)];
  const placeOf = (tool: Tool): string =>
    tool.source === "BUILTIN"
      ? `the built-in tool ${tool.name}`
      : `the tool ${tool.name} of ${written.tools.includes(tool) ? place : ""}tools`;
  const tools = problems.of(() => withClientTools(path, registered ?? shared.tools, declared, placeOf));
  const known = tools ?? registered ?? shared.tools;
  const own = await problems.ofLater(() =>
    modelsOf(`${path}: ${place}models`, written.models, { folder, environment, onRead, tools: known }),
  );
  const models = new Map([...shared.models, ...(own?.models ?? [])]);
  // A problem of a model is reported once, not for each template that names it.
  const modelNames = [...new Set([...models.keys(), ...Object.keys(written.models)])];
  const templateNames = [...Object.keys(templates), ...Object.keys(written.templates)];
  const vocabulary = { tools: known, modes };
  const made = (from: string, configs: Readonly<Record<string, TemplateConfig>>): (readonly [string, Template])[] =>
    Object.entries(configs).flatMap(([id, config]) => {
      const source = { path, id, place: `${from}templates.${id}`, config, hooks, protect, modelNames, templateNames, vocabulary };
      const template = problems.of(() => templateOf(source));
      return template === null ? [] : [[id, template]];
    });
  const all = new Map([...made("", templates), ...made(place, written.templates)]);
  const whole = problems.none({ own, tools });
  return {
    templates: all,
    models,
    tools: whole.tools,
    keptTemplate: (present, version, onNote) => keptTemplate({ protect, vocabulary }, present, version, onNote),
    notes: whole.own.notes,
  };
}

/** Each offer declares the client tools of the common templates again, so that a clash names both places. */
function withoutClientTools(tools: ReadonlyMap<string, Tool>): ReadonlyMap<string, Tool> {
  return new Map([...tools].filter(([, { source }]) => source !== "CLIENT"));
}

function declaredIn(place: string, templates: Readonly<Record<string, TemplateConfig>>): readonly DeclaredClientTools[] {
  return Object.entries(templates).map(([id, { clientTools = {} }]) => ({ place: `${place}templates.${id}`, clientTools }));
}

function toolsOf(field: string, own: readonly Tool[], shared: ReadonlyMap<string, Tool>): Map<string, Tool> {
  const tools = new Map(shared);
  for (const [index, tool] of own.entries()) {
    if (tools.has(tool.name))
      throw new ConfigurationError(`${field}.${index} is named ${tool.name}, as another tool is: rename it`);
    tools.set(tool.name, tool);
  }
  return tools;
}

function refuseTaken(field: string, names: readonly string[], taken: { has(name: string): boolean }): void {
  const name = names.find((own) => taken.has(own));
  if (name !== undefined) throw new ConfigurationError(`${field}.${name} is named as one that is everybody's: rename it`);
}
