import { LINK_MS } from "../../resolvers/exports/export.ts";
import { createHmac, timingSafeEqual } from "node:crypto";
import type { SignIn } from "../../agent/actors/access-token.ts";
import type { Actor } from "../../agent/actors/actor.ts";
import type { ActorKind } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";

export const EXPORTS_PATH = "/exports/";

const READ_KEY: Statement<{ key: Uint8Array }, []> = {
  name: "read_exports_key",
  text: "SELECT key FROM signing_key WHERE name = 'exports'",
};

/** The actor of a link, and the access token and session by which they asked for it. */
export type LinkHolder = Pick<Actor, "id" | "kind" | "tenant"> & {
  readonly accessTokenId: string | null;
  readonly sessionId: string | null;
};

export type ExportLink = { readonly holder: LinkHolder; readonly exportId: string };

type Claim = readonly [
  tenant: string,
  kind: ActorKind,
  id: string,
  accessTokenId: string | null,
  sessionId: string | null,
  exportId: string,
  goodUntil: number,
];

/**
 * Signed addresses of the files of exports, for downloads by browsers and programs. One names the export, its holder and
 * its expiry; it gives no rights of its own. All servers of a database sign with its key (HMAC-SHA-256).
 */
export class ExportLinks {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  static async open(sql: Sql): Promise<ExportLinks> {
    const [row] = await sql.query(READ_KEY, []);
    if (row === undefined) throw new Error("the database has no key for signing URLs of exports: restore its table signing_key");
    return new ExportLinks(row.key);
  }

  path(
    { actor, signIn }: { readonly actor: Pick<Actor, "id" | "kind" | "tenant">; readonly signIn: SignIn },
    exportId: string,
    now: Date,
  ): string {
    const accessTokenId = signIn.kind === "ACCESS_TOKEN" ? signIn.accessTokenId : null;
    const sessionId = "sessionId" in signIn ? signIn.sessionId : null;
    const claimed: Claim = [actor.tenant, actor.kind, actor.id, accessTokenId, sessionId, exportId, now.getTime() + LINK_MS];
    const claim = Buffer.from(JSON.stringify(claimed)).toString("base64url");
    return `${EXPORTS_PATH}${claim}.${this.#sign(claim).toString("base64url")}`;
  }

  /** Null for an address that has expired, or that no server of this database gave. */
  read(path: string, now: Date): ExportLink | null {
    const [claim = "", signature = "", ...more] = path.slice(EXPORTS_PATH.length).split(".");
    const given = Buffer.from(signature, "base64url");
    const signed = this.#sign(claim);
    if (more.length > 0 || given.length !== signed.length || !timingSafeEqual(given, signed)) return null;
    // Signed by a server of this database.
    const claimed = JSON.parse(Buffer.from(claim, "base64url").toString()) as Claim;
    const [tenant, kind, id, accessTokenId, sessionId, exportId, goodUntil] = claimed;
    return goodUntil <= now.getTime() ? null : { holder: { tenant, kind, id, accessTokenId, sessionId }, exportId };
  }

  #sign(claim: string): Buffer {
    return createHmac("sha256", this.#key).update(claim).digest();
  }
}
