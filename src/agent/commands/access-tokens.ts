import { randomUUIDv7 } from "node:crypto";
import type { Statement } from "../../db/sql.ts";
import type { AccessTokenSnapshot } from "../../events/tenant-event.ts";
import { newWrite } from "../../events/write.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { DAY_MS } from "../../lib/time.ts";
import { hashOf, newAccessToken, whyNoAccessToken, type SignIn } from "../actors/access-token.ts";
import { actorRef, type Actor, type CommandRefusal, type Outcome, type Role } from "../actors/actor.ts";
import type { AgentServices } from "../loop/scope.ts";

/** Null for the default of each: all roles of the actor, and DEFAULT_DAYS. */
export type CreateAccessToken = {
  readonly name: string;
  readonly roles: readonly Role[] | null;
  readonly expiresInDays: number | null;
};

/** The result of a creation: its secret is kept nowhere else. */
export type CreatedAccessToken = Outcome & { readonly secret: string };

export const NAME_CHARACTERS = 100;
export const DEFAULT_DAYS = 90;
export const MOST_DAYS = 365;
/** The valid tokens that a person may have. */
export const MOST_TOKENS = 50;

type TokenServices = Pick<AgentServices, "sql" | "log" | "clock">;

/** Makes an access token for the actor, who must have signed in by the configuration. */
export async function createAccessToken(
  { log, clock }: TokenServices,
  actor: Actor,
  signIn: SignIn,
  request: CreateAccessToken,
): Promise<Result<CreatedAccessToken, CommandRefusal>> {
  const problem = tokenProblem(actor, signIn, request);
  if (problem !== null) return refused(problem);
  const id = randomUUIDv7();
  const secret = newAccessToken();
  const at = clock.now();
  const expiresAt = new Date(at.getTime() + (request.expiresInDays ?? DEFAULT_DAYS) * DAY_MS);
  const name = storable(request.name.trim());
  const roles = [...new Set(request.roles ?? actor.roles)];
  const owner = actorRef(actor);
  const accessToken = {
    accessTokenId: id,
    name,
    owner,
    roles,
    createdAt: at.toISOString(),
    expiresAt: expiresAt.toISOString(),
  };
  const outcome = await log.commitTenant(
    actor.tenant,
    [{ at, body: { kind: "ACCESS_TOKEN_CREATED", accessToken, changedBy: owner } }],
    {
      createAccessToken: {
        id,
        tenant: actor.tenant,
        actorId: owner.id,
        actorKind: owner.kind,
        name,
        hash: hashOf(secret),
        roles,
        createdAt: at,
        expiresAt,
        lastUsedAt: null,
        revokedAt: null,
        revokedBy: null,
        revokedByKind: null,
      },
      mostAccessTokens: MOST_TOKENS,
    },
    newWrite(id),
  );
  if (outcome.outcome === "COMMITTED") return accepted({ id, position: outcome.position, secret });
  return refused({
    code: "QUEUE_FULL",
    field: null,
    message: `you have ${MOST_TOKENS} valid access tokens, the most that one person may have: revoke one of them`,
  });
}

function tokenProblem(actor: Actor, signIn: SignIn, { name, roles, expiresInDays }: CreateAccessToken): CommandRefusal | null {
  const invalid = (field: string, message: string): CommandRefusal => ({ code: "INVALID", field: [field], message });
  const why = whyNoAccessToken(signIn);
  if (why !== null) return { code: "FORBIDDEN", field: null, message: why };
  if (name.trim() === "" || name.length > NAME_CHARACTERS)
    return invalid("name", `give the token a name of 1 to ${NAME_CHARACTERS} characters, such as the program that uses it`);
  if (roles?.length === 0) return invalid("roles", "give at least one role, or omit `roles` for all of yours");
  const foreign = roles?.find((role) => !actor.roles.includes(role));
  if (foreign !== undefined)
    return invalid(
      "roles",
      `you do not have the role ${foreign}: a token has roles of its person, which are ${actor.roles.join(", ")}`,
    );
  if (expiresInDays !== null && !(expiresInDays >= 1 && expiresInDays <= MOST_DAYS))
    return invalid("expiresInDays", `must be between 1 and ${MOST_DAYS}`);
  return null;
}

const FIND: Statement<{ accessToken: AccessTokenSnapshot; isRevoked: boolean }, [id: string, tenant: string]> = {
  name: "find_access_token_by_id",
  text: `SELECT json_build_object('accessTokenId', t.id, 'name', t.name, 'owner', json_build_object('id', t.actor_id, 'kind', t.actor_kind), 'roles', t.roles,
      'createdAt', t.created_at, 'expiresAt', t.expires_at) AS "accessToken", t.revoked_at IS NOT NULL AS "isRevoked" FROM access_token t WHERE t.id = $1 AND t.tenant = $2`,
};

/** Revokes a token immediately, with the sessions that began with it: one's own, or, for an administrator, anybody's. */
export async function revokeAccessToken(
  { sql, log, clock }: TokenServices,
  actor: Actor,
  id: string,
): Promise<Result<Outcome, CommandRefusal>> {
  const [found] = await sql.query(FIND, [id, actor.tenant]);
  if (found === undefined || (found.accessToken.owner.id !== actor.id && !actor.roles.includes("admin")))
    return refused({
      code: "NOT_FOUND",
      field: ["accessTokenId"],
      message: "you have no such access token: list yours with `accessTokens`",
    });
  if (found.isRevoked) return accepted({ id, position: null });
  const at = clock.now();
  const by = actorRef(actor);
  const accessToken = {
    ...found.accessToken,
    createdAt: new Date(found.accessToken.createdAt).toISOString(),
    expiresAt: new Date(found.accessToken.expiresAt).toISOString(),
  };
  const outcome = await log.commitTenant(
    actor.tenant,
    [{ at, body: { kind: "ACCESS_TOKEN_REVOKED", accessToken, changedBy: by } }],
    { revokeAccessToken: { id, revokedAt: at, revokedBy: by.id, revokedByKind: by.kind } },
  );
  return accepted({ id, position: outcome.outcome === "COMMITTED" ? outcome.position : null });
}
