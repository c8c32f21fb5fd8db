import type { IncomingMessage, ServerResponse } from "node:http";
import { globalId } from "../../lib/global-id.ts";
import { isJsonObject } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { SESSION_TIMES } from "../../resolvers/sign-in.ts";
import type { Logger } from "../../telemetry/log.ts";
import { headersOf, sourceOf, type Access } from "../access.ts";
import { askerOf, authenticate, bearerToken, credentialsOf, type Authentication, type Identified } from "../authenticate.ts";
import type { SharedContext } from "../context.ts";
import { addressOf, type TokenGuesses } from "../token-guesses.ts";
import type { FailedSignIns } from "./failed-sign-ins.ts";
import { returnTo } from "./return-to.ts";
import { CONSOLE_HEADER, isOfOwnPage, removedCookies, requestSecret, sessionCookie, transportOf } from "./session-cookie.ts";
import { beginSession, logOut } from "./session-rows.ts";

export const SESSION_PATH = "/console/session";

const BODY_BYTES = 8 * 1024;

export type SessionServices = Pick<SharedContext, "services" | "admissions"> &
  Access & { readonly failedSignIns: FailedSignIns; readonly guesses: TokenGuesses; readonly logger: Logger };

type Refused = { readonly status: number; readonly code: string; readonly message: string; readonly retryAfterS?: number };

const MODES = { local: "none", tokens: "token", custom: "authenticate" } as const satisfies Record<
  Authentication["kind"],
  string
>;

/**
 * Answers `/console/session`: GET says who the browser is, POST signs in with `{ token, returnTo }` and sets the cookie, DELETE
 * signs out. Each needs the console's header, which pages of other sites cannot send.
 */
export async function answerSession(
  request: IncomingMessage,
  response: ServerResponse,
  services: SessionServices,
): Promise<void> {
  const headers = headersOf(request.headers);
  const done = await perform(request, headers, services);
  response.setHeader("cache-control", "no-store");
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  response.setHeader("content-type", "application/json; charset=utf-8");
  if (!done.ok) {
    const { status, code, message, retryAfterS } = done.refusal;
    if (retryAfterS !== undefined) response.setHeader("retry-after", String(retryAfterS));
    if (status === 405) response.setHeader("allow", "GET, POST, DELETE");
    // A body that is too large is not read to its end.
    if (status === 413) response.setHeader("connection", "close");
    response.writeHead(status).end(`${JSON.stringify({ error: { code, message } })}\n`);
    return;
  }
  const { cookies, body } = done.value;
  if (cookies.length > 0) response.setHeader("set-cookie", [...cookies]);
  response.writeHead(200).end(`${JSON.stringify(body)}\n`);
}

type Done = { readonly cookies: readonly string[]; readonly body: object };

async function perform(request: IncomingMessage, headers: Headers, services: SessionServices): Promise<Result<Done, Refused>> {
  if (headers.get(CONSOLE_HEADER) !== "1" || !isOfOwnPage(headers, services, false))
    return problem(
      403,
      "FORBIDDEN",
      `only the console asks here: send the header ${CONSOLE_HEADER}: 1 from a page of this server`,
    );
  if (request.url !== SESSION_PATH)
    return problem(400, "BAD_REQUEST", "this address has no parameters: a token in an address would be in logs");
  switch (request.method) {
    case "GET":
      return accepted({ cookies: [], body: await present(request, headers, services) });
    case "POST":
      return signIn(request, headers, services);
    case "DELETE": {
      const secret = requestSecret(headers, services);
      if (secret !== null) await logOut(services.services, secret);
      return accepted({ cookies: removedCookies(headers), body: stateOf(services, headers, null, null) });
    }
    default:
      return problem(405, "METHOD_NOT_ALLOWED", "use GET, POST or DELETE");
  }
}

async function present(request: IncomingMessage, headers: Headers, services: SessionServices): Promise<object> {
  const credentials = credentialsOf(headers.get("authorization"), requestSecret(headers, services));
  const asker = askerOf(services, credentials, headers);
  const recognised = await services.guesses.tried(credentials, request, () => services.admissions.recognise(asker));
  const identified = recognised?.identified ?? null;
  const sessionId = identified !== null && "sessionId" in identified.signIn ? identified.signIn.sessionId : null;
  return stateOf(services, headers, identified, sessionId);
}

