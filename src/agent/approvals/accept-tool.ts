import { accepted, refused, type Result } from "../../lib/result.ts";
import { actorRef, type Actor, type CommandRefusal, type Outcome } from "../actors/actor.ts";
import { pinsOf } from "../mcp/pins.ts";
import type { ApprovalServices } from "./scope.ts";

export type AcceptTool = { readonly name: string; readonly digest: string };

/**
 * Accepts the present definition of an MCP server's tool in the actor's tenant: from now on its allow rules hold again. Only
 * for administrators. INVALID if its digest is another one by now.
 */
export async function acceptTool(
  services: ApprovalServices,
  actor: Actor,
  { name, digest }: AcceptTool,
): Promise<Result<Outcome, CommandRefusal>> {
  if (!actor.roles.includes("admin"))
    return refused({ code: "FORBIDDEN", field: null, message: "only an administrator accepts the definition of a tool" });
  const tool = services.tools.get(name);
  const { server = null, definition = null } = tool ?? {};
  if (server === null || definition === null)
    return refused({ code: "NOT_FOUND", field: ["name"], message: "no tool of an MCP server has this name at present" });
  if (definition.digest !== digest)
    return refused({ code: "INVALID", field: ["digest"], message: "the tool has another definition by now: look at it again" });
  const { tenant } = actor;
  const previous = (await pinsOf(services.sql, tenant, server)).get(name);
  if (previous?.digest === digest) return accepted({ id: name, position: null });
  const at = services.clock.now();
  const changedBy = actorRef(actor);
  const outcome = await services.log.commitTenant(
    tenant,
    [{ at, body: { kind: "TOOL_ACCEPTED", tool: name, server, previousDigest: previous?.digest ?? null, digest, changedBy } }],
    {
      acceptTool: {
        tenant,
        server,
        tool: name,
        digest,
        definition: definition.text,
        pinnedAt: at,
        pinnedBy: actor.id,
        pinnedByKind: actor.kind,
      },
    },
  );
  return accepted({ id: name, position: outcome.outcome === "COMMITTED" ? outcome.position : null });
}
