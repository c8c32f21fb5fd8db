import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket, { WebSocketServer } from "ws";
import type { Line } from "../../src/events/reading/reader.ts";
import { maskError } from "../../src/server/errors.ts";
import { failureShownAs } from "../../src/server/subscriptions/failure.ts";
import { WebSocketLine } from "../../src/server/subscriptions/websocket-line.ts";
import { silentLogger } from "../support/silent-logger.ts";

/** A line to a client over a real socket, whose operation has this id. */
async function lineTo(id: string): Promise<{ readonly client: WebSocket; readonly line: Line; readonly socket: Socket }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const webSockets = new WebSocketServer({ noServer: true });
  const upgraded = new Promise<{ line: Line; socket: Socket }>((resolve) => {
    server.on("upgrade", (request, duplex, head) => {
      const socket = duplex as Socket;
      webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        resolve({ line: new WebSocketLine(webSocket, socket, id, failureShownAs(maskError(silentLogger))), socket }),
      );
    });
  });
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    client.terminate();
    server.close();
  });
  await once(client, "open");
  return { client, ...(await upgraded) };
}

/** The ids of so many messages that a client is sent. */
async function idsOf(client: WebSocket, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  const heard = new Promise<void>((resolve) => {
    client.on("message", (message: Buffer) => {
      ids.push((JSON.parse(message.toString()) as { id: string }).id);
      if (ids.length === count) resolve();
    });
  });
  client.resume();
  await heard;
  return ids;
}

describe("the lines of many readers", () => {
  it("give each reader its own id, also one for whom an answer waits while others are given the same (invariant 10)", async () => {
    const [slow, quick] = [await lineTo("slow!"), await lineTo("quick")];
    slow.client.pause();
    const filler = Buffer.from(JSON.stringify("x".repeat(10_000)));
    let count = 0;
    for (; slow.socket.writableLength === 0; count += 1) slow.line.send(Buffer.from(filler));
    const answer = Buffer.from('{"data":1}');
    const heard = idsOf(quick.client, 3);
    for (const { line } of [quick, slow, quick, slow, quick]) line.send(answer);
    expect(await heard).toEqual(["quick", "quick", "quick"]);
    expect(new Set(await idsOf(slow.client, count + 2))).toEqual(new Set(["slow!"]));
  });

  it.each([1, 100, 125, 126, 1_000, 16_000, 17_000, 70_000])("write frames of %i bytes", async (bytes) => {
    const { client, line } = await lineTo("1");
    const answer = Buffer.from(JSON.stringify("x".repeat(bytes)));
    const messages: string[] = [];
    const heard = new Promise<void>((resolve) => {
      client.on("message", (message: Buffer) => messages.push(message.toString()) === 2 && resolve());
    });
    line.send(answer);
    line.send(answer);
    await heard;
    expect(messages).toEqual(Array<string>(2).fill(`{"id":"1","type":"next","payload":${answer.toString()}}`));
  });
});
