import type { Tool } from "../tools/tool.ts";
import type { ToolRegistry } from "../tools/tool-registry.ts";
import type { ListedTool } from "./listed-tool.ts";

/** A tool as its server listed it, and as agents have it. */
export type ServedTool = { readonly listed: ListedTool; readonly tool: Tool };

/** The tools of tenants, and those that they knew of the server before: shown until it answers. */
export type RegistryOfTenants = { readonly registry: ToolRegistry; readonly known: () => Promise<readonly ListedTool[]> };

export function toolsIn(served: ReadonlyMap<string, ServedTool>): readonly Tool[] {
  return [...served.values()].map(({ tool }) => tool);
}

/** Writes the tools of a server into a registry, if they have changed. Returns notes about names that another server's tool has. */
export function publish(registry: ToolRegistry, server: string, tools: readonly Tool[]): readonly string[] {
  const names = new Set(tools.map(({ name }) => name));
  const isTaken = (tool: Tool): boolean => (registry.get(tool.name) ?? tool).server !== server;
  const isNew = registry.serverReason(server) !== null || tools.some((tool) => registry.get(tool.name) !== tool);
  const isLess = [...registry.values()].some((tool) => tool.server === server && !names.has(tool.name));
  const own = tools.filter((tool) => !isTaken(tool));
  if (isNew || isLess) registry.set(server, own);
  return tools.filter(isTaken).map((tool) => `${tool.name} is the name of another tool: it is left out`);
}
