import { isAbsolute, resolve } from "node:path";
import { distance } from "fastest-levenshtein";
import { Type } from "typebox";
import { MAX_TIMEOUT_MS } from "../agent/tools/tool.ts";
import type { McpServer, McpWay } from "../agent/mcp/server.ts";
import { MOST_SERVER_CHARACTERS } from "../agent/mcp/tool-name.ts";
import { complete, milliseconds, named, TEXT, TEXTS, withDefault, type Complete, type Written } from "../lib/setting.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import { argumentsNote, downloadNote } from "./downloaded-commands.ts";
import { expanded } from "./mcp-variables.ts";

const TEXTS_BY_NAME = Type.Unsafe<Readonly<Record<string, string>>>({ type: "object", additionalProperties: { type: "string" } });

const TRANSPORTS = ["stdio", "http", "sse", "streamable-http", "streamableHttp"] as const;

/** An MCP server: a command (stdio) or an address (http). Blocks `mcpServers` of other products are taken as they are. */
export const MCP_SERVER_SETTINGS = {
  /** The program that is started, looked for in PATH. None if omitted: then `url` must be given. */
  command: withDefault(TEXT, null),
  /** The arguments of the program. None if omitted. */
  args: withDefault(TEXTS, []),
  /** Environment variables of the program, in addition to PATH and HOME; it has no others. None if omitted. */
  env: withDefault(TEXTS_BY_NAME, {}),
  /** The folder of the program, relative to the configuration's folder. That folder if omitted. */
  cwd: withDefault(TEXT, null),
  /** One process for all agents: `server`. `server` if omitted. */
  isolation: withDefault(Type.Enum(["server"]), "server"),
  /** The sandbox of the program: `none`, or `required` for a box (docs/sandbox.md). `none` if omitted. */
  sandbox: withDefault(Type.Enum(["none", "required"]), "none"),
  /** The address of the server. None if omitted: then `command` must be given. */
  url: withDefault(TEXT, null),
  /** Headers of each request, such as `Authorization`. None if omitted. */
  headers: withDefault(TEXTS_BY_NAME, {}),
  /** The protocol at the address: `http` (Streamable HTTP), or the older `sse`. If omitted, the first that answers. */
  transport: withDefault(Type.Enum([...TRANSPORTS]), null),
  /** The server's own names of the only tools that are taken. All if omitted. */
  include: withDefault(TEXTS, null),
  /** The server's own names of tools that are left out. None if omitted. */
  exclude: withDefault(TEXTS, []),
  /** The server's own names of read-only tools. None if omitted. */
  readOnlyTools: withDefault(TEXTS, []),
  /** `told` gives each folder a connection of its own, which is told that folder; `asked` answers questions alone. `asked` if omitted. */
  roots: withDefault(Type.Enum(["asked", "told"]), "asked"),
  /** The time limit of a call, in ms, up to an hour. The template's `toolTimeoutMs` if omitted. */
  toolTimeoutMs: withDefault(milliseconds(MAX_TIMEOUT_MS), null),
  /** True for a server that is left out. False if omitted. */
  disabled: withDefault(Type.Boolean(), false),
};

/** Further fields are accepted: other products have their own. */
export const MCP_SERVER = Type.Unsafe<McpServerConfig>(Type.Object(MCP_SERVER_SETTINGS, { additionalProperties: true }));

/** Their names are checked with the rest of each entry, and have a form of their own. */
export const MCP_SERVERS = named(MCP_SERVER, 0, Type.String());

export type McpServerConfig = Written<typeof MCP_SERVER_SETTINGS> & { readonly [field: string]: unknown };

export type McpServerConfigs = Readonly<Record<string, McpServerConfig>>;

/** Other products' names of the same settings. */
const ALIASES: Readonly<Record<string, keyof typeof MCP_SERVER_SETTINGS>> = {
  type: "transport",
  serverUrl: "url",
  httpUrl: "url",
  includeTools: "include",
  excludeTools: "exclude",
};

