import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { TOOL_LIMIT_SETTINGS, type ToolLimits } from "../agent/calls/slots.ts";
import { mayDecide } from "../agent/actors/actor.ts";
import type { Hooks } from "../agent/conversation/agent-template.ts";
import { deadRules } from "../agent/policy/dead-rules.ts";
import { BUILTIN_MODES, type CustomMode } from "../agent/policy/permission.ts";
import { BUILTIN_TOOLS } from "../agent/tools/builtin.ts";
import { availability, type Availability } from "../agent/workspace/sandbox/available.ts";
import type { Listeners } from "../deliveries/listeners.ts";
import type { Webhook } from "../deliveries/webhooks.ts";
import type { RetentionPolicy } from "../events/retention.ts";
import { isLoopback } from "../lib/addresses.ts";
import { complete } from "../lib/setting.ts";
import { messageOf } from "../lib/text.ts";
import type { Authentication } from "../server/authenticate.ts";
import { RATE_LIMIT_SETTINGS, type RateLimitSettings } from "../server/rate-limits.ts";
import type { TrustedDocuments } from "../server/trusted-documents.ts";
import { authenticationOf } from "./authentication.ts";
import { keyNotes, sandboxLines, sharedFolderNotes, unboxedNotes } from "./boxed-templates.ts";
import { budgetsOf } from "./budgets.ts";
import { checkForm, CONFIG_SETTINGS, type TriplaneConfig } from "./config.ts";
import { closedFolders } from "./closed-folders.ts";
import { configurationDigest, configurationParts, type ConfigurationParts } from "./configuration-changes.ts";
import { trustedDocumentsOf } from "./documents.ts";
import { absentToolNotes, trustedToolNotes, unusedSettingNotes } from "./absent-tools.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import type { Environment } from "./environment.ts";
import { mcpServersOf, type TenantMcpServer } from "./mcp-servers.ts";
import { agentHooksOf, offerOf } from "./templates.ts";
import { resolvePackageName } from "./version.ts";
import { RETENTION_SETTINGS, retentionOf } from "./retention.ts";
import { refuseUnboxed, SANDBOX_SETTINGS, sandboxOf, type SandboxSettings } from "./sandbox.ts";
import { severalTenants, TENANT_SETTINGS, tenantOf, tenantsOf, type Tenants } from "./tenants.ts";
import { webhookOf } from "./webhooks.ts";

const BUILTIN = {
  models: new Map(),
  tools: new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool])),
};

export type Settings = {
  readonly environment: Environment;
  readonly tenants: Tenants;
  readonly modes: ReadonlyMap<string, CustomMode>;
  readonly agentLimit: number;
  /** True if actors of several tenants may connect, always with `authenticate`. */
  readonly hasSeveralTenants: boolean;
  readonly toolLimits: ToolLimits;
  readonly rateLimit: RateLimitSettings;
  readonly agentHooks: ReadonlyMap<string, Hooks>;
  readonly listeners: Listeners;
  readonly retention: RetentionPolicy;
  /** The days for which idempotency keys are known. */
  readonly keptKeysDays: number;
  readonly exportBytes: number;
  readonly webhooks: readonly Webhook[];
  readonly publicUrl: string | null;
  readonly allowedOrigins: readonly string[];
  readonly authentication: Authentication;
  readonly metricsTokenHash: string | null;
  readonly documents: TrustedDocuments;
  readonly sandbox: SandboxSettings;
  readonly available: Availability;
  readonly sandboxLines: readonly string[];
  readonly mcpServers: readonly TenantMcpServer[];
  /** MCP servers that are left out. */
  readonly disabledMcpServers: readonly TenantMcpServer[];
  readonly digest: string;
  readonly partsOf: (tenant: string) => ConfigurationParts;
  readonly notes: readonly string[];
};

/**
 * Reads the configuration file and makes the settings. `onRead` is called with each further file that is read, even if
 * it is invalid.
 */
export async function loadSettings(environment: Environment, onRead: (path: string) => void = () => {}): Promise<Settings> {
  return makeSettings(environment, environment.configPath, await readConfig(environment), onRead);
}

export async function readConfig({ configPath }: Pick<Environment, "configPath">): Promise<TriplaneConfig> {
  const found = await stat(configPath).catch(() => null);
  if (found === null)
    throw new ConfigurationError(`there is no configuration file ${configPath}: set TRIPLANE_CONFIG to its path`);
  if (found.isDirectory())
    throw new ConfigurationError(`${configPath} is a folder: set TRIPLANE_CONFIG to the path of the configuration's file`);
  resolvePackageName();
  const module = (await import(pathToFileURL(configPath).href).catch((error: unknown) => {
    throw new ConfigurationError(`${configPath} cannot be loaded: ${messageOf(error)}${placeOf(error)}`);
  })) as { default?: unknown };
  return checkForm(configPath, module.default);
}

