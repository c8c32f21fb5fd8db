import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { CallProxy } from "../../src/agent/workspace/network/call-proxy.ts";
import type { HostDecision, Network } from "../../src/agent/workspace/network/reach.ts";

/** A proxy at a port of this machine, without a box. */
export async function proxyOf(decide: HostDecision, network: Network) {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const proxy = new CallProxy(listener, decide, network);
  onTestFinished(() => proxy.close());
  const connections = (): Promise<number> => new Promise((resolve) => listener.getConnections((_error, count) => resolve(count)));
  return { proxy, port: (listener.address() as AddressInfo).port, connections };
}

/** The answer of a proxy to lines that are written as they are. */
export async function says(port: number, lines: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.write(lines);
  return text(socket);
}

/** A connection to a port of this machine. */
export async function opened(port: number): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port });
  await once(socket, "connect");
  return socket;
}
