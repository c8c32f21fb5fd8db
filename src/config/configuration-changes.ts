import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { readStandardSchema } from "../agent/tools/input-schema.ts";
import type { Tool } from "../agent/tools/tool.ts";
import type { Sql, Statement } from "../db/sql.ts";
import type { EventLog } from "../events/log.ts";
import { SERVER } from "../events/snapshots.ts";
import type { ConfigurationChange } from "../events/tenant-event.ts";
import type { Json } from "../lib/json.ts";
import type { Written } from "../lib/setting.ts";
import type { Clock } from "../lib/time.ts";
import type { Logger } from "../telemetry/log.ts";
import type { TriplaneConfig } from "./config.ts";
import type { McpServerConfig } from "./mcp-servers.ts";
import type { TENANT_SETTINGS } from "./tenants.ts";

/**
 * A digest of each part of the configuration that has a say in rights, or in how long events are kept, by its place:
 * `templates.assistant`, `actors.petra`. Listeners (`on`) are among them, since they may decide.
 */
export type ConfigurationParts = Readonly<Record<string, string>>;

/** The parts as they hold for a tenant: of the actors, those of the tenant. */
export function configurationParts(config: TriplaneConfig): (tenant: string) => ConfigurationParts {
  const { hooks, on, authenticate, operations, retention, sandbox } = config;
  const shared = {
    ...digests("", { hooks, on, authenticate, operations, retention, sandbox }),
    ...digests("agentHooks.", config.agentHooks ?? {}),
    ...digests("permissionModes.", config.permissionModes ?? {}),
    ...offered(config),
  };
  const actors = config.actors ?? [];
  const tenants = config.tenants ?? {};
  return (tenant) => {
    const own = Map.groupBy(
      actors.filter((actor) => actor.tenant === tenant),
      ({ id }) => id,
    );
    const besides = Object.hasOwn(tenants, tenant) ? (tenants[tenant] ?? {}) : {};
    const roots = [...(config.workspaceRoots ?? []), ...(besides.workspaceRoots ?? [])];
    const budgets = [...(config.budgets ?? []), ...(besides.budgets ?? [])];
    const folders = {
      ...besides,
      ...(roots.length > 0 && { workspaceRoots: roots }),
      ...(budgets.length > 0 && { budgets }),
    };
    return { ...shared, ...offered(folders), ...digests("actors.", Object.fromEntries(own)) };
  };
}

/** What everybody is offered, or a tenant besides. Names of both are apart. */
function offered({
  templates,
  tools,
  mcpServers,
  workspaceRoots,
  defaultWorkspace,
  budgets,
}: Written<typeof TENANT_SETTINGS>): ConfigurationParts {
  return {
    ...digests("", { workspaceRoots, defaultWorkspace, budgets }),
    ...digests("templates.", templates ?? {}),
    ...digests(
      "mcpServers.",
      Object.fromEntries(Object.entries(mcpServers ?? {}).map(([name, each]) => [name, withoutValues(each)])),
    ),
    ...digests("tools.", Object.fromEntries((tools ?? []).map((tool) => [tool.name, declared(tool)]))),
  };
}

/** An MCP server without the values of its variables and headers: they are secrets, whose digest could be guessed. */
function withoutValues({ env, headers, ...others }: McpServerConfig): object {
  return { ...others, env: Object.keys(env ?? {}), headers: Object.keys(headers ?? {}) };
}

/** The beginning of a digest of a whole configuration: servers that were given the same have the same. */
export function configurationDigest(config: TriplaneConfig): string {
  return digestOf(written(config)).slice(0, 12);
}

/** One digest of all parts. */
function digestOf(parts: Json): string {
  return createHash("sha256")
    .update(canonicalize(parts) ?? "")
    .digest("hex");
}

function digests(prefix: string, parts: Readonly<Record<string, unknown>>): ConfigurationParts {
  const given = Object.entries(parts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [`${prefix}${name}`, digestOf(written(value))]));
}

/** The declaration of a tool: rules and people judge its calls by it, and its hooks may deny them. */
function declared({
  name,
  description,
  prompt,
  inputSchema,
  readOnly,
  idempotent,
  cacheable,
  risk,
  paths,
  commands,
  hooks,
}: Tool): object {
  // A tool that is not cacheable, or has no command lines or prompt, is declared without them: a new version alone changes no digest.
  const more = {
    ...(prompt !== null && { prompt }),
    ...(cacheable && { cacheable }),
    ...(Object.keys(commands).length > 0 && { commands }),
  };
  return { name, description, inputSchema, readOnly, idempotent, ...more, risk, paths, hooks };
}

