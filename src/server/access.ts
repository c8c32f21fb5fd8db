import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { isLoopback } from "../lib/addresses.ts";
import { headBytes } from "../lib/text.ts";
import type { LogFields, Logger } from "../telemetry/log.ts";
import { authenticate, bearerToken, isTokenOf, type Doors } from "./authenticate.ts";
import type { TokenGuesses } from "./token-guesses.ts";
import { type TrustedDocuments, asksFor } from "./trusted-documents.ts";

export type Access = Doors & {
  /** The origin at which browsers reach the server, without a slash at its end; null if unknown. */
  readonly publicUrl: string | null;
  readonly allowedOrigins: readonly string[];
  readonly documents: TrustedDocuments;
};

export type OriginProblem = { readonly status: 400 | 403; readonly message: string };

/**
 * Why a request's Host or Origin is rejected; null if both are accepted. Web pages of other origins may not connect,
 * and a server without actors answers to loopback names only. Otherwise any page in the operator's browser could drive
 * agents. An invalid Host is rejected, since addresses are made of it.
 */
export function originProblem(
  { headers, url }: IncomingMessage,
  { authentication, allowedOrigins, publicUrl }: Pick<Access, "authentication" | "allowedOrigins" | "publicUrl">,
): OriginProblem | null {
  const host = headers.host ?? "";
  if (host !== "" && !isHost(host)) return { status: 400, message: `Host ${JSON.stringify(host)} is not a valid host name` };
  if (authentication.kind === "local" && !isLoopback(hostname(host)))
    return foreign(`Host ${JSON.stringify(host)} is not this machine: connect to 127.0.0.1 or localhost, or configure actors`);
  const { origin } = headers;
  if (isForeignRead(headers, url ?? "/"))
    return foreign("requests from other web pages are rejected: open this page directly, or send a POST with an allowed Origin");
  if (origin === undefined || isOwnOrigin(origin, headers, publicUrl)) return null;
  if (allowedOrigins.some((allowed) => isSame(allowed, origin))) return null;
  return foreign(`Origin ${JSON.stringify(origin)} is not allowed: add it to allowedOrigins in the configuration`);
}

export function logRejection(logger: Logger, request: IncomingMessage, { message }: OriginProblem): void {
  logger.tell("origin_refused", `a request was refused: ${message}`, sourceOf(request.socket, request.headers.origin));
}

/** The client's address, for the log. Behind a proxy it is the proxy's. */
export function sourceOf(
  socket: { readonly remoteAddress?: string | undefined } | undefined,
  origin: string | undefined,
): Pick<LogFields, "address" | "origin"> {
  return {
    ...(socket?.remoteAddress === undefined ? {} : { address: socket.remoteAddress }),
    ...(origin === undefined ? {} : { origin: headBytes(origin, SHOWN_BYTES) }),
  };
}

const SHOWN_BYTES = 200;

function foreign(message: string): OriginProblem {
  return { status: 403, message };
}

/** True for a name or an address, with or without a port, and no other part of a URL. */
function isHost(host: string): boolean {
  return !/[\s/\\?#@]/.test(host) && URL.canParse(`http://${host}`);
}

/**
 * True if another site's page sends an operation without an Origin, such as by an image or a script. Browsers report
 * that in Sec-Fetch-Site, older ones in Referer. Opening the address as a page, without an operation, is allowed.
 */
function isForeignRead(headers: IncomingMessage["headers"], url: string): boolean {
  // Paths may be no URLs, and a query may have a second question mark.
  const [path = "", ...query] = url.split("?");
  if (path !== "/graphql" || !asksFor(new URLSearchParams(query.join("?")))) return false;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  return headers.referer !== undefined && !isOwn(headers.referer, headers);
}

/** True if two origins are equal, ignoring case and the scheme's default port. */
function isSame(one: string, other: string): boolean {
  return (
    URL.canParse(one) && URL.canParse(other) && new URL(one).origin !== "null" && new URL(one).origin === new URL(other).origin
  );
}

/**
 * True if an address belongs to the server's own page: the Host of the request, over http or https. X-Forwarded-Proto
 * of a proxy is believed, since http and https are different origins.
 */
function isOwn(address: string, headers: OriginHeaders): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, origin } = new URL(address);
  if (protocol !== "http:" && protocol !== "https:") return false;
  const [scheme] = String(headers["x-forwarded-proto"] ?? "").split(",");
  if (scheme !== undefined && scheme.trim() !== "" && `${scheme.trim().toLowerCase()}:` !== protocol) return false;
  return isSame(`${protocol}//${headers.host ?? ""}`, origin);
}

type OriginHeaders = {
  readonly host?: string | undefined;
  readonly "x-forwarded-proto"?: string | readonly string[] | undefined;
};

/** True for an origin of the server's own pages: where the request arrived, or `publicUrl`. */
export function isOwnOrigin(origin: string, headers: OriginHeaders, publicUrl: string | null): boolean {
  return isOwn(origin, headers) || (publicUrl !== null && isSame(publicUrl, origin));
}

export function hostname(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : "";
}

export function headersOf(headers: IncomingHttpHeaders): Headers {
  return new Headers(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value] as [string, string]],
    ),
  );
}

/** Headers by which a proxy forwards a request: its client is not on this machine. */
export const FORWARDED: readonly string[] = ["forwarded", "x-forwarded-for", "x-real-ip"];

type MetricsDoors = Access & { readonly metricsTokenHash: string | null; readonly guesses: TokenGuesses };

/**
 * True if the request may read the metrics: with their token, or as an administrator. Without a configured token, local
 * clients may too: a proxy that sends no forwarding header counts as local.
 */
export async function mayReadMetrics(
  request: Pick<IncomingMessage, "headers" | "socket">,
  { metricsTokenHash, guesses, ...doors }: MetricsDoors,
): Promise<boolean> {
  const { headers, socket } = request;
  const isForwarded = FORWARDED.some((name) => headers[name] !== undefined);
  if (metricsTokenHash === null && !isForwarded && isLoopback(socket.remoteAddress ?? "")) return true;
  const token = bearerToken(headers.authorization);
  if (token === null) return false;
  const { authorization = "" } = headers;
  const credentials = { kind: "TOKEN", token } as const;
  const right = await guesses.tried(credentials, request, async () => {
    if (metricsTokenHash !== null && isTokenOf(metricsTokenHash, token)) return "collector";
    const identified = await authenticate(doors, credentials, new Headers({ authorization }));
    return identified === null ? null : identified.roles.includes("admin") ? "administrator" : "other";
  });
  return right !== null && right !== "other";
}
