import { randomUUIDv7 } from "node:crypto";
import { hashOf, newSecret } from "../../agent/actors/access-token.ts";
import type { ActorKind } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { headBytes, storable } from "../../lib/text.ts";
import type { Clock } from "../../lib/time.ts";
import type { Identified } from "../authenticate.ts";

/** The sessions that a person may have; a further sign-in ends the oldest. */
const MOST_SESSIONS = 20;
const USER_AGENT_BYTES = 200;

const BEGIN: Statement<
  object,
  [
    id: string,
    tenant: string,
    actorId: string,
    actorKind: ActorKind,
    hash: string,
    tokenHash: string,
    userAgent: string | null,
    at: Date,
    previousHash: string | null,
  ]
> = {
  name: "begin_session",
  text: `WITH ended AS (UPDATE session SET (ended_at, ended_by, ended_by_kind) = ($8, actor_id, actor_kind)
      WHERE ended_at IS NULL AND id = ANY(ARRAY(
        SELECT s.id FROM session s WHERE s.hash = $9
        UNION ALL (SELECT s.id FROM session s WHERE s.tenant = $2 AND s.actor_id = $3 AND s.ended_at IS NULL ORDER BY s.created_at DESC, s.id DESC OFFSET ${MOST_SESSIONS - 1}))))
    INSERT INTO session (id, tenant, actor_id, actor_kind, hash, token_hash, user_agent, created_at, last_used_at)
    VALUES ($1, $2, $3, $4::actor_kind, $5, $6, $7, $8, $8)`,
};
const LOG_OUT: Statement<object, [hash: string, at: Date]> = {
  name: "log_out",
  text: "UPDATE session SET (ended_at, ended_by, ended_by_kind) = ($2, actor_id, actor_kind) WHERE hash = $1 AND ended_at IS NULL",
};

type SessionServices = { readonly sql: Sql; readonly clock: Clock };

/** A session that has begun. Its secret goes into the cookie, and is kept nowhere. */
export type BegunSession = { readonly sessionId: string; readonly secret: string };

/** Begins a session with a new secret. The session of the browser so far ends by its own actor, who may be of another tenant. */
export async function beginSession(
  { sql, clock }: SessionServices,
  { tenant, id, kind }: Identified,
  token: string,
  userAgent: string | null,
  previousSecret: string | null,
): Promise<BegunSession> {
  const sessionId = randomUUIDv7();
  const secret = newSecret();
  await sql.query(BEGIN, [
    sessionId,
    tenant,
    id,
    kind,
    hashOf(secret),
    hashOf(token),
    userAgent === null ? null : headBytes(storable(userAgent), USER_AGENT_BYTES),
    clock.now(),
    previousSecret === null ? null : hashOf(previousSecret),
  ]);
  return { sessionId, secret };
}

export async function logOut({ sql, clock }: SessionServices, secret: string): Promise<void> {
  await sql.query(LOG_OUT, [hashOf(secret), clock.now()]);
}
