import { setTimeout as delay } from "node:timers/promises";
import type { ToolCallState } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import { toJson, type Json } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { byteLength } from "../../lib/text.ts";
import { actorRef, maySee, type Actor, type CommandRefusal, type Outcome } from "../actors/actor.ts";
import { answerOf, claimKey, keyedWrite, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";
import { isFinal } from "../calls/call.ts";
import type { CallOfTenant } from "../calls/call-tokens.ts";
import { endOfLater, failedElsewhere, LATER_FIELDS, toolOfLater, type LaterCall } from "../calls/later.ts";
import { resultProblem } from "../calls/refusals/call-problems.ts";
import type { Validated } from "../calls/stages/validation.ts";
import { templateOf } from "../conversation/agent-template.ts";
import type { AgentServices, Template } from "../loop/scope.ts";

/** An actor, or the bearer of a call's own token, who may complete that call alone. */
export type Completer =
  { readonly kind: "actor"; readonly actor: Actor } | { readonly kind: "bearer"; readonly call: CallOfTenant };

export type CompleteToolCall = {
  readonly callId: string;
  /** A result, any JSON, or an error, a text. Null is a result where there is no error; an absent one is none. */
  readonly given: { readonly result?: unknown; readonly error?: unknown };
  readonly idempotencyKey: string | null;
};

export type Completed = Outcome & { readonly agentId: string };

/** The largest result, and the largest error, in bytes of JSON. */
export const RESULT_BYTES = 1024 * 1024;

/** The waits for a call whose tool has not answered yet that its result comes later, in ms: a worker may be that fast. */
const UNTIL_WAITING_MS = [20, 50, 100, 200, 400, 800, 1_600];

type FoundCall = LaterCall & {
  readonly requesters: readonly ActorRef[];
  readonly waitsForChild: boolean;
  readonly waitsForTask: boolean;
};

const FIND: Statement<{ found: FoundCall }, [callId: string, tenant: string]> = {
  name: "find_call_to_complete",
  text: `SELECT json_build_object(${LATER_FIELDS},
      'requesters', (SELECT coalesce(jsonb_agg(DISTINCT who), '[]') FROM requesters_of_calls(ARRAY[$1::text]) who),
      'waitsForChild', EXISTS (SELECT FROM wait w WHERE w.call_id = t.id AND w.kind = 'CHILD' AND w.settled_at IS NULL),
      'waitsForTask', EXISTS (SELECT FROM wait w WHERE w.call_id = t.id AND w.kind = 'MCP_TASK' AND w.settled_at IS NULL)) AS found
    FROM tool_call t JOIN agent a ON a.id = t.agent_id WHERE t.id = $1 AND t.tenant = $2`,
};

/**
 * Gives the result of a call that waits for it: once, whoever is first. The call went through the gate before its tool
 * handed it out; `postToolUse` hooks see the result now. A result of a wrong form is the sender's error, and the call
 * still waits.
 */
export async function completeToolCall(
  services: AgentServices,
  completer: Completer,
  request: CompleteToolCall,
): Promise<Result<Completed, CommandRefusal>> {
  const { callId, given, idempotencyKey } = request;
  const actor = completer.kind === "actor" ? completer.actor : bearerOf(completer.call);
  const allowed = await findAllowed(services, completer, callId);
  if (!allowed.ok) return allowed;
  const read = readAnswer(given);
  if (!read.ok) return read;
  const answer = read.value;
  const body = answer.ok ? { callId, result: answer.value } : { callId, error: answer.refusal };
  const keyed = { actor, operation: "completeToolCall", key: idempotencyKey, body };
  const done = await onceByKey(services.sql, keyed, () => tryToComplete(services, keyed, callId, answer));
  return done.ok ? accepted({ ...done.value, agentId: allowed.value.agentId }) : done;
}

/** The result as JSON, or the words of an error. */
type Answer = Result<Json, string>;

function readAnswer({ result, error }: CompleteToolCall["given"]): Result<Answer, CommandRefusal> {
  const json = result === undefined ? undefined : toJson(result);
  const isError = typeof error === "string" && (result === undefined || result === null);
  if (!isError && (json === undefined || (error !== undefined && error !== null))) {
    const message = "give either `result`, any JSON, or `error`, a text";
    return refused({ code: "INVALID", field: ["result"], message });
  }
  const answer: Answer = isError ? refused(error) : accepted(json ?? null);
  const tooLarge = sizeProblem(answer);
  return tooLarge === null ? accepted(answer) : refused(tooLarge);
}

/** The bearer of a token acts as the call itself. */
function bearerOf({ tenant, callId }: CallOfTenant): Actor {
  return { id: `call:${callId}`, kind: "SERVICE", tenant, roles: [], delegators: [] };
}

async function findAllowed(
  { sql, tools }: Pick<AgentServices, "sql" | "tools">,
  completer: Completer,
  callId: string,
): Promise<Result<FoundCall, CommandRefusal>> {
  const tenant = completer.kind === "actor" ? completer.actor.tenant : completer.call.tenant;
  const found = await read(sql, callId, tenant);
  const missing = { code: "NOT_FOUND", field: ["callId"], message: "there is no such call: `toolCalls` lists them" } as const;
  if (found === undefined) return refused(missing);
  if (completer.kind === "bearer") return accepted(found);
  const { actor } = completer;
  if (mayComplete(tools, actor, found)) return accepted(found);
  if (!maySee(actor, found)) return refused(missing);
  const message =
    "completing a call needs the person who asked for it (role user), the role admin, a service that its tool names (completedBy), or the call's own token";
  return refused({ code: "FORBIDDEN", field: ["callId"], message });
}

function mayComplete(tools: AgentServices["tools"], actor: Actor, { call, requesters }: FoundCall): boolean {
  const isNamed = actor.kind === "SERVICE" && tools.get(call.name)?.completedBy.includes(actor.id) === true;
  const isRequester = requesters.some(({ id, kind }) => id === actor.id && kind === actor.kind);
  return isNamed || (isRequester && actor.roles.includes("user")) || actor.roles.includes("admin");
}

export type CannotComplete = "NOT_WAITING" | "WAITS_FOR_CHILD" | "WAITS_FOR_TASK" | "NO_RIGHT";

/** The reason why an actor, who sees the call, may not give its result now; null if they may. */
export async function cannotComplete(
  { reads, tools }: Pick<AgentServices, "reads" | "tools">,
  actor: Actor,
  callId: string,
): Promise<CannotComplete | null> {
  const found = await read(reads, callId, actor.tenant);
  if (found?.call.state !== "WAITING") return "NOT_WAITING";
  if (found.waitsForChild) return "WAITS_FOR_CHILD";
  if (found.waitsForTask) return "WAITS_FOR_TASK";
  return mayComplete(tools, actor, found) ? null : "NO_RIGHT";
}

async function read(sql: Sql, callId: string, tenant: string): Promise<FoundCall | undefined> {
  const [row] = await sql.query(FIND, [callId, tenant]);
  return row?.found;
}

async function tryToComplete(
  services: AgentServices,
  keyed: KeyedRequest,
  callId: string,
  answer: Answer,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  const { tenant } = keyed.actor;
  for (;;) {
    const found = await untilWaiting(services.sql, callId, tenant);
    const { state } = found.call;
    if (isFinal(state)) return refused(ended(state));
    if (state !== "WAITING") return refused(notWaiting(state));
    if (found.waitsForChild) return refused(WAITS_FOR_CHILD);
    if (found.waitsForTask) return refused(WAITS_FOR_TASK);
    const known = await knownParts(services, found);
    if (!known.ok) return known;
    const unfit = answer.ok ? resultProblem(known.value.call.tool.resultIssues(answer.value)) : null;
    if (unfit !== null) return refused(unfit);
    const trail = { note: "completed from elsewhere", by: actorRef(keyed.actor) };
    const given = answer.ok ? accepted(resultOf(answer.value)) : failedElsewhere(answer.refusal);
    const { change, events, at } = await endOfLater(services, found, { ...known.value, answer: given, trail });
    const committed = await services.log.commit(
      tenant,
      { agentId: found.agentId, createdBy: found.createdBy, events: events.map((body) => ({ at, body })) },
      { ...claimKey(keyed, callId, at), ...change },
      keyedWrite(keyed, at),
    );
    // Another was first: the row says who.
    const done = answerOf(callId, committed, () => null);
    if (done !== null) return done;
  }
}

/** The call, once it waits or has ended; one that runs may be about to wait. */
async function untilWaiting(sql: Sql, callId: string, tenant: string): Promise<FoundCall> {
  for (const waitMs of [...UNTIL_WAITING_MS, null]) {
    const found = await read(sql, callId, tenant);
    if (found === undefined) throw new Error(`tool call ${callId} does not exist`);
    if (found.call.state !== "EXECUTING" || waitMs === null) return found;
    await delay(waitMs);
  }
  throw new Error("the last look answers");
}

type KnownParts = { readonly template: Template; readonly call: Validated };

/** The template and the tool of the call: without them the hooks that guard its result are unknown. */
async function knownParts(services: AgentServices, found: FoundCall): Promise<Result<KnownParts, CommandRefusal>> {
  const unavailable = (missing: string): Result<never, CommandRefusal> =>
    refused({
      code: "UNAVAILABLE",
      field: null,
      message: `${missing} of this call is not configured on this server: the call still waits, send the result again when it is`,
    });
  const template = await templateOf(services, found);
  if ("missing" in template) return unavailable(template.missing);
  const call = toolOfLater(services.tools, found);
  return call === null ? unavailable(`the tool ${found.call.name}`) : accepted({ template, call });
}

/** A text is read as it is, other JSON as its text. */
function resultOf(result: Json): { readonly output: string; readonly details: Json } {
  return typeof result === "string"
    ? { output: result, details: null }
    : { output: JSON.stringify(result, null, 2), details: result };
}

function sizeProblem(answer: Answer): CommandRefusal | null {
  const [field, value] = answer.ok ? (["result", answer.value] as const) : (["error", answer.refusal] as const);
  const bytes = byteLength(JSON.stringify(value));
  if (bytes <= RESULT_BYTES) return null;
  const message = `a result has at most ${RESULT_BYTES} bytes of JSON, not ${bytes}: give a summary, and where the whole is`;
  return { code: "TOO_LARGE", field: [field], message };
}

function ended(state: ToolCallState): CommandRefusal {
  return { code: "CALL_ENDED", field: ["callId"], message: `the call has ended, and is ${state}: it takes no result any more` };
}

const WAITS_FOR_CHILD: CommandRefusal = {
  code: "FORBIDDEN",
  field: ["callId"],
  message:
    "the call waits for the agent that it started, whose end completes it: decide on that agent's approvals, or interrupt it",
};

const WAITS_FOR_TASK: CommandRefusal = {
  code: "FORBIDDEN",
  field: ["callId"],
  message: "the call waits for a task of its MCP server, whose end completes it: cancel the call if its result is not wanted",
};

function notWaiting(state: ToolCallState): CommandRefusal {
  const message = `the call is ${state}: only a call in state WAITING takes a result, after its tool has answered \`later()\``;
  return { code: "NOT_WAITING", field: ["callId"], message };
}
