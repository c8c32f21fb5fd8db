import type { IncomingMessage } from "node:http";
import { isLoopback } from "../lib/loopback.ts";
import type { Access } from "./access.ts";

/**
 * Why a request is refused for where it comes from, or null. Web pages of other origins may not connect, and a server
 * without actors answers to loopback names only: otherwise any page in the operator's browser could drive agents.
 */
export function originProblem({ headers }: IncomingMessage, { authentication, allowedOrigins }: Access): string | null {
  const host = headers.host ?? "";
  if (authentication.kind === "local" && !isLoopback(hostname(host)))
    return `Host ${JSON.stringify(host)} is not this machine: connect to 127.0.0.1 or localhost, or configure actors`;
  const { origin } = headers;
  if (origin === undefined || allowedOrigins.includes(origin) || originHost(origin) === host) return null;
  return `Origin ${JSON.stringify(origin)} is not allowed: add it to allowedOrigins in the configuration`;
}

function hostname(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : "";
}

function originHost(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
