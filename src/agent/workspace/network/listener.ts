import { Server } from "node:net";
import type { ChildProcess } from "node:child_process";

/** The port of the proxy on the loopback address of a box. Each box has a network of its own, so it is free. */
export const PROXY_PORT = 3128;

/**
 * A program of Node that opens the proxy's port in the network of a box, hands the listening socket to the server through
 * its channel, and ends. So nothing of the proxy runs in the box, and the socket is of this box alone.
 */
export const OPENS_PORT = `const server = require("node:net").createServer();
server.listen(${PROXY_PORT}, "127.0.0.1", () => process.send("listening", server, () => process.exit(0)));`;

/** The listening socket that comes through the channel of a program. */
export function listenerOf(child: ChildProcess): Promise<Server> {
  return new Promise((resolve) => {
    child.once("message", (_message, handle) => {
      child.disconnect();
      if (handle instanceof Server) resolve(handle);
    });
  });
}

/** The variables by which programs find the proxy. */
export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map((name) => [name, `http://127.0.0.1:${PROXY_PORT}`]),
  ),
  ...Object.fromEntries(["no_proxy", "NO_PROXY"].map((name) => [name, "localhost,127.0.0.1,::1"])),
  // Node's own fetch reads the others only with this.
  NODE_USE_ENV_PROXY: "1",
};
