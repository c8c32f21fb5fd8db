import { setImmediate as macrotask } from "node:timers/promises";
import type { RawData, WebSocket } from "ws";
import { aborted } from "../../lib/aborted.ts";

/** The most bytes of a `complete` message: it has an id and its type. */
const COMPLETE_BYTES = 1_000;

export type SocketOperation = { readonly messageBytes: number; readonly ended: AbortSignal };

type Underway = { readonly id: string; readonly end: AbortController; onOver: () => void };

/**
 * The operations under way on a socket. graphql-ws drops the answer of a query that its client completes; this also
 * aborts the work.
 */
export class SocketOperations {
  /** By the payloads of their messages: a client may reuse an id before its operation is over. */
  readonly #underway = new Map<object, Underway>();

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

  get wanted(): number {
    return [...this.#underway.values()].filter(({ end }) => !end.signal.aborted).length;
  }

  /** The number of unfinished operations: completed ones may take a while to end. */
  get underway(): number {
    return this.#underway.size;
  }

  begin(id: string, payload: object): SocketOperation | null {
    if (this.#wantedOf(id) !== undefined) return null;
    const end = new AbortController();
    this.#underway.set(payload, { id, end, onOver: nothing });
    return { messageBytes: this.#messageBytes, ended: end.signal };
  }

  /**
   * Waits to use an id until the earlier, completed operation with this id is over. graphql-ws knows operations only by
   * id, and would confuse their ends. So this one is not in `held`, the operations of graphql-ws, until then. False if
   * the client completes it meanwhile.
   */
  async takeId(id: string, payload: object, { ended }: SocketOperation, held: Record<string, unknown>): Promise<boolean> {
    const before = [...this.#underway].flatMap(([key, operation]) => (operation.id === id && key !== payload ? [operation] : []));
    if (before.length === 0) return true;
    delete held[id];
    using left = aborted(ended);
    const areOver = Promise.all(before.map((operation) => new Promise<void>((resolve) => (operation.onOver = resolve))));
    await Promise.race([areOver, left.promise]).catch(() => {});
    // Its end is reported before graphql-ws has released its id.
    await macrotask();
    if (!ended.aborted) held[id] = null;
    return !ended.aborted;
  }

  end(payload: object): void {
    const operation = this.#underway.get(payload);
    this.#underway.delete(payload);
    operation?.onOver();
  }

  #wantedOf(id: string): Underway | undefined {
    return [...this.#underway.values()].find(({ id: given, end }) => given === id && !end.signal.aborted);
  }
}

const nothing = (): void => {};

/** The id that a message completes; null for other messages. graphql-ws reports invalid ones. */
function completedId(message: RawData): string | null {
  if (!Buffer.isBuffer(message) || message.length > COMPLETE_BYTES || !message.includes('"complete"')) return null;
  try {
    const { type, id } = JSON.parse(message.toString()) as { readonly type?: unknown; readonly id?: unknown };
    return type === "complete" && typeof id === "string" ? id : null;
  } catch {
    return null;
  }
}
