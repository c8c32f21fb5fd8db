import { createHash, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { hashOf, isAccessToken, rolesOf, type SignIn } from "../agent/actors/access-token.ts";
import { mayDecide, ROLES, withDelegators, type Actor, type Identity } from "../agent/actors/actor.ts";
import type { Sql } from "../db/sql.ts";
import { formCheck } from "../lib/form.ts";
import { closed, complete, TEXT, withDefault, type Complete, type Written } from "../lib/setting.ts";
import type { SignIns, StoredToken } from "./sign-ins.ts";

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

export type Identified = Identity & { readonly name: string | null; readonly signIn: SignIn };

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
  /** Notes that the sender asked for something. */
  readonly used: (signIn: SignIn) => void;
};

/** The credentials of a request. A session is that of a cookie that counts. */
export type Credentials =
  | { readonly kind: "NONE" }
  | { readonly kind: "TOKEN"; readonly token: string }
  | { readonly kind: "SESSION"; readonly secret: string };

export type Authentication =
  | { readonly kind: "local" }
  | { readonly kind: "tokens"; readonly actors: readonly TokenActor[] }
  | { readonly kind: "custom"; readonly authenticate: Authenticate };

/** The ways to be admitted: the configuration, and the rows of access tokens and sessions. */
export type Doors = { readonly authentication: Authentication; readonly signIns: SignIns };

const LOCAL_ADMINISTRATOR: Identified = {
  id: "local",
  name: null,
  kind: "USER",
  tenant: "local",
  roles: ["admin"],
  signIn: { kind: "LOCAL" },
};

/** The actor with these credentials; null if they are rejected. */
export async function authenticate(
  { authentication, signIns }: Doors,
  credentials: Credentials,
  headers: Headers,
): Promise<Identified | null> {
  switch (authentication.kind) {
    case "local":
      return LOCAL_ADMINISTRATOR;
    case "custom": {
      const token = credentials.kind === "TOKEN" ? credentials.token : null;
      const answer = identified(await authentication.authenticate({ token, headers }));
      return answer === null ? null : { ...answer, signIn: { kind: "AUTHENTICATE" } };
    }
    case "tokens":
      return ofCredentials(authentication, signIns, credentials);
  }
}

type TokenAuthentication = Extract<Authentication, { readonly kind: "tokens" }>;

async function ofCredentials(
  authentication: TokenAuthentication,
  signIns: SignIns,
  credentials: Credentials,
): Promise<Identified | null> {
  switch (credentials.kind) {
    case "NONE":
      return null;
    case "TOKEN": {
      const hash = hashOf(credentials.token);
      const configured = ofConfiguration(authentication, hash, null);
      if (configured !== null || !isAccessToken(credentials.token)) return configured;
      const token = await signIns.tokenOf(hash);
      return token?.isValid === true ? ofStoredToken(authentication, token, null) : null;
    }
    case "SESSION": {
      const session = await signIns.sessionOf(hashOf(credentials.secret));
      if (session === null) return null;
      const { sessionId, token, tokenHash, tenant, actorId } = session;
      if (token !== null) return ofStoredToken(authentication, token, sessionId);
      const configured = ofConfiguration(authentication, tokenHash, sessionId);
      return configured?.tenant === tenant && configured.id === actorId ? configured : null;
    }
  }
}

function ofConfiguration({ actors }: TokenAuthentication, hash: string, sessionId: string | null): Identified | null {
  const actor = actors.find(({ tokenHash }) => isSame(tokenHash, hash));
  if (actor === undefined) return null;
  const { tokenHash: _, ...known } = actor;
  return { ...known, signIn: { kind: "CONFIGURED_TOKEN", sessionId } };
}

/** The actor of this id, as the configuration has them now; null if it has none. */
export function configuredActor(
  { actors }: TokenAuthentication,
  tenant: string,
  id: string,
  sessionId: string | null,
): Identified | null {
  const actor = actors.find((each) => each.id === id && each.tenant === tenant);
  if (actor === undefined) return null;
  const { tokenHash: _, ...known } = actor;
  return { ...known, signIn: { kind: "CONFIGURED_TOKEN", sessionId } };
}

