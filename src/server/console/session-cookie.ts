import { isLoopback } from "../../lib/addresses.ts";
import { FORWARDED, hostname, isOwnOrigin, type Access } from "../access.ts";

/**
 * The header that a request by a session must have. Forms, images and links of other pages cannot send it. Over
 * WebSocket it is a field of connectionParams.
 */
export const CONSOLE_HEADER = "x-triplane-console";

type Origins = Pick<Access, "publicUrl">;

/** The names of the cookie. Browsers keep the first only for one host, over https; the second belongs to one port of this machine. */
const SECURE_NAME = "__Host-triplane";
const LOOPBACK_NAME = (host: string): string => `triplane-${/:(\d+)$/.exec(host)?.[1] ?? "80"}`;

/** How the browser reaches the server, as far as a request says it. OPEN: without encryption, from elsewhere. */
export type Transport = "SECURE" | "LOOPBACK" | "OPEN";

export function transportOf(headers: Headers, { publicUrl }: Origins): Transport {
  const origin = headers.get("origin");
  const host = headers.get("host") ?? "";
  const [scheme = ""] = (headers.get("x-forwarded-proto") ?? "").split(",");
  if (scheme.trim().toLowerCase() === "https") return "SECURE";
  if (origin?.startsWith("https://") === true && isOwnOrigin(origin, originHeaders(headers), publicUrl)) return "SECURE";
  const isForwarded = scheme !== "" || FORWARDED.some((name) => headers.has(name));
  if (publicUrl?.startsWith("https://") === true && (isForwarded || new URL(publicUrl).host === host.toLowerCase()))
    return "SECURE";
  return !isForwarded && isLoopback(hostname(host)) ? "LOOPBACK" : "OPEN";
}

/** The Set-Cookie of a new session. Over an open transport, others could read it. */
export function sessionCookie(secret: string, headers: Headers, transport: Exclude<Transport, "OPEN">, maxAgeMs: number): string {
  const common = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${Math.floor(maxAgeMs / 1_000)}`;
  return transport === "SECURE"
    ? `${SECURE_NAME}=${secret}; ${common}; Secure`
    : `${LOOPBACK_NAME(headers.get("host") ?? "")}=${secret}; ${common}`;
}

/** The Set-Cookies that remove the cookie, of each of its names. */
export function removedCookies(headers: Headers): string[] {
  const common = "Path=/; HttpOnly; SameSite=Strict; Max-Age=0";
  return [`${SECURE_NAME}=; ${common}; Secure`, `${LOOPBACK_NAME(headers.get("host") ?? "")}=; ${common}`];
}

/** The secret of the session that counts for a request over HTTP; null for none. */
export function requestSecret(headers: Headers, origins: Origins): string | null {
  const isStream = headers.get("accept")?.includes("text/event-stream") === true;
  if (headers.get(CONSOLE_HEADER) !== "1" || !isOfOwnPage(headers, origins, isStream)) return null;
  return secretIn(headers, origins);
}

/** The secret of the session that counts for a WebSocket; null for none. Browsers send each socket's Origin. */
export function socketSecret(
  headers: Headers,
  connectionParams: Readonly<Record<string, unknown>> | undefined,
  origins: Origins,
): string | null {
  if (connectionParams?.[CONSOLE_HEADER] !== "1" || !isOfOwnPage(headers, origins, true)) return null;
  return secretIn(headers, origins);
}

/**
 * True if a page of the server's own asks, and none of `allowedOrigins`: those sign in with tokens. `mustSay`: false if a
 * request need not say it: programs and old browsers do not.
 */
export function isOfOwnPage(headers: Headers, { publicUrl }: Origins, mustSay: boolean): boolean {
  const origin = headers.get("origin");
  if (origin !== null) return isOwnOrigin(origin, originHeaders(headers), publicUrl);
  const site = headers.get("sec-fetch-site");
  return site === null ? !mustSay : site === "same-origin";
}

function originHeaders(headers: Headers): { host: string; "x-forwarded-proto": string } {
  return { host: headers.get("host") ?? "", "x-forwarded-proto": headers.get("x-forwarded-proto") ?? "" };
}

const SECRET = /^[0-9a-f]{64}$/;

/**
 * The secret in the cookie. Over https only the name counts that no other host can set. A name that occurs twice does
 * not count: another host has set one of them.
 */
function secretIn(headers: Headers, origins: Origins): string | null {
  const cookies = (headers.get("cookie") ?? "").split(";").map((each) => each.trim());
  const host = headers.get("host") ?? "";
  const names = transportOf(headers, origins) === "LOOPBACK" ? [SECURE_NAME, LOOPBACK_NAME(host)] : [SECURE_NAME];
  for (const name of names) {
    const values = cookies.flatMap((each) => (each.startsWith(`${name}=`) ? [each.slice(name.length + 1)] : []));
    const [value = ""] = values;
    if (values.length === 1 && SECRET.test(value)) return value;
  }
  return null;
}
