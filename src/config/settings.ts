import { access, readFile, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { anthropicModel } from "../agent/models/anthropic.ts";
import type { Model, TokenPrice } from "../agent/models/model.ts";
import { openAiModel } from "../agent/models/openai.ts";
import { parseScript } from "../agent/models/script.ts";
import { scriptedModel } from "../agent/models/scripted.ts";
import { BUILTIN_MODES, type CustomMode, type Permission } from "../agent/policy/permission.ts";
import { readPermission, type Vocabulary } from "../agent/policy/permission-source.ts";
import type { Hooks, Template } from "../agent/loop/template.ts";
import type { Placed } from "../agent/tools/hook.ts";
import type { Listeners } from "../deliveries/listeners.ts";
import type { ToolLimits } from "../agent/calls/slots.ts";
import { BUILTIN_TOOLS } from "../agent/tools/builtin.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { checkForm } from "./config-schema.ts";
import type {
  HooksConfig,
  ModelConfig,
  PriceConfig,
  RetentionConfig,
  TemplateConfig,
  TriplaneConfig,
  WebhookConfig,
} from "./config.ts";
import type { RetentionPolicy } from "../events/retention.ts";
import { ConfigurationError, type Environment } from "./environment.ts";
import { resolvePackageName } from "./package-name.ts";
import { isLoopback } from "../lib/loopback.ts";
import { isPrivateAddress } from "../lib/private-address.ts";
import { messageOf } from "../lib/text.ts";
import type { Authentication } from "../server/authenticate.ts";
import type { Webhook } from "../deliveries/webhooks.ts";

/** Everything that the operator decided, checked and complete. */
export type Settings = {
  readonly environment: Environment;
  readonly templates: ReadonlyMap<string, Template>;
  readonly models: ReadonlyMap<string, Model>;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly modes: ReadonlyMap<string, CustomMode>;
  readonly agentLimit: number;
  readonly toolLimits: ToolLimits;
  readonly listeners: Listeners;
  readonly retention: RetentionPolicy;
  readonly webhooks: readonly Webhook[];
  /** Real paths; null if any folder may be named. */
  readonly workspaceRoots: readonly string[] | null;
  /** A real path; null if each agent has an empty folder of its own. */
  readonly defaultWorkspace: string | null;
  readonly allowedOrigins: readonly string[];
  readonly authentication: Authentication;
  /** Notes for the operator at the start. */
  readonly notes: readonly string[];
};

/** Reads the configuration file and makes the settings of it. */
export async function loadSettings(environment: Environment): Promise<Settings> {
  const { configPath } = environment;
  await access(configPath).catch(() => {
    throw new ConfigurationError(`there is no configuration file ${configPath}: set TRIPLANE_CONFIG to its path`);
  });
  resolvePackageName();
  const module = (await import(pathToFileURL(configPath).href).catch((error: unknown) => {
    throw new ConfigurationError(`${configPath} cannot be loaded: ${messageOf(error)}`);
  })) as { default?: unknown };
  return makeSettings(environment, configPath, checkForm(configPath, module.default));
}

/** Makes the settings of a configuration. `path` is its file: relative paths in it start there. */
export async function makeSettings(environment: Environment, path: string, config: TriplaneConfig): Promise<Settings> {
  const folder = dirname(path);
  const tools = toolsOf(path, config);
  const vocabulary: Vocabulary = { tools, modes: modesOf(path, config) };
  const models = new Map<string, Model>();
  const notes: string[] = [];
  for (const [name, model] of Object.entries(config.models)) {
    const made = await modelOf(`${path}: models.${name}`, folder, model, environment);
    models.set(name, made.model);
    notes.push(...made.notes);
  }
  const templates = new Map(
    Object.entries(config.templates).map(([id, template]) => [
      id,
      templateOf({ path, id, config: template, all: config, models, vocabulary }),
    ]),
  );
  const authentication = authenticationOf(path, config);
  if (authentication.kind === "local" && !isLoopback(environment.host)) {
    throw new ConfigurationError(
      `HOST is ${environment.host}, but nobody is configured who may connect: add \`actors\` or \`authenticate\` to ${path}, or leave HOST at 127.0.0.1`,
    );
  }
  if (authentication.kind !== "local" && config.workspaceRoots === undefined)
    throw new ConfigurationError(
      `${path}: workspaceRoots is required where actors may connect: name the folders in which agents may work`,
    );
  return {
    environment,
    templates,
    models,
    tools,
    modes: vocabulary.modes,
    listeners: config.on ?? {},
    retention: retentionOf(config.retention ?? {}),
    webhooks: Object.entries(config.webhooks ?? {}).map(([name, webhook]) =>
      webhookOf(`${path}: webhooks.${name}`, name, webhook),
    ),
    agentLimit: config.agentLimit ?? 2_000,
    toolLimits: { running: 32, waiting: 256, waitMs: 180_000, ...config.toolLimits },
    workspaceRoots:
      config.workspaceRoots === undefined
        ? null
        : await Promise.all(
            config.workspaceRoots.map((root, index) => rootOf(`${path}: workspaceRoots.${index}`, resolve(folder, root))),
          ),
    defaultWorkspace:
      config.defaultWorkspace === undefined
        ? null
        : await rootOf(`${path}: defaultWorkspace`, resolve(folder, config.defaultWorkspace)),
    allowedOrigins: config.allowedOrigins ?? [],
    authentication,
    notes,
  };
}

function toolsOf(path: string, config: TriplaneConfig): Map<string, Tool> {
  const tools = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));
  for (const [index, tool] of (config.tools ?? []).entries()) {
    if (tools.has(tool.name))
      throw new ConfigurationError(`${path}: tools.${index} is named ${tool.name}, as another tool is: rename it`);
    tools.set(tool.name, tool);
  }
  return tools;
}

