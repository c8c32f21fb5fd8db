import { createHmac, timingSafeEqual } from "node:crypto";
import type { Sql, Statement } from "../../db/sql.ts";

const READ_KEY: Statement<{ key: Uint8Array }, []> = {
  name: "read_calls_key",
  text: "SELECT key FROM signing_key WHERE name = 'calls'",
};

export type CallOfTenant = { readonly tenant: string; readonly callId: string };

/** Marks the text: secret scanners and people know it by this. */
const PREFIX = "tpcall_";

/**
 * Secrets whose bearers may give the result of one tool call. A token is a claim of tenant and call, signed with a key that
 * all servers of a database share (HMAC-SHA-256). It is good for as long as its call waits.
 */
export class CallTokens {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  static async open(sql: Sql): Promise<CallTokens> {
    const [row] = await sql.query(READ_KEY, []);
    if (row === undefined) throw new Error("the database has no key for signing tokens of calls: restore its table signing_key");
    return new CallTokens(row.key);
  }

  of({ tenant, callId }: CallOfTenant): string {
    const claim = Buffer.from(JSON.stringify([tenant, callId])).toString("base64url");
    return `${PREFIX}${claim}.${this.#sign(claim).toString("base64url")}`;
  }

  /** The call that a token is for; null for a text that no server of this database has signed. */
  read(token: string): CallOfTenant | null {
    if (!token.startsWith(PREFIX)) return null;
    const [claim = "", signature = "", ...more] = token.slice(PREFIX.length).split(".");
    const given = Buffer.from(signature, "base64url");
    const signed = this.#sign(claim);
    if (more.length > 0 || given.length !== signed.length || !timingSafeEqual(given, signed)) return null;
    const [tenant, callId] = JSON.parse(Buffer.from(claim, "base64url").toString()) as readonly unknown[];
    return typeof tenant === "string" && typeof callId === "string" ? { tenant, callId } : null;
  }

  #sign(claim: string): Buffer {
    return createHmac("sha256", this.#key).update(claim).digest();
  }
}
