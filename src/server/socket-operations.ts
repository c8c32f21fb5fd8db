import { setImmediate as macrotask } from "node:timers/promises";
import type { RawData, WebSocket } from "ws";
import { aborted } from "../lib/aborted.ts";

/** The most bytes of a message that completes an operation: it has an id and its type. */
const COMPLETE_BYTES = 1_000;

/** An operation of a socket: the size of the message that began it, and a signal that aborts when its client completes it, or leaves. */
export type SocketOperation = { readonly messageBytes: number; readonly ended: AbortSignal };

type Underway = { readonly id: string; readonly end: AbortController; readonly over: PromiseWithResolvers<void> };

/**
 * The operations under way on a socket. graphql-ws drops the answer of a query that its client completes; this tells
 * whoever still works on it.
 */
export class SocketOperations {
  /** By the payloads of their messages. An operation that its client has completed may take a while to end. */
  readonly #underway = new Map<object, Underway>();
  /** Those that their client has not completed, by the ids that it gives, which it may give again. */
  readonly #wanted = new Map<string, Underway>();

  /** The size of the message that came last. */
  #messageBytes = 0;

  constructor(socket: WebSocket) {
    // Before graphql-ws reads the message.
    socket.prependListener("message", (message: RawData) => (this.#messageBytes = Buffer.isBuffer(message) ? message.length : 0));
    socket.on("message", (message) => {
      const id = completedId(message);
      if (id !== null) this.#abort(id);
    });
    socket.once("close", () => [...this.#wanted.keys()].forEach((id) => this.#abort(id)));
  }

  /** The number of operations that are not over. */
  get count(): number {
    return this.#underway.size;
  }

  /** An operation begins, with the payload of the message that is handled now. Null if the client has one of this id. */
  begin(id: string, payload: object): SocketOperation | null {
    if (this.#wanted.has(id)) return null;
    const operation: Underway = { id, end: new AbortController(), over: Promise.withResolvers() };
    this.#underway.set(payload, operation);
    this.#wanted.set(id, operation);
    return { messageBytes: this.#messageBytes, ended: operation.end.signal };
  }

  /**
   * Waits until the operation is over that had this id before, and that the client has completed. graphql-ws knows operations by
   * their ids alone, and would take the end of the one before for that of this one: so this one has no place among those that
   * graphql-ws holds until then. False if the client completes this one, too.
   */
  async succeed(id: string, payload: object, { ended }: SocketOperation, held: Record<string, unknown>): Promise<boolean> {
    const before = [...this.#underway].filter(([key, operation]) => operation.id === id && key !== payload);
    if (before.length === 0) return true;
    delete held[id];
    using left = aborted(ended);
    const areOver = Promise.all(before.map(([, { over }]) => over.promise));
    await Promise.race([areOver, left.promise]).catch(() => {});
    // Its end is told before graphql-ws has let go of it.
    await macrotask();
    if (!ended.aborted) held[id] = null;
    return !ended.aborted;
  }

  /** The operation of this message was answered. */
  end(payload: object): void {
    const operation = this.#underway.get(payload);
    if (operation === undefined) return;
    this.#underway.delete(payload);
    if (this.#wanted.get(operation.id) === operation) this.#wanted.delete(operation.id);
    operation.over.resolve();
  }

  #abort(id: string): void {
    this.#wanted.get(id)?.end.abort();
    this.#wanted.delete(id);
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