/** The servers of a tenant; of everybody if `tenant` is null. */
export type TenantMcpServer = { readonly tenant: string | null; readonly server: McpServer };

export type McpServersRead = {
  readonly servers: readonly TenantMcpServer[];
  /** Those that are left out. */
  readonly disabled: readonly TenantMcpServer[];
  readonly notes: readonly string[];
};

const MOST_PROCESSES = 16;

/**
 * The MCP servers of everybody and of single tenants, with notes for the operator. Throws ConfigurationError with the place
 * of each problem.
 */
export function mcpServersOf(
  path: string,
  folder: string,
  common: McpServerConfigs,
  tenants: Readonly<Record<string, { readonly mcpServers?: McpServerConfigs | undefined }>>,
  variables: NodeJS.ProcessEnv,
): McpServersRead {
  const problems = new Problems();
  const notes: string[] = [];
  const disabled: TenantMcpServer[] = [];
  const read = (tenant: string | null, place: string, configs: McpServerConfigs): readonly TenantMcpServer[] =>
    Object.entries(configs).flatMap(([name, config]) => {
      const field = `${place}mcpServers.${name}`;
      const server = problems.of(() => serverOf({ path, folder, field, name, variables, notes }, config));
      if (tenant !== null && Object.hasOwn(common, name))
        problems.of(() => refuse(`${path}: ${field}`, "is named as one that is everybody's: rename it"));
      if (server !== null && config.disabled === true) disabled.push({ tenant, server });
      return server === null || config.disabled === true ? [] : [{ tenant, server }];
    });
  const servers = [
    ...read(null, "", common),
    ...Object.entries(tenants).flatMap(([tenant, { mcpServers = {} }]) => read(tenant, `tenants.${tenant}.`, mcpServers)),
  ];
  const processes = servers.filter(({ server }) => server.way.kind === "stdio").length;
  if (processes > MOST_PROCESSES)
    problems.of(() => refuse(`${path}: mcpServers`, `start ${processes} processes: at most ${MOST_PROCESSES}`));
  return problems.none({ servers, disabled, notes });
}

type Reading = {
  readonly path: string;
  readonly folder: string;
  readonly field: string;
  readonly name: string;
  readonly variables: NodeJS.ProcessEnv;
  readonly notes: string[];
};

