import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { OutsideChange } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { readPlaceAt } from "../../events/log-page.ts";
import { type OutsideOutcome, type TenantOutcome, newWrite, type Write } from "../../events/write.ts";
import { mapStrings, toJson } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import type { Actor, Outcome, CommandRefusal } from "./actor.ts";

/** The earlier use of a key. */
type KeyUse = {
  readonly bodyHash: string;
  readonly resultId: string;
  readonly createdAt: Date;
  /** The place of the event that was committed with the key; null if it cannot be found by its write. */
  readonly position: string | number | null;
  /** True if the result is an agent that was deleted. */
  readonly isDeleted: boolean;
};

const FIND: Statement<KeyUse, [tenant: string, actorId: string, operation: string, key: string]> = {
  name: "find_idempotency_key",
  text: `SELECT k.body_hash AS "bodyHash", k.result_id AS "resultId", k.created_at AS "createdAt", e.position,
      EXISTS (SELECT FROM deleted_agent d WHERE d.agent_id = k.result_id AND d.tenant = k.tenant) AS "isDeleted"
    FROM idempotency_key k LEFT JOIN event e ON e.tenant = k.tenant AND e.at = k.created_at
      AND e.append_id = ANY (ARRAY[
        CASE WHEN k.result_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN k.result_id::uuid END,
        left(encode(sha256(convert_to(concat_ws(E'\\n', k.tenant, k.actor_id, k.operation, k.key, (extract(epoch FROM k.created_at) * 1000)::bigint), 'UTF8')), 'hex'), 32)::uuid])
    WHERE k.tenant = $1 AND k.actor_id = $2 AND k.operation = $3 AND k.key = $4`,
};

/** A create: who asks, for what, under which key (null for none), and the body that the key stands for. */
export type KeyedRequest = {
  readonly actor: Actor;
  readonly operation: string;
  readonly key: string | null;
  readonly body: object;
  /** True for a key of the server, whoever acts. */
  readonly isOfServer?: true;
};

/** The key of what a listener does for one event. */
export type DeliveryKey = { readonly operation: string; readonly key: string };

/** The request of an operation, with the key of its actor; or with that of a delivered event, under which it is done once. */
export function keyedRequest(request: KeyedRequest, delivery: DeliveryKey | null): KeyedRequest {
  if (delivery === null) return request;
  const { actor, operation, body } = request;
  return { actor, ...delivery, body: { operation, by: actor.id, body }, isOfServer: true };
}

/** The owner of a key: a person and a program of one id are two. People have their id alone; the server has none. */
function ownerOf({ actor: { kind, id }, isOfServer }: Pick<KeyedRequest, "actor" | "isOfServer">): string {
  if (isOfServer === true) return "";
  return kind === "USER" ? id : JSON.stringify([kind, id]);
}

/**
 * The part of a change that claims a request's key for `resultId`. If the id is that of a new row, the commit is a write of
 * that id, else it is a `keyedWrite`: its event is found by it, and the key used again answers the place at which the log was then.
 */
export function claimKey(
  { actor, operation, key, body, ...owner }: KeyedRequest,
  resultId: string,
  at: Date,
): Pick<OutsideChange, "idempotencyKey"> {
  if (key === null) return {};
  return {
    idempotencyKey: {
      tenant: actor.tenant,
      actorId: ownerOf({ actor, ...owner }),
      operation,
      key,
      bodyHash: bodyHash(body),
      resultId,
      createdAt: at,
    },
  };
}

/** The write of a request that makes no row whose id it could have. Its id is that of its key, used at this time. */
export function keyedWrite({ actor, operation, key, ...owner }: KeyedRequest, at: Date): Write {
  if (key === null) return newWrite();
  const digest = createHash("sha256")
    .update([actor.tenant, ownerOf({ actor, ...owner }), operation, key, at.getTime()].join("\n"))
    .digest("hex");
  return newWrite(digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"));
}

/** The answer of a keyed request whose commit has this outcome, with `id` as its result; `onConflict` says what one that was refused means. */
export function answerOf<Answer>(
  id: string,
  outcome: OutsideOutcome | TenantOutcome,
  onConflict: (message: string) => Answer,
): Result<Outcome, never> | "KEY_USED" | Answer {
  switch (outcome.outcome) {
    case "COMMITTED":
      return accepted({ id, position: outcome.position });
    case "KEY_USED":
      return "KEY_USED";
    case "CONFLICT":
      return onConflict(outcome.message);
  }
}

/**
 * Does a keyed request once. What was done under its key before is answered again; `attempt` says KEY_USED if the same key
 * was used meanwhile.
 */
export async function onceByKey(
  sql: Sql,
  request: KeyedRequest,
  attempt: () => Promise<Result<Outcome, CommandRefusal> | "KEY_USED">,
): Promise<Result<Outcome, CommandRefusal>> {
  for (;;) {
    const earlier = await earlierResult(sql, request);
    if (!earlier.ok) return earlier;
    if (earlier.value !== null) return accepted(earlier.value);
    const done = await attempt();
    if (done !== "KEY_USED") return done;
  }
}

/** The longest key, in characters. */
const KEY_CHARACTERS = 200;

/** The outcome of the earlier use of a key for the same body, null for nothing, or a refusal for another body. */
async function earlierResult(sql: Sql, request: KeyedRequest): Promise<Result<Outcome | null, CommandRefusal>> {
  if (request.key === null) return accepted(null);
  if (request.key === "" || request.key.length > KEY_CHARACTERS || /[\0\p{Surrogate}]/u.test(request.key)) {
    return refused({
      code: "INVALID",
      field: ["idempotencyKey"],
      message: `a key is a text of 1 to ${KEY_CHARACTERS} characters, for example a UUID`,
    });
  }
  const [row] = await sql.query(FIND, [request.actor.tenant, ownerOf(request), request.operation, request.key]);
  if (row === undefined) return accepted(null);
  if (row.isDeleted)
    return refused({
      code: "NOT_FOUND",
      field: ["idempotencyKey"],
      message: "the agent of this key was deleted: use a new key to make another one",
    });
  if (row.bodyHash === bodyHash(request.body))
    return accepted({ id: row.resultId, position: await placeOf(sql, request.actor.tenant, row) });
  return refused({
    code: "IDEMPOTENCY_KEY_REUSED",
    field: ["idempotencyKey"],
    message: "this key was used for another request: use a new key for each request, and the same key only to repeat one",
  });
}

/** The place that the log had reached with the key; about that, by its time, if the event is no longer kept. */
async function placeOf(sql: Sql, tenant: string, { position, createdAt }: KeyUse): Promise<number> {
  return position === null ? (await readPlaceAt(sql, tenant, createdAt)).position : Number(position);
}

/** Lone surrogates, which have no canonical form, are replaced as they are where the body is stored. */
function bodyHash(body: object): string {
  const wellFormed = mapStrings(toJson(body) ?? null, (text) => text.toWellFormed());
  return createHash("sha256")
    .update(canonicalize(wellFormed) ?? "")
    .digest("hex");
}
