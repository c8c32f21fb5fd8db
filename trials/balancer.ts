import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";

/** A load balancer of a trial: new connections go to one of the servers that are in, those that are under way stay. */
export type Balancer = { readonly url: string; serve(urls: readonly string[]): void; close(): void };

/** Starts a load balancer on a free port. */
export async function startBalancer(): Promise<Balancer> {
  let ports: readonly number[] = [];
  let next = 0;
  const server = createServer((client) => {
    const port = ports[next++ % ports.length];
    if (port === undefined) return void client.destroy();
    const upstream = connect(port, "127.0.0.1");
    client.pipe(upstream).pipe(client);
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    serve: (urls) => (ports = urls.map((url) => Number(new URL(url).port))),
    close: () => server.close(),
  };
}