/** A built-in mode of the same name would be taken in its place, without a word. */
function modesOf(path: string, { permissionModes = {} }: TriplaneConfig): Map<string, CustomMode> {
  const builtin: readonly string[] = [...BUILTIN_MODES, "ask"];
  for (const name of Object.keys(permissionModes))
    if (builtin.includes(name))
      throw new ConfigurationError(
        `${path}: permissionModes.${name} is named as a built-in mode is (${builtin.join(", ")}): rename it`,
      );
  return new Map(Object.entries(permissionModes));
}

type Made = { readonly model: Model; readonly notes: readonly string[] };

async function modelOf(field: string, folder: string, config: ModelConfig, environment: Environment): Promise<Made> {
  switch (config.provider) {
    case "scripted":
      return { model: await scripted(field, folder, config.script), notes: [] };
    case "anthropic": {
      const { model, maxTokens = 8_192, thinking = null, stopSequences = [] } = config;
      if (thinking !== null && thinking !== "adaptive" && thinking.budgetTokens >= maxTokens)
        throw new ConfigurationError(`${field}.thinking.budgetTokens must be less than maxTokens (${maxTokens})`);
      const price = priceOf(config.price);
      if (environment.anthropic === null) return withoutKey(field, folder, "ANTHROPIC_API_KEY", config);
      return { model: anthropicModel({ ...environment.anthropic, model, maxTokens, thinking, stopSequences, price }), notes: [] };
    }
    case "openai": {
      const { model, maxTokens = null } = config;
      if (environment.openai === null) return withoutKey(field, folder, "OPENAI_API_KEY or OPENAI_BASE_URL", config);
      return { model: openAiModel({ ...environment.openai, model, maxTokens, price: priceOf(config.price) }), notes: [] };
    }
  }
}

/** The script that stands in for a model whose provider cannot be reached. */
async function withoutKey(
  field: string,
  folder: string,
  missing: string,
  config: { readonly model: string; readonly withoutKey?: string },
): Promise<Made> {
  if (config.withoutKey === undefined)
    throw new ConfigurationError(`${field} needs ${missing}: set it, or name a script to play without it in withoutKey`);
  return {
    model: await scripted(`${field}.withoutKey`, folder, config.withoutKey),
    notes: [
      `${missing} is not set: a scripted model stands in for ${config.model}. It really calls the tools, but knows only a few requests.`,
    ],
  };
}

function priceOf(config: PriceConfig | undefined): TokenPrice | null {
  return config === undefined ? null : { cacheRead: config.input, cacheWrite: config.input, ...config };
}

async function scripted(
  field: string,
  folder: string,
  script: (ModelConfig & { provider: "scripted" })["script"],
): Promise<Model> {
  if (typeof script !== "string") return scriptedModel("inline", parseScript(field, JSON.stringify(script)));
  const path = resolve(folder, script);
  const source = await readFile(path, "utf8").catch((error: unknown) => {
    throw new ConfigurationError(`${field}: ${messageOf(error)}`);
  });
  return scriptedModel(script, parseScript(path, source));
}

/** A template as it is written, and what it may name. */
type TemplateSource = {
  readonly path: string;
  readonly id: string;
  readonly config: TemplateConfig;
  readonly all: TriplaneConfig;
  readonly models: ReadonlyMap<string, Model>;
  readonly vocabulary: Vocabulary;
};

function templateOf({ path, id, config, all, models, vocabulary }: TemplateSource): Template {
  const place = `templates.${id}`;
  const field = `${path}: ${place}`;
  for (const role of ["model", "fallbackModel"] as const) {
    const name = config[role];
    if (name !== undefined && !models.has(name))
      throw new ConfigurationError(
        `${field}.${role}: there is no model ${JSON.stringify(name)}: the models are ${[...models.keys()].join(", ")}`,
      );
  }
  checkTools(`${field}.tools`, config.tools, vocabulary.tools);
  return {
    id,
    systemPrompt: config.systemPrompt,
    model: config.model,
    tools: config.tools ?? null,
    permission: permissionOf(path, `${place}.permission`, config, vocabulary),
    hooks: hooksOf(all.hooks ?? {}, `${place}.hooks`, config.hooks ?? {}),
    toolTimeoutMs: config.toolTimeoutMs ?? 60_000,
    toolConcurrency: config.toolConcurrency ?? 3,
    maxSteps: config.maxSteps ?? 50,
    contextMessages: config.contextMessages ?? 200,
    modelRetries: config.modelRetries ?? 3,
    modelRetryMs: config.modelRetryMs ?? 1_000,
    modelIdleMs: config.modelIdleMs ?? 60_000,
    fallbackModel: config.fallbackModel ?? null,
    exposeThinking: config.exposeThinking ?? false,
    retainThinking: config.retainThinking ?? false,
    slowStepMs: config.slowStepMs ?? 60_000,
    slowToolMs: config.slowToolMs ?? 30_000,
    selfApproval: config.selfApproval ?? false,
    approvalQuorum: config.approvalQuorum ?? 1,
    approvalExpiresMs: config.approvalExpiresMs ?? null,
    unknownOutcome: config.unknownOutcome ?? "seal",
    trace: config.trace ?? false,
  };
}

