import { randomUUIDv7 } from "node:crypto";
import type { Statement } from "../../db/sql.ts";
import { refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { type Actor, type CommandRefusal, noteProblem, type Outcome } from "../actors/actor.ts";
import { answerOf, claimKey, keyedWrite, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";
import { newRow } from "../loop/commits/compactions.ts";
import type { AgentServices } from "../loop/scope.ts";
import { ARCHIVED, findSteered, type FoundAgent } from "./find-agent.ts";

/** `agentId` is the row's id. `instruction`: what the summary should keep; null for none. */
export type CompactAgent = {
  readonly agentId: string;
  readonly instruction: string | null;
  readonly idempotencyKey: string | null;
};

const COMPACTING: CommandRefusal = {
  code: "COMPACTING",
  field: ["agentId"],
  message: "the context of this agent is being compacted: CONTEXT_COMPRESSION reports the end",
};

const FIND_OPEN: Statement<{ id: string }, [agentId: string]> = {
  name: "find_open_compaction",
  text: "SELECT id FROM compaction WHERE agent_id = $1 AND state IN ('ASKED', 'STARTED')",
};

/** Asks for a summary of the conversation: an idle agent makes it immediately, a working one beside its turn. */
export async function compactAgent(
  services: Pick<AgentServices, "sql" | "log" | "clock">,
  actor: Actor,
  { agentId, instruction, idempotencyKey }: CompactAgent,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, agentId, "compacting");
  if (!found.ok) return found;
  const tooLong = noteProblem(instruction);
  if (tooLong !== null) return refused({ ...tooLong, field: ["instruction"] });
  if (found.value.isArchived) return refused(ARCHIVED);
  const keyed = { actor, operation: "compactAgent", key: idempotencyKey, body: { agentId, instruction } };
  return onceByKey(services.sql, keyed, () => ask(services, found.value, instruction, keyed));
}

async function ask(
  { sql, log, clock }: Pick<AgentServices, "sql" | "log" | "clock">,
  { id, tenant, createdBy }: FoundAgent,
  instruction: string | null,
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  if ((await sql.query(FIND_OPEN, [id])).length > 0) return refused(COMPACTING);
  const at = clock.now();
  const row = {
    ...newRow({ id, tenant }, "SUMMARY", randomUUIDv7()),
    instruction: instruction === null ? null : storable(instruction),
    requestedBy: keyed.actor.id,
    requestedByKind: keyed.actor.kind,
    askedAt: at,
  };
  const outcome = await log.commit(
    keyed.actor.tenant,
    { agentId: id, createdBy, events: [] },
    { ...claimKey(keyed, id, at), wake: true, compactions: [row] },
    keyedWrite(keyed, at),
  );
  return answerOf(id, outcome, () => refused(COMPACTING));
}
