import type { IncomingMessage } from "node:http";
import { isLoopback } from "../lib/addresses.ts";
import type { Access } from "./access.ts";
import { authenticate, bearerToken, isTokenOf } from "./authenticate.ts";

/** Headers by which a proxy forwards a request: its client is not on this machine. */
const FORWARDED = ["forwarded", "x-forwarded-for", "x-real-ip"];

/**
 * True if the request may read the metrics: with their token, or as an administrator. Without a configured token, local
 * clients may too: a proxy that sends no forwarding header counts as local.
 */
export async function mayReadMetrics(
  { headers, socket: { remoteAddress } }: IncomingMessage,
  { authentication, metricsTokenHash }: Access & { readonly metricsTokenHash: string | null },
): Promise<boolean> {
  const isForwarded = FORWARDED.some((name) => headers[name] !== undefined);
  if (metricsTokenHash === null && !isForwarded && isLoopback(remoteAddress ?? "")) return true;
  const token = bearerToken(headers.authorization);
  if (token === null) return false;
  if (metricsTokenHash !== null && isTokenOf(metricsTokenHash, token)) return true;
  const { authorization = "" } = headers;
  return (await authenticate(authentication, token, new Headers({ authorization })))?.roles.includes("admin") === true;
}
