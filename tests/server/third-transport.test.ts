import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { expect, it, onTestFinished } from "vitest";
import { silentBell } from "../../src/events/bell/bell.ts";
import { EventLog } from "../../src/events/log.ts";
import type { Encoder } from "../../src/events/reading/answers.ts";
import { Feeds } from "../../src/events/reading/feed.ts";
import { BACKED_UP_BYTES, type Ending, type Line, Reader } from "../../src/events/reading/reader.ts";
import { Tails } from "../../src/events/reading/tails.ts";
import { testDatabase } from "../support/database.ts";
import { ADMITTED } from "../support/followed.ts";
import { chunk, everything, insertAgent } from "../support/log.ts";
import { silentLogger } from "../support/silent-logger.ts";

// A transport is a line and an encoder. This one, over a TCP socket, writes one JSON object a line for each event.

/** Events as a protocol of its own names them. */
const encoder: Encoder = {
  asks: "json lines",
  answer: ({ events }) => {
    const lines = events.map(({ position, body }) => `${JSON.stringify({ id: position, type: body.kind })}\n`);
    return Promise.resolve({ kind: "bytes", bytes: Buffer.from(lines.join("")), isLasting: true });
  },
};

class TcpLine implements Line {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  send(answer: Uint8Array): boolean {
    this.#socket.write(answer);
    return this.#socket.writableLength <= BACKED_UP_BYTES;
  }

  async drained(signal: AbortSignal): Promise<void> {
    while (this.#socket.writableLength > 0 && !signal.aborted) await once(this.#socket, "drain", { signal }).catch(() => {});
  }

  end(ending: Ending): void {
    this.#socket.end(ending.kind === "failed" ? '{"type":"ERROR"}\n' : "");
  }
}

it("another transport is a line and an encoder: its readers share feeds, and end as all others do", async () => {
  const log = new EventLog((await testDatabase()).sql);
  const tails = new Tails(log, silentBell(), silentLogger);
  onTestFinished(() => tails.close());
  const feeds = new Feeds(tails);
  const server = createServer((socket) => {
    const reader = new Reader(new TcpLine(socket), ADMITTED, () => {});
    socket.once("close", () => reader.leave());
    feeds.open({ scope: everything("one"), until: ["DONE"], encoder }, { kind: "after", position: 0, head: 0 }, reader);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const clients = [1, 2].map(() => connect((server.address() as AddressInfo).port, "127.0.0.1"));
  const lines = clients.map(() => [] as unknown[]);
  clients.forEach((client, index) => createInterface(client).on("line", (line) => lines[index]?.push(JSON.parse(line))));
  onTestFinished(() => void server.close());
  await expect.poll(() => feeds).toMatchObject({ readers: 2, size: 1 });
  const agent = await insertAgent(log, "one");
  const done = { at: new Date(), body: { kind: "DONE", turn: 1, step: 1, reason: "COMPLETED", messageIds: [] } } as const;
  await log.append("one", [{ ...agent, events: [chunk("a"), done] }]);
  await Promise.all(clients.map((client) => once(client, "close")));
  for (const heard of lines)
    expect(heard).toEqual([
      { id: 1, type: "TEXT_CHUNK" },
      { id: 2, type: "DONE" },
    ]);
  await expect.poll(() => feeds.size).toBe(0);
});