const DAY_MS = 24 * 60 * 60 * 1_000;

function retentionOf({ eventsDays, deltasDays, outputsDays }: RetentionConfig): RetentionPolicy {
  const ms = (days: number | undefined): number | null => (days === undefined ? null : days * DAY_MS);
  return { eventsMs: ms(eventsDays), deltasMs: ms(deltasDays), outputsMs: ms(outputsDays) };
}

function permissionOf(path: string, place: string, config: TemplateConfig, vocabulary: Vocabulary): Permission {
  const { permission, problems } = readPermission(config.permission ?? {}, place, vocabulary);
  if (problems.length === 0) return permission;
  throw new ConfigurationError(
    problems.map(({ field, message }) => `${path}: ${[place, ...field].join(".")}: ${message}`).join("\n"),
  );
}

/** The hooks of the configuration, then those of the template. */
function hooksOf(all: HooksConfig, place: string, own: HooksConfig): Hooks {
  const placed = <Kind extends keyof HooksConfig>(kind: Kind) => [
    ...placedHooks<NonNullable<HooksConfig[Kind]>[number]>(`hooks.${kind}`, all[kind] ?? []),
    ...placedHooks<NonNullable<HooksConfig[Kind]>[number]>(`${place}.${kind}`, own[kind] ?? []),
  ];
  return {
    preToolUse: placed("preToolUse"),
    postToolUse: placed("postToolUse"),
    around: placed("around"),
    preModel: placed("preModel"),
    postModel: placed("postModel"),
    messagesChanged: placed("messagesChanged"),
  };
}

function placedHooks<Hook>(place: string, hooks: readonly Hook[]): readonly Placed<Hook>[] {
  return hooks.map((run, index) => ({ place: `${place}.${index}`, run }));
}

function checkTools(field: string, names: readonly string[] | undefined, tools: ReadonlyMap<string, Tool>): void {
  for (const [index, name] of (names ?? []).entries()) {
    if (!tools.has(name))
      throw new ConfigurationError(
        `${field}.${index}: there is no tool ${JSON.stringify(name)}: the tools are ${[...tools.keys()].join(", ")}`,
      );
  }
}

const WEBHOOK_KINDS = ["PERMISSION_REQUIRED", "PERMISSION_DECIDED", "PERMISSION_CLOSED"] as const;

/** The least length of a key, in bytes. */
const SECRET_BYTES = 24;

/** The secret is not repeated in errors. */
function webhookOf(field: string, name: string, config: WebhookConfig): Webhook {
  const { url: address, secret, kinds = WEBHOOK_KINDS, tenant = null, allowPrivateTarget: allowsPrivate = false } = config;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new ConfigurationError(`${field}.url must be an http or https URL`);
  if (url.username !== "" || url.password !== "")
    throw new ConfigurationError(`${field}.url must not hold a password: targets check the signature`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (!allowsPrivate && (isPrivateAddress(host) || host === "localhost"))
    throw new ConfigurationError(
      `${field}.url leads to a private network or this machine: set allowPrivateTarget where that is meant`,
    );
  const key = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  if (key === undefined || Buffer.from(key, "base64").length < SECRET_BYTES)
    throw new ConfigurationError(
      `${field}.secret must be whsec_ and at least ${SECRET_BYTES} bytes in base64: echo whsec_$(openssl rand -base64 32)`,
    );
  return { name, url, secret, kinds, tenant, allowsPrivate };
}

function authenticationOf(path: string, { actors, authenticate }: TriplaneConfig): Authentication {
  if (actors !== undefined && authenticate !== undefined)
    throw new ConfigurationError(`${path}: give actors or authenticate, not both`);
  if (authenticate !== undefined) return { kind: "custom", authenticate };
  if (actors === undefined) return { kind: "local" };
  const hashes = actors.map((actor) => actor.tokenHash);
  const repeated = hashes.findIndex((hash, index) => hashes.indexOf(hash) !== index);
  if (repeated >= 0)
    throw new ConfigurationError(`${path}: actors.${repeated}.tokenHash is another actor's too: give each a token of its own`);
  return { kind: "tokens", actors };
}

async function rootOf(field: string, root: string): Promise<string> {
  return realpath(root).catch((error: unknown) => {
    throw new ConfigurationError(`${field}: ${root} is not a folder that can be read (${messageOf(error)})`);
  });
}
