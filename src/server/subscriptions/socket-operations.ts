import { setImmediate as macrotask } from "node:timers/promises";
import type { RawData, WebSocket } from "ws";
import { aborted } from "../../lib/aborted.ts";

/** The most bytes of a message that completes an operation: it has an id and its type. */
const COMPLETE_BYTES = 1_000;

/** An operation of a socket: the size of the message that began it, and a signal that aborts when its client completes it, or leaves. */
export type SocketOperation = { readonly messageBytes: number; readonly ended: AbortSignal };

/** An operation that is not over. Its client has completed it, or has left, if `end` has aborted. */
type Underway = { readonly id: string; readonly end: AbortController; onOver: () => void };

/**
 * The operations under way on a socket. graphql-ws drops the answer of a query that its client completes; this tells
 * whoever still works on it.
 */
export class SocketOperations {
  /** By the payloads of their messages: a client may give an id again before the operation that had it is over. */
  readonly #underway = new Map<object, Underway>();

  /** The size of the message that came last. */
  #messageBytes = 0;

  constructor(socket: WebSocket) {
    // Before graphql-ws reads the message.
    socket.prependListener("message", (message: RawData) => (this.#messageBytes = Buffer.isBuffer(message) ? message.length : 0));
    socket.on("message", (message) => {
      const id = completedId(message);
      if (id !== null) this.#wantedOf(id)?.end.abort();
    });
    socket.once("close", () => this.#underway.forEach(({ end }) => end.abort()));
  }

  /** The number of operations that the client has not completed. */
  get wanted(): number {
    return [...this.#underway.values()].filter(({ end }) => !end.signal.aborted).length;
  }

  /** The number of operations that are not over: those that the client has completed may take a while to end. */
  get underway(): number {
    return this.#underway.size;
  }

  /** An operation begins, with the payload of the message that is handled now. Null if the client has one of this id. */
  begin(id: string, payload: object): SocketOperation | null {
    if (this.#wantedOf(id) !== undefined) return null;
    const end = new AbortController();
    this.#underway.set(payload, { id, end, onOver: nothing });
    return { messageBytes: this.#messageBytes, ended: end.signal };
  }

  /**
   * Takes an id for an operation that has begun, when the operation is over that had the id before, and that the client has
   * completed. graphql-ws knows operations by their ids alone, and would take the end of the one before for that of this one: so
   * this one has no place in `held`, the operations of graphql-ws, until then. False if the client completes this one, too.
   */
  async takeId(id: string, payload: object, { ended }: SocketOperation, held: Record<string, unknown>): Promise<boolean> {
    const before = [...this.#underway].flatMap(([key, operation]) => (operation.id === id && key !== payload ? [operation] : []));
    if (before.length === 0) return true;
    delete held[id];
    using left = aborted(ended);
    const areOver = Promise.all(before.map((operation) => new Promise<void>((resolve) => (operation.onOver = resolve))));
    await Promise.race([areOver, left.promise]).catch(() => {});
    // Its end is told before graphql-ws has let go of it.
    await macrotask();
    if (!ended.aborted) held[id] = null;
    return !ended.aborted;
  }

  /** The operation of this message was answered. */
  end(payload: object): void {
    const operation = this.#underway.get(payload);
    this.#underway.delete(payload);
    operation?.onOver();
  }

  /** The operation of this id that the client has not completed. */
  #wantedOf(id: string): Underway | undefined {
    return [...this.#underway.values()].find(({ id: given, end }) => given === id && !end.signal.aborted);
  }
}

const nothing = (): void => {};

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
