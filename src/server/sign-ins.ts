import { recentlyUsed } from "../lib/recently-used.ts";
import type { SignIn } from "../agent/actors/access-token.ts";
import type { Sql, Statement } from "../db/sql.ts";
import { messageOf } from "../lib/text.ts";
import { type Clock } from "../lib/time.ts";
import { SESSION_TIMES } from "../resolvers/sign-in.ts";
import type { Logger } from "../telemetry/log.ts";

/** The time between two writes of a last use, in ms. */
const USED_MS = 60_000;
const REMEMBERED = 10_000;

/** A valid access token, by its row. Its actor may be gone from the configuration. */
export type StoredToken = {
  readonly accessTokenId: string;
  readonly tenant: string;
  readonly actorId: string;
  readonly roles: readonly string[];
};

/** A valid session. `token` is null if it began with a token of the configuration. */
export type StoredSession = {
  readonly sessionId: string;
  readonly tenant: string;
  readonly actorId: string;
  readonly tokenHash: string;
  readonly token: StoredToken | null;
};

type TokenRow = {
  readonly accessTokenId: string;
  readonly tenant: string;
  readonly actorId: string;
  readonly roles: readonly string[];
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
};

const TOKEN = `t.id AS "accessTokenId", t.tenant, t.actor_id AS "actorId", t.roles, t.expires_at AS "expiresAt", t.revoked_at AS "revokedAt"`;
const FIND_TOKEN: Statement<TokenRow, [hash: string]> = {
  name: "find_access_token",
  text: `SELECT ${TOKEN} FROM access_token t WHERE t.hash = $1`,
};
const FIND_SESSION: Statement<
  (TokenRow | { readonly [Column in keyof TokenRow]: null }) & {
    readonly sessionId: string;
    readonly ofTenant: string;
    readonly ofActor: string;
    readonly tokenHash: string;
    readonly createdAt: Date;
    readonly usedAt: Date;
  },
  [hash: string]
> = {
  name: "find_session",
  text: `SELECT s.id AS "sessionId", s.tenant AS "ofTenant", s.actor_id AS "ofActor", s.token_hash AS "tokenHash", s.created_at AS "createdAt", s.last_used_at AS "usedAt", ${TOKEN}
    FROM session s LEFT JOIN access_token t ON t.hash = s.token_hash WHERE s.hash = $1 AND s.ended_at IS NULL`,
};
const FIND_TOKEN_BY_ID: Statement<TokenRow, [id: string]> = {
  name: "find_access_token_of_link",
  text: `SELECT ${TOKEN} FROM access_token t WHERE t.id = $1`,
};
const FIND_SESSION_BY_ID: Statement<{ createdAt: Date; usedAt: Date }, [id: string]> = {
  name: "find_session_of_link",
  text: `SELECT created_at AS "createdAt", last_used_at AS "usedAt" FROM session WHERE id = $1 AND ended_at IS NULL`,
};
const USED = (table: "access_token" | "session"): Statement<object, [id: string, at: Date]> => ({
  name: `${table}_used`,
  text: `UPDATE ${table} SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)`,
});
const USED_TOKEN = USED("access_token");
const USED_SESSION = USED("session");

/**
 * The access tokens and sessions that are valid now. Their rows are read each time: a revocation on one server ends them on
 * all.
 */
export class SignIns {
  readonly #sql: Sql;
  readonly #clock: Clock;
  readonly #logger: Pick<Logger, "warn">;
  readonly #written = recentlyUsed<number>(REMEMBERED);

  constructor(sql: Sql, clock: Clock, logger: Pick<Logger, "warn">) {
    this.#sql = sql;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The access token of this hash, also one that is no longer valid. Null if there is none. */
  async tokenOf(hash: string): Promise<(StoredToken & { readonly isValid: boolean }) | null> {
    const [row] = await this.#sql.query(FIND_TOKEN, [hash]);
    return row === undefined ? null : { ...storedToken(row), isValid: this.#isValid(row) };
  }

  /** The valid access token of this id; null if there is none. */
  async tokenById(id: string): Promise<StoredToken | null> {
    const [row] = await this.#sql.query(FIND_TOKEN_BY_ID, [id]);
    return row !== undefined && this.#isValid(row) ? storedToken(row) : null;
  }

  async isOpen(sessionId: string): Promise<boolean> {
    const [row] = await this.#sql.query(FIND_SESSION_BY_ID, [sessionId]);
    return row !== undefined && !this.#isOver(row);
  }

  async sessionOf(hash: string): Promise<StoredSession | null> {
    const [row] = await this.#sql.query(FIND_SESSION, [hash]);
    if (row === undefined) return null;
    if (this.#isOver(row) || (row.accessTokenId !== null && !this.#isValid(row))) return null;
    return {
      sessionId: row.sessionId,
      tenant: row.ofTenant,
      actorId: row.ofActor,
      tokenHash: row.tokenHash,
      token: row.accessTokenId === null ? null : storedToken(row),
    };
  }

  /** Notes a use, once a minute at most. No request waits for it, and none fails with it. */
  used(signIn: SignIn): void {
    if (signIn.kind === "LOCAL" || signIn.kind === "AUTHENTICATE") return;
    if (signIn.sessionId !== null) this.#note(USED_SESSION, signIn.sessionId);
    if (signIn.kind === "ACCESS_TOKEN") this.#note(USED_TOKEN, signIn.accessTokenId);
  }

  #note(statement: typeof USED_TOKEN, id: string): void {
    const at = this.#clock.now();
    const last = this.#written.get(id);
    if (last !== undefined && Math.abs(at.getTime() - last) < USED_MS) return;
    this.#written.set(id, at.getTime());
    this.#sql.query(statement, [id, at]).catch((error: unknown) => {
      this.#written.delete(id);
      this.#logger.warn(`the last use of a token or session could not be stored: ${messageOf(error)}`);
    });
  }

  #isOver({ usedAt, createdAt }: { readonly usedAt: Date; readonly createdAt: Date }): boolean {
    const now = this.#clock.now().getTime();
    return now >= usedAt.getTime() + SESSION_TIMES.idleMs || now >= createdAt.getTime() + SESSION_TIMES.mostMs;
  }

  #isValid({ expiresAt, revokedAt }: Pick<TokenRow, "expiresAt" | "revokedAt">): boolean {
    return revokedAt === null && expiresAt.getTime() > this.#clock.now().getTime();
  }
}

function storedToken({ accessTokenId, tenant, actorId, roles }: TokenRow): StoredToken {
  return { accessTokenId, tenant, actorId, roles };
}
