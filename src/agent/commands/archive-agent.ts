import { accepted, type Result } from "../../lib/result.ts";
import { actorRef, type Actor } from "../actors/actor.ts";
import type { Outcome } from "../actors/outcome.ts";
import type { CommandRefusal } from "../actors/refusal.ts";
import type { AgentServices } from "../loop/services.ts";
import { findSteered } from "./find-agent.ts";

/** The request of archiveAgent and unarchiveAgent. */
export type ArchiveAgent = { readonly agentId: string; readonly isArchived: boolean };

/**
 * Archives an agent, or takes that back: an archived one takes no message and is not listed unless it is asked for. What is
 * under way ends as it would have, but for background shells, which are ended. One that is so already stays as it is, without an event.
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