function serverOf({ path, folder, field, name, variables, notes }: Reading, config: McpServerConfig): McpServer {
  const at = `${path}: ${field}`;
  if (!/^[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/.test(name) || name.length > MOST_SERVER_CHARACTERS)
    refuse(at, `must be named by 1 to ${MOST_SERVER_CHARACTERS} letters, digits and -, with single _ between them: rename it`);
  if (name === "mcpServers" && !("command" in config) && Object.values(config).some((each) => typeof each === "object"))
    refuse(at, "is a whole block: write its servers directly in mcpServers");
  const { written, unknown } = withoutAliases(config);
  const { transport: given } = written;
  if (typeof given === "string" && !TRANSPORTS.some((each) => each === given))
    refuse(
      `${at}.${"transport" in config ? "transport" : "type"}`,
      `is ${JSON.stringify(given)}, which is not supported: it must be one of ${TRANSPORTS.join(", ")}`,
    );
  for (const each of unknown) {
    const meant = nearlyOwn(each);
    if (meant !== null) refuse(`${at}.${each}`, `is no setting (did you mean ${meant}?)`);
    notes.push(`${field}.${each} has no effect here.${adviceOn(each)}`);
  }
  const used: string[] = [];
  const expand = (place: string, text: string): string => expanded(`${at}.${place}`, text, variables, used);
  const settings = complete(MCP_SERVER_SETTINGS, written);
  const note = settings.command === null ? null : downloadNote(settings.command, settings.args);
  if (note !== null) notes.push(`${field}: ${note}`);
  const spaced = settings.command === null ? null : argumentsNote(settings.command, settings.args, folder);
  if (spaced !== null) notes.push(`${field}.command ${spaced}`);
  const { include, exclude, readOnlyTools, roots, toolTimeoutMs } = settings;
  const way = wayOf(at, folder, { ...settings, unknown }, expand);
  // Paths are in ordinary messages, and are no secrets.
  const variableValues = used.filter((value) => !isAbsolute(value));
  return { name, way, variableValues, include, exclude, readOnlyTools, roots, toolTimeoutMs };
}

type Settings = Complete<typeof MCP_SERVER_SETTINGS> & { readonly unknown: readonly string[] };

function wayOf(at: string, folder: string, settings: Settings, expand: (place: string, text: string) => string): McpWay {
  const { command, url, args, env, cwd, sandbox, headers, transport, unknown } = settings;
  const expandAll = (place: string, values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, expand(`${place}.${name}`, value)]));
  if (command !== null && url !== null) refuse(at, "has a command and a url: leave out one of them");
  if (command !== null) {
    if (transport !== null && transport !== "stdio")
      refuse(`${at}.transport`, `is ${transport}, and a command speaks stdio: leave it out`);
    return {
      kind: "stdio",
      command: expand("command", command),
      args: args.map((each, index) => expand(`args.${index}`, each)),
      env: expandAll("env", env),
      cwd: cwd === null ? folder : resolve(folder, expand("cwd", cwd)),
      sandbox,
    };
  }
  if (url === null) {
    const others = unknown.length === 0 ? "" : ` (no setting: ${unknown.join(", ")})`;
    return refuse(at, `has neither a command nor a url: give one of them${others}`);
  }
  if (transport === "stdio") refuse(`${at}.transport`, "is stdio, and a url needs http or sse: leave it out");
  return {
    kind: kindOf(transport),
    url: addressOf(at, expand("url", url)),
    headers: headersOf(at, expandAll("headers", headers)),
  };
}

function kindOf(transport: Settings["transport"]): "http" | "sse" | "any" {
  if (transport === null) return "any";
  return transport === "sse" ? "sse" : "http";
}

function addressOf(at: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return refuse(`${at}.url`, "must be an http or https URL");
  if (url.username !== "" || url.password !== "") refuse(`${at}.url`, "must not have a name or password: write headers");
  return address;
}

function headersOf(at: string, headers: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers));
  } catch {
    return refuse(`${at}.headers`, "have a name or value that HTTP does not allow");
  }
}

/** The entry with the names of its settings, and the fields that are none. */
function withoutAliases(config: McpServerConfig): { readonly written: McpServerConfig; readonly unknown: readonly string[] } {
  const named = Object.entries(config).map(([field, value]) => {
    const main = Object.hasOwn(ALIASES, field) ? ALIASES[field] : undefined;
    return [main === undefined || main in config ? field : main, value] as const;
  });
  return {
    written: Object.fromEntries(named.filter(([field]) => Object.hasOwn(MCP_SERVER_SETTINGS, field))),
    unknown: named.map(([field]) => field).filter((field) => !Object.hasOwn(MCP_SERVER_SETTINGS, field)),
  };
}

/** A field of other products that only looks like a setting. */
const FOREIGN = "tools";

/** The own setting that a misspelt field means; null for other products' fields. */
function nearlyOwn(field: string): string | null {
  if (field === FOREIGN) return null;
  const isNear = (own: string): boolean =>
    own.toLowerCase() === field.toLowerCase() || distance(own, field) <= (own.length > 4 ? 2 : 1);
  return Object.keys({ ...MCP_SERVER_SETTINGS, ...ALIASES }).find(isNear) ?? null;
}

function adviceOn(field: string): string {
  if (/^(?:autoApprove|alwaysAllow|trust)$/.test(field)) return " Write allow rules in the permission of the template.";
  return field.startsWith("timeout") ? " Write toolTimeoutMs." : "";
}

function refuse(field: string, problem: string): never {
  throw new ConfigurationError(`${field} ${problem}`);
}
