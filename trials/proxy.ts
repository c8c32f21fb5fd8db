import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A proxy between the servers of a trial and their database, which can be turned to another one. */
export type Proxy = {
  readonly port: number;
  /** New connections go to this port; those there are break. */
  turnTo(port: number): void;
  /** Nothing goes through for so many ms, and nothing breaks. */
  stall(ms: number): void;
};

/** Starts a proxy on a free port. It keeps no process alive. */
export async function startProxy(target: number): Promise<Proxy> {
  let port = target;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    client.pipe(server).pipe(client);
    const end = (): void => {
      client.destroy();
      server.destroy();
      sockets.delete(client);
      sockets.delete(server);
    };
    for (const socket of [client, server]) sockets.add(socket.on("error", end).on("close", end));
  });
  proxy.listen(0, "127.0.0.1").unref();
  await once(proxy, "listening");
  const breakAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port: (proxy.address() as AddressInfo).port,
    turnTo: (next) => {
      port = next;
      breakAll();
    },
    stall: (ms) => {
      const stalled = [...sockets];
      stalled.forEach((socket) => socket.pause());
      setTimeout(() => stalled.forEach((socket) => socket.resume()), ms);
    },
  };
}

/** The URL of a database as it is reached through a proxy. */
export function throughProxy(url: string, { port }: Proxy): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}
