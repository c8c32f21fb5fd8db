import type { RawData, WebSocket } from "ws";

/** The most bytes of a message that completes an operation: it has an id and its type. */
const COMPLETE_BYTES = 1_000;

/** An operation of a socket: the size of the message that began it, and a signal that aborts when its client completes it, or leaves. */
export type SocketOperation = { readonly messageBytes: number; readonly ended: AbortSignal };

/**
 * The operations under way on a socket. graphql-ws drops the answer of a query that its client completes; this tells
 * whoever still works on it.
 */
export class SocketOperations {
  /** By the ids that the client gives, which it may give again. */
  readonly #underway = new Map<string, { readonly payload: object; readonly end: AbortController }>();

  /** The size of the message that came last. */
  #messageBytes = 0;

  constructor(socket: WebSocket) {
    // Before graphql-ws reads the message.
    socket.prependListener("message", (message: RawData) => (this.#messageBytes = Buffer.isBuffer(message) ? message.length : 0));
    socket.on("message", (message) => {
      const id = completedId(message);
      if (id !== null) this.#abort(id);
    });
    socket.once("close", () => [...this.#underway.keys()].forEach((id) => this.#abort(id)));
  }

  /** An operation begins, with the payload of the message that is handled now. */
  begin(id: string, payload: object): SocketOperation {
    const end = new AbortController();
    this.#underway.set(id, { payload, end });
    return { messageBytes: this.#messageBytes, ended: end.signal };
  }

  /** The operation of this message was answered. */
  end(id: string, payload: object): void {
    if (this.#underway.get(id)?.payload === payload) this.#underway.delete(id);
  }

  #abort(id: string): void {
    this.#underway.get(id)?.end.abort();
    this.#underway.delete(id);
  }
}

/** The id of the operation that a message completes; null for any other message. What is wrong with it, graphql-ws says. */
function completedId(message: RawData): string | null {
  if (!Buffer.isBuffer(message) || message.length > COMPLETE_BYTES || !message.includes('"complete"')) return null;
  try {
    const { type, id } = JSON.parse(message.toString()) as { readonly type?: unknown; readonly id?: unknown };
    return type === "complete" && typeof id === "string" ? id : null;
  } catch {
    return null;
  }
}
