import { createHash, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { mayDecide, ROLES, type Identity } from "../agent/actors/actor.ts";
import { TEXT, withDefault, type Complete } from "../lib/setting.ts";

/** A person or service with a fixed token. */
export const TOKEN_ACTOR_SETTINGS = {
  /** The name under which the actor asks and decides. Two of one name in a tenant are one actor with two tokens. Must be given. */
  id: TEXT,
  /** A person, or a program. `USER` if omitted. */
  kind: withDefault(Type.Enum(["USER", "SERVICE"]), "USER"),
  /** The token's SHA-256 in hex: `printf %s TOKEN | sha256sum`. Must be given. */
  tokenHash: Type.String({
    pattern: "^[0-9a-f]{64}$",
    problem: "must match the form of a SHA-256 in hex: printf %s TOKEN | sha256sum",
  }),
  /** The tenant whose agents the actor may reach. Must be given. */
  tenant: TEXT,
  /** At least one; roles add up. Must be given. */
  roles: Type.Immutable(Type.Array(Type.Enum([...ROLES]), { minItems: 1 })),
};

export type TokenActor = Complete<typeof TOKEN_ACTOR_SETTINGS>;

/** The arguments of the operator's own `authenticate`: the bearer token, and the headers of the request or of the socket's upgrade. */
export type AuthenticationRequest = { readonly token: string | null; readonly headers: Headers };

/** The operator's own code: who asks, or null for nobody. */
export type Authenticate = (request: AuthenticationRequest) => Identity | null | Promise<Identity | null>;

/** Asks authentication who is there; null for nobody. */
export type Identify = () => Promise<Identity | null>;

/** The ways of authentication: whoever reaches the loopback address, actors with tokens, or whom the operator's own code admits. */
export type Authentication =
  | { readonly kind: "local" }
  | { readonly kind: "tokens"; readonly actors: readonly TokenActor[] }
  | { readonly kind: "custom"; readonly authenticate: Authenticate };

/** Whoever reaches a server without configured actors: the person at this machine. */
const LOCAL_ADMINISTRATOR: Identity = { id: "local", kind: "USER", tenant: "local", roles: ["admin"] };

/** The actor of this token; null for nobody. */
export async function authenticate(
  authentication: Authentication,
  token: string | null,
  headers: Headers,
): Promise<Identity | null> {
  switch (authentication.kind) {
    case "local":
      return LOCAL_ADMINISTRATOR;
    case "custom":
      return authentication.authenticate({ token, headers });
    case "tokens": {
      if (token === null) return null;
      const hash = createHash("sha256").update(token).digest();
      const actor = authentication.actors.find(({ tokenHash }) => timingSafeEqual(Buffer.from(tokenHash, "hex"), hash));
      return actor === undefined ? null : { id: actor.id, kind: actor.kind, tenant: actor.tenant, roles: actor.roles };
    }
  }
}

/** The token of an Authorization header or of the field of that name in connectionParams. */
export function bearerToken(authorization: unknown): string | null {
  if (typeof authorization !== "string") return null;
  return /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1] ?? null;
}

/** True if somebody of the tenant may decide by the configuration of now. Of the operator's own authentication it is not known. */
export function mayStillDecide(authentication: Authentication, tenant: string, id: string): boolean {
  if (authentication.kind !== "tokens") return true;
  return authentication.actors.some((actor) => actor.id === id && actor.tenant === tenant && mayDecide(actor));
}
