import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { BACKED_UP_BYTES, type Ending, type Line } from "../../events/reading/reader.ts";
import { CLOSE_CODES } from "../slow-readers.ts";
import type { ShowFailure } from "./failure.ts";

/**
 * Larger answers are written separately from their heads; smaller ones are copied behind them: one write costs more
 * than a copy.
 */
const COPIED_BYTES = 16 * 1024;

/**
 * The line of one operation of a WebSocket. graphql-ws sends the operation's other messages through `ws`; both write
 * whole frames, so that frames never mix. Answers are not compressed.
 */
export class WebSocketLine implements Line {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #head: Buffer;
  readonly #show: ShowFailure;

  constructor(webSocket: WebSocket, socket: Socket, id: string, show: ShowFailure) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#show = show;
    this.#head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
  }

  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  send(answer: Uint8Array): boolean {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return false;
    writeText(this.#socket, this.#head, answer);
    return this.#socket.writableLength <= BACKED_UP_BYTES;
  }

  async drained(signal: AbortSignal): Promise<void> {
    const socket = this.#socket;
    while (socket.writableLength > 0 && !socket.destroyed && !signal.aborted) await written(socket, signal);
  }

  end(ending: Ending): void {
    if (ending.kind === "complete") return;
    const { answer, closes } = this.#show(ending.error);
    // The close code says whether the client connects again.
    if (closes !== null) return closeFor(this.#webSocket, closes);
    this.send(Buffer.from(JSON.stringify(answer)));
  }
}

export function closeFor(webSocket: WebSocket, why: "not_admitted" | "connect_again"): void {
  switch (why) {
    case "not_admitted":
      return webSocket.close(CLOSE_CODES.NOT_ADMITTED, "Forbidden: the token is no longer accepted");
    case "connect_again":
      return webSocket.close(CLOSE_CODES.TRY_AGAIN_LATER, "sign-in failed: connect again");
  }
}

const END = Buffer.from("}");

function writeText(socket: Socket, head: Buffer, answer: Uint8Array): void {
  if (head.length + answer.length <= COPIED_BYTES) return writeCopied(socket, head, answer);
  socket.cork();
  socket.write(Buffer.concat([frameHead(head.length + answer.length + END.length), head]));
  socket.write(answer);
  socket.write(END);
  socket.uncork();
}

type WrittenFrame = { readonly answer: Uint8Array; readonly headLength: number; readonly start: number; readonly frame: Buffer };
let last: WrittenFrame | null = null;

function writeCopied(socket: Socket, head: Buffer, answer: Uint8Array): void {
  const written = last?.answer === answer && last.headLength === head.length ? last : null;
  const { frame, start } = written ?? newFrame(head.length, answer);
  head.copy(frame, start);
  socket.write(frame);
  // While a part of the frame is buffered, it belongs to the socket.
  last = socket.writableLength > 0 ? null : (written ?? { answer, headLength: head.length, start, frame });
}

function newFrame(headLength: number, answer: Uint8Array): { readonly frame: Buffer; readonly start: number } {
  const length = headLength + answer.length + END.length;
  const first = frameHead(length);
  return { frame: Buffer.concat([first, Buffer.alloc(headLength), answer, END]), start: first.length };
}

function frameHead(length: number): Buffer {
  if (length < 126) return Buffer.from([0x81, length]);
  const lengthBytes = length < 65_536 ? 2 : 8;
  const first = Buffer.alloc(2 + lengthBytes);
  first.set([0x81, lengthBytes === 2 ? 126 : 127]);
  if (lengthBytes === 2) first.writeUInt16BE(length, 2);
  else first.writeBigUInt64BE(BigInt(length), 2);
  return first;
}

/** Resolves when all earlier data is written, the socket is closed, or `signal` aborts. */
function written(socket: Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done);
    socket.write("", done);
  });
}
