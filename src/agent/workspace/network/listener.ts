import { Server } from "node:net";
import type { ChildProcess } from "node:child_process";

/** The port of the proxy on a box's loopback address. It is free: each box has its own network. */
export const PROXY_PORT = 3128;

/**
 * A Node program that opens the proxy's port in a box's network, passes the listening socket to the server through its
 * channel, and ends. So the proxy itself runs outside of the box, with a socket for this box alone.
 */
export const OPENS_PORT = `const server = require("node:net").createServer();
server.listen(${PROXY_PORT}, "127.0.0.1", () => process.send("listening", server, () => process.exit(0)));`;

export function listenerOf(child: ChildProcess): Promise<Server> {
  return new Promise((resolve) => {
    child.once("message", (_message, handle) => {
      child.disconnect();
      if (handle instanceof Server) resolve(handle);
    });
  });
}

export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, `http://127.0.0.1:${PROXY_PORT}`]),
  ),
  ...Object.fromEntries(["no_proxy", "NO_PROXY"].map((name) => [name, "localhost,127.0.0.1,::1"])),
  // Node's own fetch reads the others only with this.
  NODE_USE_ENV_PROXY: "1",
};
