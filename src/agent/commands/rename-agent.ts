import { accepted, type Result } from "../../lib/result.ts";
import { actorRef, type Actor } from "../actors/actor.ts";
import type { Outcome } from "../actors/outcome.ts";
import type { CommandRefusal } from "../actors/refusal.ts";
import type { AgentServices } from "../loop/services.ts";
import { findSteered } from "./find-agent.ts";
import { readTitle } from "./title.ts";

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
