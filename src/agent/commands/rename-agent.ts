import { accepted, type Result } from "../../lib/result.ts";
import { actorRef, type Actor, type Outcome, type CommandRefusal } from "../actors/actor.ts";
import type { AgentServices } from "../loop/scope.ts";
import { readTitle } from "./agent-row.ts";
import { findSteered } from "./find-agent.ts";

/** Null removes the title. */
export type RenameAgent = { readonly agentId: string; readonly title: string | null };

/** After this many conflicts, a rename is an internal error. */
const TRIES = 10;

/** Renames an agent. Without a change there is no event. */
export async function renameAgent(
  services: Pick<AgentServices, "sql" | "log" | "clock">,
  actor: Actor,
  request: RenameAgent,
): Promise<Result<Outcome, CommandRefusal>> {
  const read = readTitle(request.title);
  if (!read.ok) return read;
  const title = read.value;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const found = await findSteered(services.sql, actor, request.agentId, "naming");
    if (!found.ok) return found;
    const { id, createdBy, title: previousTitle } = found.value;
    if (previousTitle === title) return accepted({ id, position: null });
    const body = { kind: "AGENT_RENAMED", previousTitle, title, changedBy: actorRef(actor) } as const;
    const part = { agentId: id, createdBy, events: [{ at: services.clock.now(), body }] };
    const outcome = await services.log.commit(actor.tenant, part, { rename: { from: previousTitle, to: title } });
    if (outcome.outcome === "COMMITTED") return accepted({ id, position: outcome.position });
  }
  throw new Error(`agent ${request.agentId} could not be renamed in ${TRIES} tries`);
}

export type ArchiveAgent = { readonly agentId: string; readonly isArchived: boolean };

/**
 * Archives an agent, or unarchives it. An archived agent accepts no messages and is listed only on request. Work under
 * way ends as usual, but background shells are ended, and a turn that only waits ends as interrupted. Without a change
 * there is no event.
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
  const outcome = await services.log.commit(actor.tenant, part, {
    wake: true,
    archive: { at: isArchived ? at.toISOString() : null },
  });
  return accepted({ id, position: outcome.outcome === "COMMITTED" ? outcome.position : null });
}
