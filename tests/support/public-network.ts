import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { Network } from "../../src/agent/workspace/network/reach.ts";

/** An address of the public internet; nothing is ever sent there. */
export const PUBLIC = "93.184.216.34";
/** An address of the public internet that is the machine's own. */
export const NEAR = "93.184.216.35";

/** A network whose every public address is a server of the test's own, which says what it was asked. */
export async function publicNetwork(addresses: (name: string) => readonly string[] = () => [PUBLIC]) {
  const asked: IncomingMessage[] = [];
  const connections: string[] = [];
  const server = createServer((request, answer) => {
    asked.push(request);
    answer.writeHead(200, { "x-from": "the server", connection: "keep-alive, x-inner", "x-inner": "1" });
    request.pipe(answer);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const network: Network = {
    lookup: async (name) => addresses(name),
    connect: (address, asPort) => {
      connections.push(`${address}:${asPort}`);
      return connect({ host: "127.0.0.1", port });
    },
    isNear: (address) => address === NEAR,
  };
  return { network, asked, connections, port };
}