/** The state of the browser. `problem`: why a sign-in over this connection is refused; null if it is possible, or not needed. */
function stateOf(access: Access, headers: Headers, identified: Identified | null, sessionId: string | null): object {
  const mode = MODES[access.authentication.kind];
  const isOpen = mode === "token" && transportOf(headers, access) === "OPEN";
  return {
    mode,
    isSignedIn: identified !== null,
    viewer:
      identified === null
        ? null
        : {
            actorId: identified.id,
            name: identified.name,
            kind: identified.kind,
            tenant: identified.tenant,
            roles: identified.roles.map((role) => role.toUpperCase()),
          },
    sessionId: sessionId === null ? null : globalId("Session", sessionId),
    problem: isOpen ? NEEDS_HTTPS : null,
  };
}

const NEEDS_HTTPS =
  "signing in needs https, or a browser on the server's own machine: set `publicUrl`, or let the proxy send X-Forwarded-Proto";

async function signIn(request: IncomingMessage, headers: Headers, services: SessionServices): Promise<Result<Done, Refused>> {
  const { authentication, failedSignIns, logger } = services;
  if (authentication.kind !== "tokens")
    return problem(409, "NO_TOKENS", "this server signs in without a token: open the console");
  const transport = transportOf(headers, services);
  if (transport === "OPEN") return problem(403, "NEEDS_HTTPS", NEEDS_HTTPS);
  const body = await readBody(request);
  if (!body.ok) return body;
  const { token, wanted } = body.value;
  const address = addressOf(request);
  const wait = failedSignIns.waitOf(address, token);
  if (wait !== null) return tooMany(wait);
  const identified = await authenticate(services, { kind: "TOKEN", token }, headers);
  if (identified === null) {
    logger.tell("token_refused", "a sign-in to the console was refused", { ...sourceOf(request.socket, undefined), address });
    const tenantsWait = await failedSignIns.count(address, token);
    return tenantsWait === null ? problem(401, "UNAUTHENTICATED", NOT_ACCEPTED) : tooMany(tenantsWait);
  }
  services.signIns.used(identified.signIn);
  const { sessionId, secret } = await beginSession(
    services.services,
    identified,
    token,
    headers.get("user-agent"),
    requestSecret(headers, services),
  );
  logger.tell("signed_in", "an actor signed in to the console", { tenant: identified.tenant, actor: identified.id, address });
  return accepted({
    cookies: [sessionCookie(secret, headers, transport, SESSION_TIMES.mostMs)],
    body: { ...stateOf(services, headers, identified, sessionId), returnTo: returnTo(wanted) },
  });
}

const NOT_ACCEPTED = "the token is not accepted: it is wrong, has expired, was revoked, or belongs to another server";

function tooMany(retryAfterS: number): Result<never, Refused> {
  return refused({
    status: 429,
    code: "RATE_LIMITED",
    message: `too many sign-ins have failed: try again in ${retryAfterS} s`,
    retryAfterS,
  });
}

type SignInRequest = { readonly token: string; readonly wanted: unknown };

async function readBody(request: IncomingMessage): Promise<Result<SignInRequest, Refused>> {
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
    return problem(415, "UNSUPPORTED_MEDIA_TYPE", "send a body of type application/json");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES) return problem(413, "TOO_LARGE", `a body has at most ${BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return read(Buffer.concat(chunks).toString("utf8"));
}

function read(text: string): Result<SignInRequest, Refused> {
  const form = problem(400, "BAD_REQUEST", 'send { "token": "…" }, and a "returnTo" if wanted');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return form;
  }
  if (!isJsonObject(body)) return form;
  const { token, returnTo: wanted = null, ...others } = body;
  const given = typeof token === "string" ? bearerToken(`Bearer ${token}`) : null;
  return given === null || Object.keys(others).length > 0 ? form : accepted({ token: given, wanted });
}

function problem(status: number, code: string, message: string): Result<never, Refused> {
  return refused({ status, code, message });
}
