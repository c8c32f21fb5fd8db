import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as macrotask } from "node:timers/promises";
import type { WebSocket } from "ws";

/**
 * The close codes that the server sends, of RFC 6455, 7.4.1, its registry, and graphql-transport-ws. docs/graphql.md
 * lists all.
 */
export const CLOSE_CODES = {
  /**
   * The reader read no data for too long, or sign-in failed: connect again. Clients of graphql-ws do so, except after
   * 1008 and 4500.
   */
  TRY_AGAIN_LATER: 1013,
  /** The actor is no longer admitted: connect again with a new token. */
  NOT_ADMITTED: 4403,
} as const;

/**
 * Both in ms. `stallMs`: how long a connection may make no progress before it is closed. It may take twice as long,
 * since pings have this interval and systems buffer SSE streams. `graceMs`: the time to read the reason.
 */
export type ReaderTimes = { readonly stallMs: number; readonly graceMs: number };

/** The times of production: a stopped reader is closed within 30 s. Less than the 12 s between yoga's pings of a stream. */
export const READER_TIMES: ReaderTimes = { stallMs: 10_000, graceMs: 4_000 };

const REASON = "you read nothing for too long: connect again, and resume since your last cursor";

/** Sockets are pinged in this many groups, one after the other: single pings cost twice as much as those sent together. */
const GROUPS = 20;
/** The most sockets pinged in one tick: the server's other sockets wait meanwhile. */
const AT_ONCE = 250;

type Reader = { readonly webSocket: WebSocket; readonly socket: Socket; asked: Buffer | null };

/**
 * Closes connections whose readers have stopped: each would hold its page for ever (invariant 10). Clients reconnect
 * and resume from their last cursor.
 */
export class SlowReaders {
  readonly #times: ReaderTimes;
  #closed = 0;
  readonly #groups = Array.from({ length: GROUPS }, () => new Set<Reader>());
  #opened = 0;
  #group = 0;
  #asking: NodeJS.Timeout | null = null;

  constructor(times: ReaderTimes) {
    this.#times = times;
  }

  get closed(): number {
    return this.#closed;
  }

  /** Watches an answer over HTTP. A stream (SSE) gives the reason as a comment, and ends without `complete`. */
  watchResponse(response: ServerResponse): void {
    let isStream = false;
    response.setTimeout(this.#times.stallMs);
    response.once("pipe", () => {
      isStream = true;
      // Yoga has just removed the timeout of its stream.
      response.setTimeout(this.#times.stallMs);
    });
    response.on("timeout", (socket: Socket) => {
      if (socket.writableLength === 0) return;
      const end = this.#endLater(socket, () => {
        if (isStream) response.write(`: ${REASON}\n\n`);
      });
      // If it is read after all, its connection serves the next request.
      response.once("finish", () => clearTimeout(end));
    });
  }

  /** Watches a WebSocket. Readers answer pings; the others are closed with 1013. */
  watchWebSocket(webSocket: WebSocket, socket: Socket): void {
    const reader: Reader = { webSocket, socket, asked: null };
    const group = this.#groups[this.#opened++ % GROUPS];
    group?.add(reader);
    this.#asking ??= setInterval(() => void this.#askNext(), this.#times.stallMs / GROUPS);
    webSocket.on("pong", (answer) => {
      // An unsolicited pong is no proof of reading.
      if (reader.asked?.equals(answer) === true) reader.asked = null;
    });
    webSocket.once("close", () => {
      group?.delete(reader);
      if (this.#groups.some(({ size }) => size > 0)) return;
      clearInterval(this.#asking ?? undefined);
      this.#asking = null;
    });
  }

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
    // A secret payload that no other client can know.
    reader.asked = Buffer.from(randomUUID());
    webSocket.ping(reader.asked);
  }

  #endLater(socket: Socket, tell: () => void): NodeJS.Timeout {
    this.#closed += 1;
    tell();
    return setTimeout(() => socket.destroy(), this.#times.graceMs).unref();
  }
}
