import { randomUUID } from "node:crypto";
import { setImmediate as macrotask } from "node:timers/promises";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { CLOSE_CODES } from "./close-codes.ts";

/**
 * After how long a connection that takes nothing of what waits for it is told why it is closed, and how long it then
 * has to hear that, in ms. The first may take twice as long: a ping is due once in so long, and an SSE stream's system
 * buffers take some more.
 */
export type ReaderTimes = { readonly stallMs: number; readonly graceMs: number };

/** The times of production: a reader that has stopped is gone within 30 s. Less than the 12 s between yoga's pings of a stream. */
export const READER_TIMES: ReaderTimes = { stallMs: 10_000, graceMs: 4_000 };

const REASON = "you read nothing for too long: connect again, and resume since your last cursor";

/** Sockets are asked in so many groups, one after the other: pings that go alone cost twice as much as pings that go together. */
const GROUPS = 20;
/** Sockets that are asked in one go: others of the server wait meanwhile. */
const AT_ONCE = 250;

/** A WebSocket that is asked whether it reads. `asked` is the payload of a ping that no pong has given back yet. */
type Reader = { readonly webSocket: WebSocket; readonly socket: Socket; asked: Buffer | null };

/**
 * Closes connections whose readers have stopped: each would hold its page for ever (invariant 10). Clients connect
 * anew, and resume since their last cursor.
 */
export class SlowReaders {
  readonly #times: ReaderTimes;
  #closed = 0;
  /** The readers by WebSocket, spread evenly. */
  readonly #groups = Array.from({ length: GROUPS }, () => new Set<Reader>());
  #opened = 0;
  /** The group that was asked last. */
  #group = 0;
  /** Runs while there are readers. */
  #asking: NodeJS.Timeout | null = null;

  constructor(times: ReaderTimes) {
    this.#times = times;
  }

  /** The number of those that were closed so far. */
  get closed(): number {
    return this.#closed;
  }

  /** Watches an answer over HTTP. A stream (SSE) says why it ends, as a comment, and ends without `complete`. */
  watchResponse(response: ServerResponse): void {
    let isStream = false;
    response.setTimeout(this.#times.stallMs);
    response.once("pipe", () => {
      isStream = true;
      // Yoga takes the timeout away from what it streams, just before.
      response.setTimeout(this.#times.stallMs);
    });
    response.on("timeout", (socket: Socket) => {
      if (socket.writableLength === 0) return;
      const end = this.#endLater(socket, () => {
        if (isStream) response.write(`: ${REASON}\n\n`);
      });
      // One that was taken after all leaves its connection to the next request.
      response.once("finish", () => clearTimeout(end));
    });
  }

  /** Watches a WebSocket. Whoever reads answers pings; who does not is told with 1013. */
  watchWebSocket(webSocket: WebSocket, socket: Socket): void {
    const reader: Reader = { webSocket, socket, asked: null };
    const group = this.#groups[this.#opened++ % GROUPS];
    group?.add(reader);
    this.#asking ??= setInterval(() => void this.#askNext(), this.#times.stallMs / GROUPS);
    webSocket.on("pong", (answer) => {
      // A pong that nobody asked for says nothing of what is read.
      if (reader.asked?.equals(answer) === true) reader.asked = null;
    });
    webSocket.once("close", () => {
      group?.delete(reader);
      if (this.#groups.some(({ size }) => size > 0)) return;
      clearInterval(this.#asking ?? undefined);
      this.#asking = null;
    });
  }

  /** Asks the readers of the next group. Who has not answered since the last time has stopped. */
  async #askNext(): Promise<void> {
    this.#group = (this.#group + 1) % GROUPS;
    const readers = [...(this.#groups[this.#group] ?? [])];
    for (let first = 0; first < readers.length; first += AT_ONCE) {
      if (first > 0) await macrotask();
      for (const reader of readers.slice(first, first + AT_ONCE)) this.#ask(reader);
    }
  }

  #ask(reader: Reader): void {
    const { webSocket, socket, asked } = reader;
    if (webSocket.readyState !== webSocket.OPEN) return;
    if (asked !== null) return void this.#endLater(socket, () => webSocket.close(CLOSE_CODES.TRY_AGAIN_LATER, REASON));
    // Its own, which no other socket of its client can tell.
    reader.asked = Buffer.from(randomUUID());
    webSocket.ping(reader.asked);
  }

  /** A reader has stopped: it is told, and then cut. */
  #endLater(socket: Socket, tell: () => void): NodeJS.Timeout {
    this.#closed += 1;
    tell();
    return setTimeout(() => socket.destroy(), this.#times.graceMs).unref();
  }
}
