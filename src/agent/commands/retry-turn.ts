import type { Sql, Statement } from "../../db/sql.ts";
import type { OutsideChange } from "../../db/commit/change.ts";
import type { AgentState } from "../../db/generated/enums.ts";
import type { AgentEvents } from "../../events/agent-events.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { actorRef, type Actor } from "../actors/actor.ts";
import { answerOf, claimKey, keyedWrite, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";
import type { Outcome, CommandRefusal } from "../actors/refusal.ts";
import type { AgentServices } from "../loop/scope.ts";
import { ARCHIVED, findSteered, type FoundAgent } from "./find-agent.ts";

/** `agentId` is the row's id. */
export type RetryTurn = { readonly agentId: string; readonly idempotencyKey: string | null };

type LastTurn = {
  readonly turn: number;
  readonly state: AgentState;
  readonly doneReason: string | null;
  readonly isRetried: boolean;
  readonly isArchived: boolean;
};

const READ: Statement<LastTurn, [agentId: string]> = {
  name: "read_last_turn",
  text: `SELECT turn, state, done_reason AS "doneReason", retry_turn IS NOT NULL AS "isRetried", archived_at IS NOT NULL AS "isArchived" FROM agent WHERE id = $1`,
};

/** The ends of turns that can be retried. */
const RETRYABLE: ReadonlySet<string | null> = new Set(["ERROR", "INTERRUPTED"]);

/**
 * Requests a new turn for the messages of the last one, which failed or was interrupted. The conversation stays: the
 * model reads the earlier turn. A pending retry stays, without another event.
 */
export async function retryTurn(
  services: Pick<AgentServices, "sql" | "log" | "clock">,
  actor: Actor,
  { agentId, idempotencyKey }: RetryTurn,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, agentId, "retrying a turn of");
  if (!found.ok) return found;
  const keyed = { actor, operation: "retryTurn", key: idempotencyKey, body: { agentId } };
  return onceByKey(services.sql, keyed, () => tryToRetry(services, found.value, keyed));
}

async function tryToRetry(
  { sql, log, clock }: Pick<AgentServices, "sql" | "log" | "clock">,
  { id, createdBy }: FoundAgent,
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  for (;;) {
    const last = await readLastTurn(sql, id);
    if (last.isRetried && keyed.key === null) return accepted({ id, position: null });
    const problem = problemOf(last);
    if (problem !== null) return refused(problem);
    const at = clock.now();
    const { events, change } = asking(last, at, keyed.actor);
    const outcome = await log.commit(
      keyed.actor.tenant,
      { agentId: id, createdBy, events },
      { ...claimKey(keyed, id, at), ...change },
      keyedWrite(keyed, at),
    );
    // Another turn has begun, or another person asked for the same: the row says which.
    const answer = answerOf(id, outcome, () => null);
    if (answer !== null) return answer;
  }
}

/** The commit that requests a retry, or only claims the key if one is pending. */
function asking(
  { turn, isRetried }: LastTurn,
  at: Date,
  actor: Actor,
): Pick<AgentEvents, "events"> & { readonly change: OutsideChange } {
  if (isRetried) return { events: [], change: {} };
  const body = { kind: "TURN_RETRY_REQUESTED", turn, requestedBy: actorRef(actor) } as const;
  return { events: [{ at, body }], change: { wake: true, retry: { turn } } };
}

async function readLastTurn(sql: Sql, agentId: string): Promise<LastTurn> {
  const [last] = await sql.query(READ, [agentId]);
  if (last === undefined) throw new Error(`agent ${agentId} does not exist`);
  return last;
}

function problemOf({ state, doneReason, isArchived, isRetried }: LastTurn): CommandRefusal | null {
  if (isRetried) return null;
  if (isArchived) return ARCHIVED;
  if (state === "READY" && RETRYABLE.has(doneReason)) return null;
  const message =
    state !== "READY"
      ? "a turn is under way: wait for its end, or `interruptAgent`"
      : "the last turn did not end with an error and was not interrupted: send a message";
  return { code: "NOTHING_TO_RETRY", field: ["agentId"], message };
}
