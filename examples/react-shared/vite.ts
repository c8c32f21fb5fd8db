import type { IncomingMessage } from "node:http";
import react from "@vitejs/plugin-react";
import type { ProxyOptions, UserConfig } from "vite";

/** What both apps are built and served with. TRIPLANE_URL names the server that they talk with. */
export function shared(): UserConfig {
  const server = process.env["TRIPLANE_URL"] ?? `http://127.0.0.1:${process.env["PORT"] ?? "4000"}`;
  // The app's own server hands /graphql on, so that the browser sees one origin.
  const graphql: ProxyOptions = {
    target: server,
    ws: true,
    changeOrigin: true,
    headers: { origin: server },
    bypass: (request) => (isOfOwnPage(request) ? undefined : false),
  };
  const proxy = { "/graphql": graphql };
  return { plugins: [react()], server: { proxy }, preview: { proxy } };
}

/**
 * True if a request or an upgrade may be handed on: it comes to a name of this machine, from the page that is served there
 * or from a program, which sends no Origin. Triplane cannot refuse the others by itself: the proxy writes its own Host and
 * Origin into all that it hands on, and does not look at those of an upgrade.
 */
function isOfOwnPage({ headers: { host, origin } }: IncomingMessage): boolean {
  if (host === undefined || !/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host)) return false;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host.toLowerCase());
}
