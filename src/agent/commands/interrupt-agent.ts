import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { actorRef, type Actor } from "../actors/actor.ts";
import type { AgentServices } from "../loop/services.ts";
import { findSteered } from "./find-agent.ts";
import type { Outcome } from "../actors/outcome.ts";
import { noteProblem, type CommandRefusal } from "../actors/refusal.ts";

export type InterruptAgent = { readonly agentId: string; readonly note: string | null };

/** Requests the end of the running turn. An idle agent is unaffected, and its next message works. */
export async function interruptAgent(
  services: AgentServices,
  actor: Actor,
  { agentId, note }: InterruptAgent,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, agentId, "interrupting");
  if (!found.ok) return found;
  const tooLong = noteProblem(note);
  if (tooLong !== null) return refused(tooLong);
  const at = services.clock.now();
  const said = note === null ? null : storable(note);
  const { id, createdBy } = found.value;
  const outcome = await services.log.commit(
    actor.tenant,
    {
      agentId: id,
      createdBy,
      events: [{ at, body: { kind: "INTERRUPT_REQUESTED", requestedBy: actorRef(actor), note: said } }],
    },
    { wake: true, interrupt: { at: at.toISOString(), ...(said === null ? {} : { note: said }) } },
  );
  switch (outcome.outcome) {
    case "COMMITTED":
      return accepted({ id, position: outcome.position });
    // The turn has ended meanwhile.
    case "CONFLICT":
      return accepted({ id, position: null });
    case "KEY_USED":
      throw new Error("an interrupt has no idempotency key");
  }
}
