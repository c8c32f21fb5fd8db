import type { ServedServer } from "../agent/mcp/server-state.ts";
import type { Context } from "./context.ts";

export function mcpServers({ services }: Context): ServedServer[] {
  return [...services.mcpServers.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
