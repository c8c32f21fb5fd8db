import type { OutsideChange } from "../../db/commit/change.ts";
import type { ToolCallState, AgentState } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import type { AgentEvents } from "../../events/write.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { actorRef, type Actor, type Outcome, noteProblem, type CommandRefusal } from "../actors/actor.ts";
import {
  answerOf,
  claimKey,
  keyedRequest,
  keyedWrite,
  onceByKey,
  type DeliveryKey,
  type KeyedRequest,
} from "../actors/idempotency.ts";
import { isFinal } from "../calls/call.ts";
import { endOfCancelled } from "../calls/later.ts";
import type { AgentServices } from "../loop/scope.ts";
import { endUnmade } from "../waits/unmade-children.ts";
import { findSteered, findSteeredPart, ARCHIVED, type FoundAgent } from "./find-agent.ts";

export type InterruptAgent = {
  readonly agentId: string;
  readonly note: string | null;
  /** True for all agents below it, too, also those that it left running in the background. */
  readonly tree: boolean;
};

const FIND_BELOW: Statement<{ id: string }, [agentId: string]> = {
  name: "find_agents_below",
  text: `WITH RECURSIVE below (id, depth) AS (SELECT id, depth FROM agent WHERE parent_id = $1 UNION ALL SELECT a.id, a.depth FROM below JOIN agent a ON a.parent_id = below.id)
    SELECT id FROM below ORDER BY depth, id`,
};

/** The agents below another, those nearer to it first. */
export async function agentsBelow(sql: Sql, agentId: string): Promise<readonly string[]> {
  return (await sql.query(FIND_BELOW, [agentId])).map(({ id }) => id);
}

/**
 * Requests the end of the running turn, with the children that it waits for. An idle agent is unaffected, and its next
 * message works. The agents of a tree are interrupted one by one, the agent itself first: it starts no others meanwhile.
 * Children that are not made yet are not made any more.
 */
export async function interruptAgent(
  services: AgentServices,
  actor: Actor,
  { agentId, note, tree }: InterruptAgent,
  delivery: DeliveryKey | null = null,
): Promise<Result<Outcome & { readonly interrupted: readonly string[] }, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, agentId, "interrupting");
  if (!found.ok) return found;
  const tooLong = noteProblem(note);
  if (tooLong !== null) return refused(tooLong);
  const keyed = keyedRequest({ actor, operation: "interruptAgent", key: null, body: { agentId, note } }, delivery);
  const done = await onceByKey(services.sql, keyed, async () => interruptOne(services, found.value, note, keyed));
  if (!done.ok) return done;
  const interrupted = [agentId];
  for (let below = tree ? [agentId] : []; below.length > 0;) {
    await endUnmade(services, interrupted);
    // A child whose wait was still open may have been made meanwhile.
    below = (await agentsBelow(services.sql, agentId)).filter((id) => !interrupted.includes(id));
    for (const id of below) await interruptOne(services, { id, createdBy: found.value.createdBy }, note, unkeyed(actor));
    interrupted.push(...below);
  }
  return accepted({ ...done.value, interrupted });
}

function unkeyed(actor: Actor): KeyedRequest {
  return { actor, operation: "interruptAgent", key: null, body: {} };
}

/** A key is used up also if the agent is idle: its request must not interrupt a later turn. */
async function interruptOne(
  { log, clock }: Pick<AgentServices, "log" | "clock">,
  { id, createdBy }: Pick<FoundAgent, "id" | "createdBy">,
  note: string | null,
  keyed: KeyedRequest,
): Promise<Result<Outcome, never> | "KEY_USED"> {
  const at = clock.now();
  const said = note === null ? null : storable(note);
  const { actor } = keyed;
  const key = claimKey(keyed, id, at);
  const part = { agentId: id, createdBy };
  const outcome = await log.commit(
    actor.tenant,
    { ...part, events: [{ at, body: { kind: "INTERRUPT_REQUESTED", requestedBy: actorRef(actor), note: said } }] },
    { ...key, wake: true, interrupt: { at: at.toISOString(), ...(said === null ? {} : { note: said }) } },
    keyedWrite(keyed, at),
  );
  // The turn has ended meanwhile.
  return answerOf(id, outcome, async () => {
    if (keyed.key === null) return accepted({ id, position: null });
    return answerOf(id, await log.commit(actor.tenant, { ...part, events: [] }, key), () => accepted({ id, position: null }));
  });
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
  { sql, log, clock, heldTemplate }: Pick<AgentServices, "sql" | "log" | "clock" | "heldTemplate">,
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
    const requested = { by: requestedBy, note: said, at: at.toISOString() };
    const end = await endOfCancelled({ sql, heldTemplate }, callId, requested);
    const bodies: readonly AgentEventBody[] = [
      { kind: "TOOL_CANCEL_REQUESTED", callId, requestedBy, note: said },
      ...(end?.events ?? []),
    ];
    const outcome = await log.commit(
      actor.tenant,
      { agentId, createdBy, events: bodies.map((body) => ({ at, body })) },
      { ...end?.change, wake: true, cancel: { id: callId, requested } },
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
const RETRYABLE: ReadonlySet<string | null> = new Set(["BUDGET", "ERROR", "INTERRUPTED", "SHAPE"]);

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
      : "the last turn did not end with ERROR, INTERRUPTED, SHAPE or BUDGET: send a message";
  return { code: "NOTHING_TO_RETRY", field: ["agentId"], message };
}
