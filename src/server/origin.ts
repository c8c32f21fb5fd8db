import type { IncomingMessage } from "node:http";
import type { LogFields, Logger } from "../telemetry/log.ts";
import { headBytes } from "../lib/text.ts";
import { isLoopback } from "../lib/loopback.ts";
import type { Access } from "./access.ts";
import { asksFor } from "./trusted-documents.ts";

/** A request that is refused for its Host or its Origin: HTTP's status, and what to do. */
export type OriginProblem = { readonly status: 400 | 403; readonly message: string };

/**
 * The reason for which a request is refused for where it comes from or goes to, or null. Web pages of other origins may not
 * connect, and a server without actors answers to loopback names only: otherwise any page in the operator's browser could drive
 * agents. A Host that is none is refused, since addresses are made of it.
 */
export function originProblem(
  { headers, url }: IncomingMessage,
  { authentication, allowedOrigins }: Access,
): OriginProblem | null {
  const host = headers.host ?? "";
  if (host !== "" && !isHost(host)) return { status: 400, message: `Host ${JSON.stringify(host)} is not a valid host name` };
  if (authentication.kind === "local" && !isLoopback(hostname(host)))
    return foreign(`Host ${JSON.stringify(host)} is not this machine: connect to 127.0.0.1 or localhost, or configure actors`);
  const { origin } = headers;
  if (isForeignRead(headers, url ?? "/"))
    return foreign("requests from other web pages are rejected: open this page directly, or send a POST with an allowed Origin");
  if (origin === undefined || allowedOrigins.some((allowed) => isSame(allowed, origin)) || isOwn(origin, headers)) return null;
  return foreign(`Origin ${JSON.stringify(origin)} is not allowed: add it to allowedOrigins in the configuration`);
}

/** Tells the operator of a request that was refused for where it comes from or goes to. */
export function tellRefused(logger: Logger, request: IncomingMessage, { message }: OriginProblem): void {
  logger.tell("origin_refused", `a request was refused: ${message}`, sourceOf(request.socket, request.headers.origin));
}

/** Where a request came from, for the operator. A proxy in between is known by its own address. */
export function sourceOf(
  socket: { readonly remoteAddress?: string | undefined } | undefined,
  origin: string | undefined,
): Pick<LogFields, "address" | "origin"> {
  return {
    ...(socket?.remoteAddress === undefined ? {} : { address: socket.remoteAddress }),
    ...(origin === undefined ? {} : { origin: headBytes(origin, SHOWN_BYTES) }),
  };
}

/** The longest origin that is logged, in bytes: whoever asks writes it. */
const SHOWN_BYTES = 200;

function foreign(message: string): OriginProblem {
  return { status: 403, message };
}

/** True for a name or an address, with a port or without one, and nothing else of a URL. */
function isHost(host: string): boolean {
  return !/[\s/\\?#@]/.test(host) && URL.canParse(`http://${host}`);
}

/**
 * True if a page of another site sends an operation in a way that carries no Origin, such as an image or a script: browsers
 * say so in Sec-Fetch-Site, older ones in Referer. That the address is opened as a page, without an operation, is allowed.
 */
function isForeignRead(headers: IncomingMessage["headers"], url: string): boolean {
  // Paths may be no URLs, and a query may have another question mark in it.
  const [path = "", ...query] = url.split("?");
  if (path !== "/graphql" || !asksFor(new URLSearchParams(query.join("?")))) return false;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  return headers.referer !== undefined && !isOwn(headers.referer, headers);
}

/** True if two origins are one, however they are written: names in any case, and a port that is the scheme's own. */
function isSame(one: string, other: string): boolean {
  return (
    URL.canParse(one) && URL.canParse(other) && new URL(one).origin !== "null" && new URL(one).origin === new URL(other).origin
  );
}

/**
 * True if an address is of the server's own page: of the Host that it was asked as, by http or https. A proxy that says by which of
 * the two it was asked itself (X-Forwarded-Proto) is believed: a page by http is another than the same by https.
 */
function isOwn(address: string, headers: IncomingMessage["headers"]): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, origin } = new URL(address);
  if (protocol !== "http:" && protocol !== "https:") return false;
  const [scheme] = String(headers["x-forwarded-proto"] ?? "").split(",");
  if (scheme !== undefined && scheme.trim() !== "" && `${scheme.trim().toLowerCase()}:` !== protocol) return false;
  return isSame(`${protocol}//${headers.host ?? ""}`, origin);
}

function hostname(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : "";
}
