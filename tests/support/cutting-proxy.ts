import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What stands between clients and servers, and fails as networks do. */
export type CuttingProxy = {
  readonly port: number;
  /** Connections that came so far, and those that were cut. */
  readonly connections: number;
  readonly cuts: number;
  /** Where new connections go. */
  leadTo(port: number): void;
  /** Cuts every connection that now carries answers, each after so many more bytes of them: also in the middle of a frame. */
  cutAfter(bytes: () => number): void;
  /** Cuts every connection at once. */
  cutNow(): void;
  /** From now on nothing comes through the connections there are, and nobody hears that they are dead. */
  silence(): void;
  /** From now on answers in which this text stands wait, and what comes after them on their connection, until the answer of this method is called. */
  holdBack(text: string): () => void;
};

/** A TCP proxy on a free port. It closes when the test ends. */
export async function cuttingProxy(target: number): Promise<CuttingProxy> {
  let leadsTo = target;
  let connections = 0;
  let cuts = 0;
  let heldBack: { readonly text: string; readonly sends: (() => void)[] } | null = null;
  const pairs = new Map<Socket, { readonly server: Socket; left: number; isSilent: boolean; isHeld: boolean }>();
  const proxy = createServer((client) => {
    connections += 1;
    const server = connect(leadsTo, "127.0.0.1");
    const pair = { server, left: Infinity, isSilent: false, isHeld: false };
    pairs.set(client, pair);
    const end = (): void => {
      client.destroy();
      server.destroy();
      pairs.delete(client);
    };
    for (const socket of [client, server]) socket.on("error", end).on("close", end);
    client.on("data", (chunk) => void (pair.isSilent || server.write(chunk)));
    server.on("data", (chunk) => {
      if (pair.isSilent) return;
      pair.isHeld ||= heldBack !== null && chunk.includes(heldBack.text);
      if (pair.isHeld && heldBack !== null) return void heldBack.sends.push(() => client.write(chunk));
      client.write(chunk.subarray(0, Math.min(chunk.length, pair.left)));
      pair.left -= chunk.length;
      if (pair.left > 0) return;
      cuts += 1;
      client.destroySoon();
      server.destroy();
      pairs.delete(client);
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    for (const [client, { server }] of pairs) {
      client.destroy();
      server.destroy();
    }
    proxy.close();
  });
  return {
    port: (proxy.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get cuts() {
      return cuts;
    },
    leadTo: (port) => (leadsTo = port),
    cutNow: () => {
      for (const [client, { server }] of pairs) {
        client.destroy();
        server.destroy();
      }
      pairs.clear();
    },
    silence: () => pairs.forEach((pair) => (pair.isSilent = true)),
    holdBack: (text) => {
      const sends: (() => void)[] = [];
      heldBack = { text, sends };
      return () => {
        heldBack = null;
        for (const send of sends) send();
      };
    },
    cutAfter: (bytes) => pairs.forEach((pair) => (pair.left = Math.min(pair.left, bytes()))),
  };
}
