import { accepted, type Result } from "../../lib/result.ts";
import { actorRef, type Actor } from "../actors/actor.ts";
import type { Outcome } from "../actors/outcome.ts";
import type { CommandRefusal } from "../actors/refusal.ts";
import type { AgentServices } from "../loop/services.ts";
import { findSteered } from "./find-agent.ts";

export type ArchiveAgent = { readonly agentId: string; readonly isArchived: boolean };

/**
 * Archives an agent, or unarchives it. An archived agent accepts no messages and is listed only on request. Work under
 * way ends as usual, but background shells are ended. Without a change there is no event.
 */
export async function archiveAgent(
  services: Pick<AgentServices, "sql" | "log" | "clock">,
  actor: Actor,
  { agentId, isArchived }: ArchiveAgent,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, agentId, "archiving");
  if (!found.ok) return found;
  const { id, createdBy } = found.value;
  const at = services.clock.now();
  const body = { kind: isArchived ? "AGENT_ARCHIVED" : "AGENT_UNARCHIVED", changedBy: actorRef(actor) } as const;
  const part = { agentId: id, createdBy, events: [{ at, body }] };
  const outcome = await services.log.commit(actor.tenant, part, { archive: { at: isArchived ? at.toISOString() : null } });
  return accepted({ id, position: outcome.outcome === "COMMITTED" ? outcome.position : null });
}
