import { ReplacedMap } from "../../lib/replaced-map.ts";
import { headBytes, storable } from "../../lib/text.ts";
import { ToolDefinitionError } from "./input-schema.ts";
import { isServerTool, type Tool } from "./tool.ts";

/** The longest reason why a tool is unavailable, in bytes. */
const REASON_BYTES = 1_000;

/**
 * The present tools of a tenant, by name: those of the configuration and of MCP servers. The latter come and go while
 * the server runs. A tool that is unavailable stays, with its reason.
 */
export class ToolRegistry extends ReplacedMap<string, Tool> {
  readonly #configured: readonly Tool[];
  readonly #ofServers = new Map<string, readonly Tool[]>();
  #hasServers = false;
  /** The reasons why tools and servers are unavailable, by their names. */
  readonly #reasons = { tools: new Map<string, string>(), servers: new Map<string, string>() };

  constructor(configured: Iterable<Tool>) {
    super();
    this.#configured = [...configured];
    this.#replace();
  }

  /** True if the tenant has MCP servers, whether they have answered or not. */
  get hasServers(): boolean {
    return this.#hasServers;
  }

  /**
   * The tools that an MCP server has: they replace its earlier ones, and are available. Rules were read before they came,
   * so they declare no paths and no commands. Throws ToolDefinitionError, without a change, if one does. The same holds
   * for one that is not named `mcp__server__tool`, or is named as another.
   */
  set(server: string, tools: readonly Tool[]): void {
    const names = new Set<string>();
    for (const { name, paths, commands } of tools) {
      if (!name.startsWith(`mcp__${server}__`) || !isServerTool(name))
        throw new ToolDefinitionError(`a tool of the MCP server ${server} is named mcp__${server}__TOOL, not ${name}`);
      const other = this.get(name);
      if (names.has(name) || (other !== undefined && other.server !== server))
        throw new ToolDefinitionError(`two tools are named ${name}`);
      if (Object.keys(paths).length + Object.keys(commands).length > 0)
        throw new ToolDefinitionError(`the tool ${name} of an MCP server declares no paths and no commands`);
      names.add(name);
    }
    this.#ofServers.set(
      server,
      // The same object as before, if nothing has changed: verdicts that were based on it hold.
      tools.map((tool) => (tool.source === "MCP" && tool.server === server ? tool : { ...tool, source: "MCP", server })),
    );
    this.#reasons.servers.delete(server);
    this.#hasServers = true;
    this.#replace();
  }

  /** Makes the tools of an MCP server unavailable, with a reason that models and people read. Null: they are available. */
  setServerUnavailable(server: string, reason: string | null): void {
    this.#hasServers = true;
    this.#setReason(this.#reasons.servers, server, reason);
  }

  /** The reason why an MCP server's tools are unavailable; null if they are available. */
  serverReason(server: string): string | null {
    return this.#reasons.servers.get(server) ?? null;
  }

  /** Makes one tool unavailable, with a reason that models and people read. Null: it is available. */
  setUnavailable(tool: string, reason: string | null): void {
    this.#setReason(this.#reasons.tools, tool, reason);
  }

  #setReason(reasons: Map<string, string>, name: string, reason: string | null): void {
    if (reason === null) reasons.delete(name);
    else reasons.set(name, headBytes(storable(reason), REASON_BYTES));
    this.#replace();
  }

  #replace(): void {
    // In the order of names, whichever server came first: requests that begin with the same tools share a prompt cache.
    const ofServers = [...this.#ofServers.values()].flat().toSorted((one, other) => (one.name < other.name ? -1 : 1));
    const all = [...this.#configured, ...ofServers];
    this.replace(new Map(all.map((tool) => [tool.name, this.#withReason(tool)])));
  }

  /** An available tool stays the same object: verdicts that were based on it hold. */
  #withReason(tool: Tool): Tool {
    const { tools, servers } = this.#reasons;
    const reason = tools.get(tool.name) ?? (tool.server === null ? undefined : servers.get(tool.server));
    return reason === undefined ? tool : { ...tool, unavailable: reason };
  }
}
