import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ServerServices } from "./agent/loop/scope.ts";
import { McpConnection, type ConnectionParts, type McpTimes } from "./agent/mcp/connection.ts";
import type { RegistryOfTenants } from "./agent/mcp/published-tools.ts";
import { knownTools } from "./agent/mcp/pins.ts";
import { disabledServer, type ServerState } from "./agent/mcp/server-state.ts";
import type { McpServer } from "./agent/mcp/server.ts";
import { VERDICT_MS } from "./agent/mcp/session.ts";
import { storedVerdict } from "./agent/mcp/verdicts.ts";
import { hostRuleAllows, readHost } from "./agent/policy/hosts/host-rule.ts";
import { programPath } from "./agent/workspace/program-path.ts";
import { ProgramLease, type ProcessGroup } from "./agent/workspace/process-groups.ts";
import { sandboxFor, type Program } from "./agent/workspace/sandbox/sandbox.ts";
import type { Settings } from "./config/settings.ts";
import { onlyUnnamedTenant } from "./config/tenants.ts";
import { Deadline } from "./lib/time.ts";

export const MCP_TIMES: McpTimes = {
  startMs: 5_000,
  firstMs: 1_000,
  lastMs: 300_000,
  steadyMs: 60_000,
  connectMs: 60_000,
  listMs: 30_000,
  againMs: 60_000,
  changedMs: 1_000,
  wait: async (ms, signal) => {
    await delay(ms, undefined, { signal, ref: false }).catch(() => {});
  },
};

/** The MCP servers of this server. */
export type McpServers = AsyncDisposable & {
  /** Resolves after the first try of each server, or after some seconds. */
  readonly firstTries: Promise<void>;
  /** The number of servers in each state. */
  readonly count: () => Readonly<Record<ServerState["kind"], number>>;
};

/** Connects to the MCP servers, and keeps their tools in the registries of the tenants that have them. */
export function openMcpServers(
  {
    mcpServers,
    disabledMcpServers,
    tenants,
    authentication,
    environment,
  }: Pick<Settings, "mcpServers" | "disabledMcpServers" | "tenants" | "authentication" | "environment">,
  services: ServerServices,
  times: McpTimes = MCP_TIMES,
): McpServers {
  const named = [...tenants.named.keys()];
  const unnamed = onlyUnnamedTenant(authentication, tenants);
  const having = (tenant: string | null) => (tenant === null ? ["", ...named] : [tenant]).map(services.of);
  const connections = mcpServers.map(({ tenant, server }) => {
    const ownOf = (each: string): RegistryOfTenants => ({
      registry: services.of(each).tools,
      known: () => knownTools(services.sql, server, each),
    });
    // Tenants without settings have one registry: what several of them accepted may differ.
    const others: RegistryOfTenants = {
      registry: services.of("").tools,
      known: async () => (unnamed === null ? [] : knownTools(services.sql, server, unnamed)),
    };
    const isCommon = tenant === null;
    const registries = isCommon ? [others, ...named.map(ownOf)] : [ownOf(tenant)];
    const home = join(environment.programsFolder, "mcp-homes", tenant ?? "", server.name);
    const start: ConnectionParts["start"] = () => startProcess(server, { tenant: tenant ?? "", home }, services);
    const verdict = storedVerdict(services.sql, server, tenant, VERDICT_MS);
    const { clock, logger, mcpProcesses: processes } = services;
    const connection = new McpConnection(server, { isCommon, registries, start, verdict, processes, times, clock, logger });
    for (const each of having(tenant)) each.mcpServers.set(server.name, connection);
    return connection;
  });
  for (const { tenant, server } of disabledMcpServers)
    for (const each of having(tenant)) each.mcpServers.set(server.name, disabledServer(server, tenant === null));
  for (const connection of connections) connection.open();
  const ending = new AbortController();
  return {
    count: () => {
      const counts = { DISABLED: disabledMcpServers.length, STARTING: 0, CONNECTED: 0, AWAY: 0 };
      for (const { state } of connections) counts[state.kind] += 1;
      return counts;
    },
    firstTries: triedFirst(connections, { services, times, ending }),
    [Symbol.asyncDispose]: async () => {
      ending.abort();
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}

type Start = { readonly services: ServerServices; readonly times: McpTimes; readonly ending: AbortController };

/**
 * Resolves after the first try of each connection. When the time of the start is over first, the log names those without
 * an answer.
 */
async function triedFirst(connections: readonly McpConnection[], { services, times, ending }: Start): Promise<void> {
  const silent = new Set(connections);
  for (const connection of connections) void connection.firstTry.then(() => silent.delete(connection));
  void Promise.all(connections.map(({ firstTry }) => firstTry)).then(() => ending.abort());
  if (connections.length > 0) await times.wait(times.startMs, ending.signal);
  if (ending.signal.aborted || silent.size === 0) return;
  const names = [...silent].map(({ name }) => name).join(", ");
  services.logger.tell("mcp_server_away", `MCP servers have not answered yet: ${names}`, { count: silent.size });
}

type Place = { readonly tenant: string; readonly home: string };

async function startProcess({ way, name }: McpServer, { tenant, home }: Place, services: ServerServices): Promise<ProcessGroup> {
  if (way.kind !== "stdio") throw new Error(`the MCP server ${name} has no process`);
  const isBoxed = way.sandbox === "required";
  if (isBoxed) await mkdir(home, { recursive: true, mode: 0o700 });
  const { HOME = "/" } = process.env;
  const { listedHosts } = services;
  const program: Program = {
    argv: [way.command, ...way.args],
    folder: way.cwd,
    env: { PATH: programPath(), HOME: isBoxed ? home : HOME, ...way.env },
    workspace: way.cwd,
    home: isBoxed ? home : way.cwd,
    look: async () => ({ covered: [], repositories: [] }),
    network:
      listedHosts === null
        ? null
        : (host, port) => {
            const known = readHost(host, port);
            return known !== null && listedHosts.some((rule) => hostRuleAllows(rule, known));
          },
    isBackground: true,
    lease: new ProgramLease(new Deadline(Infinity), { tenant, agent: "" }),
    answering: (ending) => services.folders.answering(way.cwd, ending),
  };
  return sandboxFor(services.sandboxes, way).start(program, AbortSignal.timeout(MCP_TIMES.connectMs));
}