/** The actor of an access token, as the configuration has them now, with the roles that both have. */
export function ofStoredToken(
  { actors }: TokenAuthentication,
  { tenant, actorId, roles: stored, accessTokenId }: StoredToken,
  sessionId: string | null,
): Identified | null {
  const actor = actors.find(({ id, tenant: of }) => id === actorId && of === tenant);
  if (actor === undefined) return null;
  const { id, name, kind } = actor;
  const roles = rolesOf(stored, actor.roles);
  if (roles.length === 0) return null;
  const isNarrowed = actor.roles.some((role) => !roles.includes(role));
  return { id, name, kind, tenant, roles, signIn: { kind: "ACCESS_TOKEN", accessTokenId, sessionId, isNarrowed } };
}

/** Headers that do not identify a sender: they differ between requests, or sockets, of one person. */
const OF_ONE_REQUEST = new Set(["sec-websocket-key", "content-length"]);

const NO_HEADERS = new Headers();

/** The credentials of an `authorization`; of a session without one. */
export function credentialsOf(authorization: unknown, sessionSecret: string | null): Credentials {
  const token = bearerToken(authorization);
  if (token !== null) return { kind: "TOKEN", token };
  const isGiven = authorization !== undefined && authorization !== null;
  return isGiven || sessionSecret === null ? { kind: "NONE" } : { kind: "SESSION", secret: sessionSecret };
}

/** The sender with these credentials and these headers of a request or a socket's upgrade. */
export function askerOf(doors: Doors, credentials: Credentials, headers: Headers): Asker {
  const { authentication, signIns } = doors;
  const identifying = [...headers].filter(([name]) => !OF_ONE_REQUEST.has(name));
  const parts =
    authentication.kind === "local" ? [] : authentication.kind === "tokens" ? [credentials] : [credentials, identifying];
  const key = createHash("sha256").update(JSON.stringify(parts)).digest("base64");
  // A socket keeps its sender while it is open, and most ways of authentication need no headers.
  const needed = authentication.kind === "custom" ? headers : NO_HEADERS;
  return { key, identify: () => authenticate(doors, credentials, needed), used: (signIn) => signIns.used(signIn) };
}

/** `tokenHash`: a SHA-256 in hex. */
export function isTokenOf(tokenHash: string, token: string): boolean {
  return isSame(tokenHash, hashOf(token));
}

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, "hex"), Buffer.from(other, "hex"));
}

const problemsOf = formCheck(closed(IDENTITY_SETTINGS), "the answer");

/** The actor that configured code returned. An answer in another form than documented is an error, and rejects the request. */
function identified(answer: Answer): Omit<Identified, "signIn"> | null {
  if (answer === null || answer === undefined) return null;
  const problems = problemsOf(answer);
  if (problems.length > 0) throw new Error(`the configured \`authenticate\` returned an invalid actor: ${problems.join("; ")}`);
  return complete(IDENTITY_SETTINGS, answer);
}

/** Why a request is refused. `isOfConsole`: it came from the console's page, which sends no token. */
export function whyNobody(authorization: string | null, isOfConsole: boolean): string {
  if (authorization === null && isOfConsole) return "There is no session, or it has ended: sign in to the console.";
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

/** The actor with those who delegate to them. A token with fewer roles than its person has no rights of others. */
export async function actorOf(sql: Sql, authentication: Authentication, identity: Identified): Promise<Actor> {
  if (identity.signIn.kind === "ACCESS_TOKEN" && identity.signIn.isNarrowed) return { ...identity, delegators: [] };
  return withDelegators(sql, identity, (id) => mayStillDecide(authentication, identity.tenant, id));
}

/** True if the actor may still decide under the present configuration; unknown, and so true, for configured code. */
export function mayStillDecide(authentication: Authentication, tenant: string, id: string): boolean {
  if (authentication.kind !== "tokens") return true;
  return authentication.actors.some((actor) => actor.id === id && actor.tenant === tenant && mayDecide(actor));
}
