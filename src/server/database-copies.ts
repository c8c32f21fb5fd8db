import type { IncomingMessage, ServerResponse } from "node:http";
import { basename } from "node:path";
import type { ServedCopies } from "../db/copies/served-copies.ts";
import { isLoopback } from "../lib/addresses.ts";
import { type Access, FORWARDED, hostname } from "./access.ts";
import { authenticate, bearerToken, type Identified } from "./authenticate.ts";

/** Headers of proxies besides those of their clients' addresses. */
const OF_PROXIES: readonly string[] = [...FORWARDED, "x-forwarded-host", "x-forwarded-proto", "via"];

type CopyAnswer = { readonly status: number; readonly body: { readonly copy: string } | { readonly message: string } };

/**
 * Answers `POST /database-copies?tenant=…` with the name of a new copy of the embedded database in its folder of copies. Only
 * administrators of the tenant on this machine may ask. The copy has the rows of all tenants, and is readable by the user of the server only.
 */
export async function answerCopy(
  request: IncomingMessage,
  response: ServerResponse,
  access: Access,
  copies: Pick<ServedCopies, "make"> | null,
): Promise<void> {
  const { status, body } = await copied(request, access, copies);
  // A body is never read.
  request.resume();
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
  response.end(`${JSON.stringify(body)}\n`);
}

async function copied(request: IncomingMessage, access: Access, copies: Pick<ServedCopies, "make"> | null): Promise<CopyAnswer> {
  if (!isOfThisMachine(request)) return refusal(403, "copies are for this machine only: ask at 127.0.0.1, and through no proxy");
  if (request.method !== "POST" || !/^application\/json\b/i.test(request.headers["content-type"] ?? ""))
    return refusal(405, "ask for a copy with POST, with the type application/json");
  const administrator = await administratorOf(request, access);
  if (administrator === null)
    return refusal(401, "copies are for administrators: give the token of one, by TRIPLANE_TOKEN for `npm run sql`");
  const tenant = tenantOf(request);
  if (access.authentication.kind !== "local" && administrator.tenant !== tenant)
    return refusal(
      403,
      `the token is of an administrator of ${administrator.tenant}, not of ${tenant}: give --tenant ${administrator.tenant}, or the token of an administrator of ${tenant}`,
    );
  if (copies === null) return refusal(404, "this server has no embedded database: `npm run bi` grants logins of its PostgreSQL");
  const made = await copies.make();
  if (made.ok) return { status: 200, body: { copy: basename(made.value) } };
  return refusal(made.refusal.kind === "NO_ROOM" ? 507 : 429, made.refusal.message);
}

/** The Host counts also if actors are configured: a page whose name leads to this machine by DNS has another one. */
function isOfThisMachine({ headers, socket: { remoteAddress } }: IncomingMessage): boolean {
  return (
    isLoopback(remoteAddress ?? "") &&
    isLoopback(hostname(headers.host ?? "")) &&
    headers.origin === undefined &&
    OF_PROXIES.every((name) => headers[name] === undefined)
  );
}

/** A server without actors has one administrator, who is whoever reaches it. */
async function administratorOf({ headers: { authorization = "" } }: IncomingMessage, access: Access): Promise<Identified | null> {
  const token = bearerToken(authorization);
  const credentials = token === null ? ({ kind: "NONE" } as const) : ({ kind: "TOKEN", token } as const);
  const identified = await authenticate(access, credentials, new Headers({ authorization }));
  return identified?.roles.includes("admin") === true ? identified : null;
}

function tenantOf({ url = "" }: IncomingMessage): string {
  const [, query = ""] = url.split("?", 2);
  return new URLSearchParams(query).get("tenant") ?? "";
}

function refusal(status: number, message: string): CopyAnswer {
  return { status, body: { message } };
}
