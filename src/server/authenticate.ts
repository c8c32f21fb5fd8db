import { createHash, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { mayDecide, ROLES, type Identity } from "../agent/actors/actor.ts";
import { formCheck } from "../lib/form.ts";
import { closed, complete, TEXT, withDefault, type Complete, type Written } from "../lib/setting.ts";

export const IDENTITY_SETTINGS = {
  /** The name under which the actor asks and decides, in rows and events. Must be given. */
  id: TEXT,
  /** The name by which frontends show the actor. None if omitted. */
  name: withDefault(Type.Unsafe<string | null>({ type: ["string", "null"], minLength: 1 }), null),
  /** A person, or a program. `USER` if omitted. */
  kind: withDefault(Type.Enum(["USER", "SERVICE"]), "USER"),
  /** The tenant whose agents the actor may reach. Must be given. */
  tenant: TEXT,
  /** At least one; roles add up. Must be given. */
  roles: Type.Immutable(Type.Array(Type.Enum([...ROLES]), { minItems: 1 })),
};

export const TOKEN_HASH = Type.String({
  pattern: "^[0-9a-f]{64}$",
  problem: "must match the form of a SHA-256 in hex: printf %s TOKEN | sha256sum",
});

/**
 * A person or a program with a fixed token. Two entries with one id in a tenant are one actor with two tokens, and have
 * the same roles.
 */
export const TOKEN_ACTOR_SETTINGS = {
  ...IDENTITY_SETTINGS,
  /** The token's SHA-256 in hex: `printf %s TOKEN | sha256sum`. Must be given. */
  tokenHash: TOKEN_HASH,
};

export type Identified = Identity & { readonly name: string | null };

/** The answer of sign-in, with the times of its request and its answer, in ms. */
export type Recognised = { readonly identified: Identified; readonly askedAt: number; readonly answeredAt: number };

export type TokenActor = Complete<typeof TOKEN_ACTOR_SETTINGS>;

/** The arguments of a configured `authenticate`: the bearer token, and the headers of the request or of the socket's upgrade. */
export type AuthenticationRequest = { readonly token: string | null; readonly headers: Headers };

type Answer = Written<typeof IDENTITY_SETTINGS> | null | undefined;

export type Authenticate = (request: AuthenticationRequest) => Answer | Promise<Answer>;

export type Asker = {
  readonly key: string;
  readonly identify: () => Promise<Identified | null>;
};

export type Authentication =
  | { readonly kind: "local" }
  | { readonly kind: "tokens"; readonly actors: readonly TokenActor[] }
  | { readonly kind: "custom"; readonly authenticate: Authenticate };

const LOCAL_ADMINISTRATOR: Identified = { id: "local", name: null, kind: "USER", tenant: "local", roles: ["admin"] };

/** The actor of this token; null if it is rejected. */
export async function authenticate(
  authentication: Authentication,
  token: string | null,
  headers: Headers,
): Promise<Identified | null> {
  switch (authentication.kind) {
    case "local":
      return LOCAL_ADMINISTRATOR;
    case "custom":
      return identified(await authentication.authenticate({ token, headers }));
    case "tokens": {
      if (token === null) return null;
      const actor = authentication.actors.find(({ tokenHash }) => isTokenOf(tokenHash, token));
      if (actor === undefined) return null;
      const { tokenHash: _, ...known } = actor;
      return known;
    }
  }
}

/** Headers that do not identify a sender: they differ between requests, or sockets, of one person. */
const OF_ONE_REQUEST = new Set(["sec-websocket-key", "content-length"]);

const NO_HEADERS = new Headers();

/** The sender with these headers of a request or a socket's upgrade, and with this `authorization`. */
export function askerOf(authentication: Authentication, authorization: unknown, headers: Headers): Asker {
  const token = bearerToken(authorization);
  const identifying = [...headers].filter(([name]) => !OF_ONE_REQUEST.has(name));
  const parts = authentication.kind === "local" ? [] : authentication.kind === "tokens" ? [token] : [token, identifying];
  const key = createHash("sha256").update(JSON.stringify(parts)).digest("base64");
  // A socket keeps its sender while it is open, and most ways of authentication need no headers.
  const needed = authentication.kind === "custom" ? headers : NO_HEADERS;
  return { key, identify: () => authenticate(authentication, token, needed) };
}

/** `tokenHash`: a SHA-256 in hex. */
export function isTokenOf(tokenHash: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(tokenHash, "hex"), createHash("sha256").update(token).digest());
}

const problemsOf = formCheck(closed(IDENTITY_SETTINGS), "the answer");

/** The actor that configured code returned. An answer in another form than documented is an error, and rejects the request. */
function identified(answer: Answer): Identified | null {
  if (answer === null || answer === undefined) return null;
  const problems = problemsOf(answer);
  if (problems.length > 0) throw new Error(`the configured \`authenticate\` returned an invalid actor: ${problems.join("; ")}`);
  return complete(IDENTITY_SETTINGS, answer);
}

export function whyNobody(authorization: string | null): string {
  if (authorization === null)
    return "Authentication is required: send the header `Authorization: Bearer <token>`, or over WebSocket `authorization` in connectionParams.";
  return bearerToken(authorization) === null
    ? "The header `Authorization` must have the form `Bearer <token>`."
    : "The token is not accepted: it is wrong, was revoked, or belongs to another server. Ask the operator for one.";
}

/** The same as the reason of a close frame, which has room for 123 bytes. */
export function whyClosed(authorization: unknown): string {
  if (authorization === undefined) return "Forbidden: no token was given";
  return bearerToken(authorization) === null
    ? "Forbidden: `authorization` must have the form `Bearer <token>`"
    : "Forbidden: the token is not accepted";
}

export function bearerToken(authorization: unknown): string | null {
  if (typeof authorization !== "string") return null;
  return /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1] ?? null;
}

/** True if the actor may still decide under the present configuration; unknown, and so true, for configured code. */
export function mayStillDecide(authentication: Authentication, tenant: string, id: string): boolean {
  if (authentication.kind !== "tokens") return true;
  return authentication.actors.some((actor) => actor.id === id && actor.tenant === tenant && mayDecide(actor));
}