/** The value as JSON: the operator's own code by its text. What a tool is bound by is Triplane's, and another text in a bundle. */
function written(value: unknown): Json {
  const text = JSON.stringify(value, (key, part: unknown) => {
    const standard = readStandardSchema(key, part);
    if (standard !== null) return standard.schema;
    if (typeof part === "function") return key === "bind" ? undefined : String(part);
    if (part instanceof Map || part instanceof Set) return [...(part as Iterable<unknown>)];
    if (part instanceof RegExp) return String(part);
    return part;
  });
  return JSON.parse(text ?? "null") as Json;
}

export type ConfigurationServices = {
  readonly sql: Sql;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
};

type Known = { readonly tenant: string; readonly digest: string | null; readonly parts: ConfigurationParts | null };

const READ: Statement<Known, []> = {
  name: "read_known_configurations",
  text: "SELECT l.tenant, k.digest, k.parts FROM tenant_log l LEFT JOIN known_configuration k ON k.tenant = l.tenant ORDER BY l.tenant",
};
const RECORD: Statement<object, [tenants: readonly string[], digests: readonly string[], parts: readonly string[], at: Date]> = {
  name: "record_configurations",
  text: `INSERT INTO known_configuration (tenant, digest, parts, known_at)
    SELECT k.tenant, k.digest, k.parts::json, $4 FROM unnest($1::text[], $2::text[], $3::text[]) AS k(tenant, digest, parts) ON CONFLICT DO NOTHING`,
};

const MOST_CHANGES = 300;

/**
 * Reports in the log of each tenant, once over all servers, how the configuration differs from the last known one
 * (invariant 15). The first configuration of a log is only recorded.
 */
export async function reportConfigurationChanges(
  services: ConfigurationServices,
  partsOf: (tenant: string) => ConfigurationParts,
): Promise<void> {
  const { sql, log, clock, logger } = services;
  log.onBegun((tenant) => {
    record(sql, [tenant], partsOf, clock.now()).catch((error: unknown) => {
      logger.error(`the configuration of tenant ${tenant} could not be recorded; the next start does it`, error);
    });
  });
  const known = await sql.query(READ, []);
  const unknown = known.filter(({ digest }) => digest === null).map(({ tenant }) => tenant);
  if (unknown.length > 0) await record(sql, unknown, partsOf, clock.now());
  for (const { tenant, digest, parts } of known) {
    const now = partsOf(tenant);
    if (digest === null || parts === null || digest === digestOf(now)) continue;
    // A log that lost commits, or is busy, does not stop a server's start.
    await report(services, tenant, { digest, parts }, now).catch((error: unknown) => {
      logger.error(`the change of the configuration could not be said to tenant ${tenant}; the next start does it`, error);
    });
  }
}

async function record(
  sql: Sql,
  tenants: readonly string[],
  partsOf: (tenant: string) => ConfigurationParts,
  at: Date,
): Promise<void> {
  const parts = tenants.map(partsOf);
  await sql.query(RECORD, [tenants, parts.map(digestOf), parts.map((of) => JSON.stringify(of)), at]);
}

/** Only one of several servers with the same report succeeds: the previous digest is compared. */
async function report(
  { log, clock }: ConfigurationServices,
  tenant: string,
  before: { readonly digest: string; readonly parts: ConfigurationParts },
  parts: ConfigurationParts,
): Promise<void> {
  const at = clock.now();
  const digest = digestOf(parts);
  const changes = changesOf(before.parts, parts);
  const body = {
    kind: "CONFIGURATION_CHANGED",
    previousDigest: before.digest,
    digest,
    changes: changes.slice(0, MOST_CHANGES),
    changeCount: changes.length,
    changedBy: SERVER,
  } as const;
  await log.commitTenant(tenant, [{ at, body }], {
    configuration: { previousDigest: before.digest, digest, parts, knownAt: at },
  });
}

export function changesOf(before: ConfigurationParts, now: ConfigurationParts): readonly ConfigurationChange[] {
  const places = [...new Set([...Object.keys(before), ...Object.keys(now)])].toSorted();
  return places.flatMap((part): readonly ConfigurationChange[] => {
    const [was, is] = [before[part], now[part]];
    if (was === is) return [];
    return [{ part, change: was === undefined ? "ADDED" : is === undefined ? "REMOVED" : "CHANGED" }];
  });
}