/**
 * The line and the column at which a module cannot be parsed, or fails: Node writes the line and a mark at the start of
 * the stack, or the place of the call.
 */
function placeOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const [, line, mark] = /^(?:file:\/\/)?(\/.*:\d+)\n(?:(?:.+\n){1,9}?( *)\^)?/.exec(stack) ?? [];
  if (line !== undefined) return ` (${line}${mark === undefined ? "" : `:${mark.length + 1}`})`;
  const [, call] = /^ {4}at (?:.* \()?file:\/\/(\/[^()]*:\d+:\d+)\)?$/m.exec(stack) ?? [];
  return call === undefined ? "" : ` (${call})`;
}

/** Makes the settings of a configuration. `path` is its file, to which paths are relative. */
export async function makeSettings(
  environment: Environment,
  path: string,
  written: TriplaneConfig,
  onRead: (path: string) => void = () => {},
): Promise<Settings> {
  const config = complete(CONFIG_SETTINGS, written);
  const folder = dirname(path);
  const problems = new Problems();
  const closed = closedFolders(environment);
  const modes = new Map(Object.entries(config.permissionModes));
  problems.of(() => refuseBuiltinNames(path, modes));
  const { hooks, templates, workspaceRoots, defaultWorkspace } = config;
  const sandbox = problems.of(() => sandboxOf(path, folder, complete(SANDBOX_SETTINGS, config.sandbox), closed));
  const protect = sandbox?.protect ?? [];
  const source = { path, folder, environment, onRead, hooks, modes, protect, templates };
  const everybodys = await problems.ofLater(() => offerOf(source, "", { ...config, templates: {} }, BUILTIN));
  const authentication = problems.of(() => authenticationOf(path, config.actors, config.authenticate));
  problems.of(() => refuseStrangers(path, environment, authentication));
  const toolLimits = complete(TOOL_LIMIT_SETTINGS, config.toolLimits);
  const own = Object.entries(config.tenants).map(([name, tenant]) => [name, complete(TENANT_SETTINGS, tenant)] as const);
  const budgets = problems.of(() => budgetsOf(`${path}: budgets`, config.budgets, null)) ?? [];
  // Each tenant is checked together with the common parts.
  const tenants =
    everybodys === null || authentication === null
      ? problems.of(() => refuseUnchecked(path, own.length))
      : await problems.ofLater(() =>
          tenantsOf(
            source,
            authentication,
            { ...everybodys, workspaceRoots, defaultWorkspace, toolLimits, budgets },
            Object.fromEntries(own),
          ),
        );
  const publicUrl = config.publicUrl === null ? null : new URL(config.publicUrl).origin;
  const available = availability();
  for (const offered of tenants === null ? [] : [tenants.everybody, ...tenants.named.values()])
    problems.of(() => refuseUnboxed(path, offered.templates.values(), available));
  const webhooks = Object.entries(config.webhooks).flatMap(
    ([name, webhook]) => problems.of(() => webhookOf(`${path}: webhooks.${name}`, name, webhook, publicUrl)) ?? [],
  );
  const kept = complete(RETENTION_SETTINGS, config.retention);
  const retention = problems.of(() => retentionOf(kept));
  const mcp = problems.of(() => mcpServersOf(path, folder, config.mcpServers, config.tenants, process.env));
  const trusted = config.trustedDocuments === null ? null : resolve(folder, config.trustedDocuments);
  const documents = await problems.ofLater(() => trustedDocumentsOf(path, trusted, config.operations));
  const whole = problems.none({ sandbox, everybodys, authentication, tenants, retention, documents, mcp });
  return {
    environment,
    tenants: whole.tenants,
    modes,
    agentHooks: agentHooksOf(config.agentHooks),
    listeners: config.on,
    retention: whole.retention,
    keptKeysDays: kept.idempotencyKeysDays,
    exportBytes: config.exportBytes,
    webhooks,
    agentLimit: config.agentLimit,
    hasSeveralTenants: severalTenants(whole.authentication) !== null,
    toolLimits,
    rateLimit: complete(RATE_LIMIT_SETTINGS, config.rateLimit),
    publicUrl,
    // As browsers write them: in lower case, without the scheme's default port.
    allowedOrigins: config.allowedOrigins.map((origin) => new URL(origin).origin),
    authentication: whole.authentication,
    metricsTokenHash: config.metricsTokenHash,
    documents: whole.documents,
    sandbox: whole.sandbox,
    available,
    sandboxLines: sandboxLines(available, written),
    mcpServers: whole.mcp.servers,
    disabledMcpServers: whole.mcp.disabled,
    digest: configurationDigest(written),
    partsOf: configurationParts(written),
    notes: [
      ...whole.everybodys.notes,
      ...whole.tenants.notes,
      ...whole.mcp.notes,
      ...unboxedNotes(written),
      ...sharedFolderNotes(written),
      ...keyNotes(written, environment),
      ...plainHttpNotes(environment),
      ...ownFolderNotes(whole.tenants, environment),
      ...deadRuleNotes(whole.tenants),
      ...absentToolNotes(whole.tenants, whole.mcp),
      ...unusedSettingNotes(whole.tenants),
      ...trustedToolNotes(whole.tenants, whole.mcp),
      ...quorumNotes(whole.tenants, whole.authentication),
    ],
  };
}

