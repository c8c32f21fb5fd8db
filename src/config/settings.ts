import { realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { TOOL_LIMIT_SETTINGS, type ToolLimits } from "../agent/calls/slots.ts";
import { mayDecide } from "../agent/actors/actor.ts";
import type { Hooks, Template } from "../agent/loop/template.ts";
import type { Model } from "../agent/models/model.ts";
import type { Vocabulary } from "../agent/policy/permission-source.ts";
import { BUILTIN_MODES, type CustomMode } from "../agent/policy/permission.ts";
import { BUILTIN_TOOLS } from "../agent/tools/builtin.ts";
import type { Tool } from "../agent/tools/tool.ts";
import type { Listeners } from "../deliveries/listeners.ts";
import type { Webhook } from "../deliveries/webhooks.ts";
import type { RetentionPolicy } from "../events/retention.ts";
import { isLoopback } from "../lib/loopback.ts";
import { complete } from "../lib/setting.ts";
import { messageOf } from "../lib/text.ts";
import type { Authentication } from "../server/authenticate.ts";
import { RATE_LIMIT_SETTINGS, type RateLimitSettings } from "../server/rate-limits.ts";
import type { TrustedDocuments } from "../server/trusted-documents.ts";
import { authenticationOf } from "./authentication.ts";
import { checkForm } from "./check-form.ts";
import { configurationParts, type ConfigurationParts } from "./configuration-parts.ts";
import { CONFIG_SETTINGS, type TriplaneConfig } from "./config.ts";
import { trustedDocumentsOf } from "./documents.ts";
import { ConfigurationError, type Environment } from "./environment.ts";
import { agentHooksOf } from "./hooks.ts";
import { modelsOf } from "./models.ts";
import { resolvePackageName } from "./package-name.ts";
import { RETENTION_SETTINGS, retentionOf } from "./retention.ts";
import { templateOf } from "./templates.ts";
import { webhookOf } from "./webhooks.ts";

/** Everything that the operator decided, checked and complete. */
export type Settings = {
  readonly environment: Environment;
  readonly templates: ReadonlyMap<string, Template>;
  readonly models: ReadonlyMap<string, Model>;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly modes: ReadonlyMap<string, CustomMode>;
  readonly agentLimit: number;
  readonly toolLimits: ToolLimits;
  readonly rateLimit: RateLimitSettings;
  readonly agentHooks: ReadonlyMap<string, Hooks>;
  readonly listeners: Listeners;
  readonly retention: RetentionPolicy;
  readonly webhooks: readonly Webhook[];
  /** Real paths; null if any folder may be named. */
  readonly workspaceRoots: readonly string[] | null;
  /** A real path; null if each agent has an empty folder of its own. */
  readonly defaultWorkspace: string | null;
  readonly allowedOrigins: readonly string[];
  readonly authentication: Authentication;
  readonly metricsTokenHash: string | null;
  readonly documents: TrustedDocuments;
  /** The parts of the configuration that have a say in a tenant's rights. */
  readonly partsOf: (tenant: string) => ConfigurationParts;
  /** Notes for the operator at the start. */
  readonly notes: readonly string[];
};

/** Reads the configuration file and makes the settings of it. */
export async function loadSettings(environment: Environment): Promise<Settings> {
  const { configPath } = environment;
  const found = await stat(configPath).catch(() => null);
  if (found === null)
    throw new ConfigurationError(`there is no configuration file ${configPath}: set TRIPLANE_CONFIG to its path`);
  if (found.isDirectory())
    throw new ConfigurationError(`${configPath} is a folder: set TRIPLANE_CONFIG to the path of the configuration's file`);
  resolvePackageName();
  const module = (await import(pathToFileURL(configPath).href).catch((error: unknown) => {
    throw new ConfigurationError(`${configPath} cannot be loaded: ${messageOf(error)}${placeOf(error)}`);
  })) as { default?: unknown };
  return makeSettings(environment, configPath, checkForm(configPath, module.default));
}

/**
 * The line and the column at which a file cannot be read as a module, or fails while it is: Node writes the line and a mark
 * below it at the start of the stack, or the place of the call.
 */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const [, line, mark] = /^(?:file:\/\/)?(\/.*:\d+)\n(?:(?:.+\n){1,9}?( *)\^)?/.exec(stack) ?? [];
  if (line !== undefined) return ` (${line}${mark === undefined ? "" : `:${mark.length + 1}`})`;
  const [, call] = /^ {4}at (?:.* \()?file:\/\/(\/[^()]*:\d+:\d+)\)?$/m.exec(stack) ?? [];
  return call === undefined ? "" : ` (${call})`;
}

