import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocketServer } from "ws";
import { serveBench } from "./server-process.ts";

const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
await once(server, "listening");

/** The least that a server can do: the same texts, to the same number of sockets. */
serveBench(
  (server.address() as AddressInfo).port,
  async (request) => {
    for (const page of request.pages) {
      for (const socket of server.clients) socket.send(page);
      await delay(request.everyMs);
    }
  },
  async () => {
    server.clients.forEach((socket) => socket.terminate());
    server.close();
  },
);
