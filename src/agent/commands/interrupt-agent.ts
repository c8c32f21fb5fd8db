import type { ToolCallState } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { actorRef, type Actor } from "../actors/actor.ts";
import { type Outcome, noteProblem, type CommandRefusal } from "../actors/refusal.ts";
import { isFinal } from "../calls/call.ts";
import type { AgentServices } from "../loop/scope.ts";
import { findSteered, findSteeredPart } from "./find-agent.ts";

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

export type CancelToolCall = { readonly callId: string; readonly note: string | null };

type FoundCall = { readonly agentId: string; readonly state: ToolCallState; readonly isCancelled: boolean };

const FIND: Statement<FoundCall, [callId: string]> = {
  name: "find_tool_call",
  text: `SELECT agent_id AS "agentId", state, cancel_requested IS NOT NULL AS "isCancelled" FROM tool_call WHERE id = $1`,
};

/**
 * Requests the end of one call; the turn continues. A call that was cancelled before stays so, without another event;
 * one that has ended otherwise is refused.
 */
export async function cancelToolCall(
  { sql, log, clock }: Pick<AgentServices, "sql" | "log" | "clock">,
  actor: Actor,
  { callId, note }: CancelToolCall,
): Promise<Result<Outcome & { readonly agentId: string }, CommandRefusal>> {
  const tooLong = noteProblem(note);
  if (tooLong !== null) return refused(tooLong);
  const said = note === null ? null : storable(note);
  for (;;) {
    const found = await findCancellable(sql, actor, callId);
    if (!found.ok) return found;
    const { agentId, createdBy, isCancelled } = found.value;
    if (isCancelled) return accepted({ id: callId, agentId, position: null });
    const at = clock.now();
    const requestedBy = actorRef(actor);
    const outcome = await log.commit(
      actor.tenant,
      { agentId, createdBy, events: [{ at, body: { kind: "TOOL_CANCEL_REQUESTED", callId, requestedBy, note: said } }] },
      { wake: true, cancel: { id: callId, requested: { by: requestedBy, note: said, at: at.toISOString() } } },
    );
    // It has ended or was cancelled meanwhile: its row says which.
    if (outcome.outcome === "COMMITTED") return accepted({ id: callId, agentId, position: outcome.position });
  }
}

async function findCancellable(
  sql: Sql,
  actor: Actor,
  callId: string,
): Promise<Result<FoundCall & { readonly createdBy: string }, CommandRefusal>> {
  const [row] = await sql.query(FIND, [callId]);
  const found = await findSteeredPart(sql, actor, {
    row,
    field: "callId",
    missing: "there is no such call: `toolCalls` lists them",
    doing: "cancelling a call of",
  });
  if (!found.ok || found.value.isCancelled || !isFinal(found.value.state)) return found;
  const message = `the call has ended, and is ${found.value.state}: there is nothing to cancel`;
  return refused({ code: "ALREADY_ENDED", field: ["callId"], message });
}
