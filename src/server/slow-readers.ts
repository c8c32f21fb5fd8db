import { randomUUID } from "node:crypto";
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

const REASON = "you took nothing for too long: connect again, and resume since your last cursor";

/**
 * Closes connections whose readers have stopped: each would hold its page for ever (invariant 10). Clients connect
 * anew, and resume since their last cursor.
 */
export class SlowReaders {
  readonly #times: ReaderTimes;
  #closed = 0;

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
    /** The payload of the last ping, which its pong gives back: a pong that nobody asked for says nothing of what is read. */
    let asked: Buffer | null = null;
    const ask = (): void => {
      if (asked === null) {
        asked = Buffer.from(randomUUID());
        webSocket.ping(asked);
        // The timer that runs is its own to start again.
        pinging.refresh();
        return;
      }
      this.#endLater(socket, () => webSocket.close(CLOSE_CODES.TRY_AGAIN_LATER, REASON));
    };
    // Sockets that were opened together are not asked together for ever: thousands of pings at once would hold everybody up.
    let pinging = setTimeout(() => {
      pinging = setTimeout(ask, this.#times.stallMs);
      ask();
    }, Math.random() * this.#times.stallMs);
    webSocket.on("pong", (answer) => {
      if (asked?.equals(answer) === true) asked = null;
    });
    webSocket.once("close", () => clearTimeout(pinging));
  }

  /** A reader has stopped: it is told, and then cut. */
  #endLater(socket: Socket, tell: () => void): NodeJS.Timeout {
    this.#closed += 1;
    tell();
    return setTimeout(() => socket.destroy(), this.#times.graceMs).unref();
  }
}