function deadRuleNotes({ everybody, named }: Tenants): readonly string[] {
  const notes = [everybody, ...named.values()].flatMap(({ templates, tools }) =>
    [...templates.values()].flatMap((template) => deadRules(template, tools)),
  );
  return [...new Set(notes)];
}

/** A server that is reachable by others must authenticate them. */
/** Throws ConfigurationError: the operator would think that unchecked tenants are valid. */
function refuseUnchecked(path: string, tenants: number): null {
  if (tenants === 0) return null;
  throw new ConfigurationError(`${path}: tenants: they are checked once the rest is right`);
}

function refuseStrangers(path: string, { host }: Environment, authentication: Authentication | null): void {
  if (authentication?.kind !== "local" || isLoopback(host)) return;
  throw new ConfigurationError(
    `HOST is ${host}, but nobody is configured who may connect: add \`actors\` or \`authenticate\` to ${path}, or leave HOST at 127.0.0.1`,
  );
}

/** A built-in mode of the same name would silently win. */
function refuseBuiltinNames(path: string, modes: ReadonlyMap<string, CustomMode>): void {
  const builtin: readonly string[] = [...BUILTIN_MODES, "ask"];
  const taken = builtin.find((name) => modes.has(name));
  if (taken !== undefined)
    throw new ConfigurationError(
      `${path}: permissionModes.${taken} is named as a built-in mode is (${builtin.join(", ")}): rename it`,
    );
}

/** The ids of all who may decide in a tenant; null with `authenticate`, or with listeners, which decide as well. */
export function decidersOf({
  authentication,
  listeners,
}: Pick<Settings, "authentication" | "listeners">): (tenant: string) => readonly string[] | null {
  if (authentication.kind !== "tokens" || Object.keys(listeners).length > 0) return () => null;
  const deciders = authentication.actors.filter((actor) => mayDecide(actor));
  return (tenant) => deciders.filter((actor) => actor.tenant === tenant).map(({ id }) => id);
}

/** Notes about agents' folders on one server, if several servers share the agents. */
function ownFolderNotes({ everybody, named }: Tenants, { database }: Environment): string[] {
  if (database.kind === "embedded" || [everybody, ...named.values()].every((tenant) => tenant.defaultWorkspace !== null))
    return [];
  return [
    "defaultWorkspace is not set: an agent that is made without a workspace works in the data folder of the server that made it, and waits while that server is away. Servers that share a database need a folder that all of them have.",
  ];
}

function plainHttpNotes({ host }: Environment): string[] {
  if (isLoopback(host)) return [];
  return [
    `HOST=${host}: whoever is on the network between reads tokens and conversations, since the server speaks plain HTTP. Let it listen on 127.0.0.1 behind a proxy that has TLS (docs/nginx/triplane.conf), or on a network that only the proxy reaches.`,
  ];
}

/** Notes about templates whose calls can never be allowed, since too few of their tenant may decide. */
function quorumNotes(tenants: Tenants, authentication: Authentication): string[] {
  if (authentication.kind !== "tokens") return [];
  const deciders = decidersOf({ authentication, listeners: {} });
  const most = (tenant: string): number => new Set(deciders(tenant)).size;
  const present = [...new Set(authentication.actors.map(({ tenant }) => tenant))];
  const offered = present.flatMap((tenant) =>
    [...tenantOf(tenants, tenant).templates.values()].map((template) => ({ tenant, template })),
  );
  const written = ({ tenant, template: { id } }: (typeof offered)[number]): string =>
    tenants.everybody.templates.has(id) ? id : `${id} of ${tenant}`;
  return [...Map.groupBy(offered, written).values()].flatMap((offers) => {
    const [first] = offers;
    if (first === undefined) return [];
    const { id, approvalQuorum } = first.template;
    const able = Math.max(...offers.map(({ tenant }) => most(tenant)));
    return approvalQuorum > able
      ? [
          `templates.${id} asks for ${approvalQuorum} who allow a call, and no tenant has more than ${able} who may decide: nothing is ever allowed.`,
        ]
      : [];
  });
}
