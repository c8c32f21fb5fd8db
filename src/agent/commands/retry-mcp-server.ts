import { accepted, refused, type Result } from "../../lib/result.ts";
import type { Actor, CommandRefusal, Outcome } from "../actors/actor.ts";
import type { AgentServices } from "../loop/scope.ts";

/**
 * Lets this server connect to an MCP server of the actor's tenant that is away, without waiting. One in another state stays as it
 * is. Only for administrators.
 */
export function retryMcpServer(
  { mcpServers }: Pick<AgentServices, "mcpServers">,
  actor: Actor,
  name: string,
): Result<Outcome, CommandRefusal> {
  if (!actor.roles.includes("admin"))
    return refused({ code: "FORBIDDEN", field: null, message: "only an administrator lets an MCP server be tried again" });
  const server = mcpServers.get(name);
  if (server === undefined)
    return refused({
      code: "NOT_FOUND",
      field: ["name"],
      message: "no MCP server of your tenant has this name: see `mcpServers`",
    });
  if (server.state.kind === "DISABLED")
    return refused({
      code: "INVALID",
      field: ["name"],
      message: "the configuration leaves this MCP server out (`disabled`): take that out there, and start the server again",
    });
  server.retry();
  return accepted({ id: name, position: null });
}