/** Makes the settings of a configuration. `path` is its file: relative paths in it start there. */
export async function makeSettings(environment: Environment, path: string, written: TriplaneConfig): Promise<Settings> {
  const config = complete(CONFIG_SETTINGS, written);
  const folder = dirname(path);
  const tools = toolsOf(path, config.tools);
  const vocabulary: Vocabulary = { tools, modes: modesOf(path, config.permissionModes) };
  const { models, notes } = await modelsOf(path, folder, config.models, environment);
  const templates = new Map(
    Object.entries(config.templates).map(([id, template]) => [
      id,
      templateOf({ path, id, config: template, hooks: config.hooks, models, vocabulary }),
    ]),
  );
  const authentication = authenticationOf(path, config.actors, config.authenticate);
  if (authentication.kind === "local" && !isLoopback(environment.host)) {
    throw new ConfigurationError(
      `HOST is ${environment.host}, but nobody is configured who may connect: add \`actors\` or \`authenticate\` to ${path}, or leave HOST at 127.0.0.1`,
    );
  }
  if (authentication.kind !== "local" && config.workspaceRoots === null)
    throw new ConfigurationError(
      `${path}: workspaceRoots is required if actors may connect: name the folders in which agents may work`,
    );
  const realFolder = (field: string, name: string): Promise<string> => realFolderOf(`${path}: ${field}`, resolve(folder, name));
  return {
    environment,
    templates,
    models,
    tools,
    modes: vocabulary.modes,
    agentHooks: agentHooksOf(config.agentHooks),
    listeners: config.on,
    retention: retentionOf(complete(RETENTION_SETTINGS, config.retention)),
    webhooks: Object.entries(config.webhooks).map(([name, webhook]) => webhookOf(`${path}: webhooks.${name}`, name, webhook)),
    agentLimit: config.agentLimit,
    toolLimits: complete(TOOL_LIMIT_SETTINGS, config.toolLimits),
    rateLimit: complete(RATE_LIMIT_SETTINGS, config.rateLimit),
    workspaceRoots:
      config.workspaceRoots &&
      (await Promise.all(config.workspaceRoots.map((root, index) => realFolder(`workspaceRoots.${index}`, root)))),
    defaultWorkspace: config.defaultWorkspace === null ? null : await realFolder("defaultWorkspace", config.defaultWorkspace),
    allowedOrigins: config.allowedOrigins,
    authentication,
    metricsTokenHash: config.metricsTokenHash,
    documents: await trustedDocumentsOf(
      path,
      config.trustedDocuments === null ? null : resolve(folder, config.trustedDocuments),
      config.operations,
    ),
    partsOf: configurationParts(written),
    notes: [...notes, ...quorumNotes(templates, authentication)],
  };
}

function toolsOf(path: string, own: readonly Tool[]): Map<string, Tool> {
  const tools = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));
  for (const [index, tool] of own.entries()) {
    if (tools.has(tool.name))
      throw new ConfigurationError(`${path}: tools.${index} is named ${tool.name}, as another tool is: rename it`);
    tools.set(tool.name, tool);
  }
  return tools;
}

/** A built-in mode of the same name would be taken in its place, without a word. */
function modesOf(path: string, own: Readonly<Record<string, CustomMode>>): Map<string, CustomMode> {
  const builtin: readonly string[] = [...BUILTIN_MODES, "ask"];
  for (const name of Object.keys(own))
    if (builtin.includes(name))
      throw new ConfigurationError(
        `${path}: permissionModes.${name} is named as a built-in mode is (${builtin.join(", ")}): rename it`,
      );
  return new Map(Object.entries(own));
}

/** Of templates whose calls nobody can ever allow, since too few may decide. */
function quorumNotes(templates: ReadonlyMap<string, Template>, authentication: Authentication): string[] {
  if (authentication.kind !== "tokens") return [];
  const decide = authentication.actors.filter((actor) => mayDecide(actor));
  const idsByTenant = Map.groupBy(decide, ({ tenant }) => tenant);
  const most = Math.max(0, ...[...idsByTenant.values()].map((actors) => new Set(actors.map(({ id }) => id)).size));
  return [...templates.values()].flatMap(({ id, approvalQuorum }) =>
    approvalQuorum > most
      ? [
          `templates.${id} asks for ${approvalQuorum} who allow a call, and no tenant has more than ${most} who may decide: nothing is ever allowed.`,
        ]
      : [],
  );
}

async function realFolderOf(field: string, folder: string): Promise<string> {
  const real = await realpath(folder).catch((error: unknown) => {
    throw new ConfigurationError(`${field}: ${folder} is not a folder that can be read (${messageOf(error)})`);
  });
  if ((await stat(real)).isDirectory()) return real;
  throw new ConfigurationError(`${field}: ${folder} is a file: name a folder`);
}
