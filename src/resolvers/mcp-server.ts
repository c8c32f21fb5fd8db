import { retryMcpServer as retry } from "../agent/commands/retry-mcp-server.ts";
import type { ServedServer } from "../agent/mcp/server-state.ts";
import { payloadOf, type Context, type Payload } from "./context.ts";

export function mcpServers({ services }: Context): ServedServer[] {
  return [...services.mcpServers.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

export function retryMcpServer(context: Context, name: string): Promise<Payload> {
  return payloadOf(context, retry(context.services, context.actor, name));
}

/** The server that a payload is about; null if the mutation failed. */
export function mcpServerNamed({ services }: Context, name: string | null): ServedServer | null {
  return name === null ? null : (services.mcpServers.get(name) ?? null);
}
