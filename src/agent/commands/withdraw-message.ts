import type { Sql, Statement } from "../../db/sql.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { actorRef, type Actor } from "../actors/actor.ts";
import type { Outcome } from "../actors/outcome.ts";
import type { CommandRefusal } from "../actors/refusal.ts";
import type { AgentServices } from "../loop/services.ts";
import { findSteeredPart } from "./find-agent.ts";

type FoundMessage = { readonly agentId: string; readonly state: "WAITS" | "WITHDRAWN" | "JOINED" };

const FIND: Statement<FoundMessage, [messageId: string]> = {
  name: "find_message",
  text: `SELECT agent_id AS "agentId", CASE WHEN withdrawn_at IS NOT NULL THEN 'WITHDRAWN' WHEN ordinal IS NULL THEN 'WAITS' ELSE 'JOINED' END AS state FROM message WHERE id = $1`,
};

/** Withdraws a waiting message. One that was withdrawn before stays so, without an event; one that has joined is refused. */
export async function withdrawMessage(
  { sql, log, clock }: Pick<AgentServices, "sql" | "log" | "clock">,
  actor: Actor,
  messageId: string,
): Promise<Result<Outcome, CommandRefusal>> {
  for (;;) {
    const found = await findWithdrawable(sql, actor, messageId);
    if (!found.ok) return found;
    const { agentId, createdBy, state } = found.value;
    if (state === "WITHDRAWN") return accepted({ id: messageId, position: null });
    const at = clock.now();
    const body = { kind: "MESSAGE_WITHDRAWN", messageId, withdrawnBy: actorRef(actor) } as const;
    const outcome = await log.commit(
      actor.tenant,
      { agentId, createdBy, events: [{ at, body }] },
      { wake: true, withdraw: { id: messageId, at: at.toISOString() } },
    );
    // It has joined or was withdrawn meanwhile: its row says which.
    if (outcome.outcome === "COMMITTED") return accepted({ id: messageId, position: outcome.position });
  }
}

async function findWithdrawable(
  sql: Sql,
  actor: Actor,
  messageId: string,
): Promise<Result<FoundMessage & { readonly createdBy: string }, CommandRefusal>> {
  const [row] = await sql.query(FIND, [messageId]);
  const found = await findSteeredPart(sql, actor, {
    row,
    field: "messageId",
    missing: "there is no such message: `agent.messages` lists them",
    doing: "withdrawing a message of",
  });
  if (!found.ok || found.value.state !== "JOINED") return found;
  return refused({
    code: "ALREADY_JOINED",
    field: ["messageId"],
    message: "the message has joined the conversation, and the model may have read it: `interruptAgent` ends its turn",
  });
}
