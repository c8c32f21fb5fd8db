import type { EventBody } from "./event.ts";

/** The room on one server for what waits for the database, of all its agents: so many events, and so many bytes of their text. */
export type WaitingLimits = { readonly events: number; readonly bytes: number };

export const WAITING_LIMITS: WaitingLimits = { events: 10_000, bytes: 64 * 1024 * 1024 };

/** The guaranteed share of each agent. */
const LEAST: WaitingLimits = { events: 50, bytes: 512 * 1024 };

/**
 * The most waiting events of one agent: followers of the tenant read them before later ones. A thousand delay others by
 * 90 ms.
 */
const MOST_EVENTS = 250;

/**
 * Counts the uncommitted events of all agents of a server: few, except during an outage. The capacity is divided among
 * the agents with waiting events, so that none takes another's share (invariant 13). Unbounded sources (a speaking
 * model, an emitting tool) wait for room; single events are always accepted, since each agent has few of them under
 * way.
 */
export class WaitingEvents {
  readonly #limits: WaitingLimits;
  readonly #sharing = new Set<WaitingShare>();

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  get events(): number {
    return [...this.#sharing].reduce((sum, share) => sum + share.events, 0);
  }

  share(): WaitingShare {
    return new WaitingShare(this.#sharing, this.#limits);
  }
}

export class WaitingShare {
  readonly #sharing: Set<WaitingShare>;
  readonly #limits: WaitingLimits;
  readonly #waiting = new Set<() => void>();
  #events = 0;
  #bytes = 0;

  constructor(sharing: Set<WaitingShare>, limits: WaitingLimits) {
    this.#sharing = sharing;
    this.#limits = limits;
  }

  get events(): number {
    return this.#events;
  }

  get isFull(): boolean {
    const others = Math.max(1, this.#sharing.size);
    return (
      this.#events >= Math.max(LEAST.events, Math.min(MOST_EVENTS, this.#limits.events / others)) ||
      this.#bytes >= Math.max(LEAST.bytes, this.#limits.bytes / others)
    );
  }

  /** Takes room for events that are written together. Returns its release. */
  take(bodies: readonly EventBody[]): () => void {
    const events = bodies.length;
    const bytes = bodies.reduce((sum, body) => sum + sizeOf(body), 0);
    this.#move(events, bytes);
    return () => this.#move(-events, -bytes);
  }

  takeMore(body: EventBody): () => void {
    const bytes = sizeOf(body);
    this.#move(0, bytes);
    return () => this.#move(0, -bytes);
  }

  async room(signal: AbortSignal): Promise<void> {
    while (this.isFull && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      await promise;
      this.#waiting.delete(resolve);
    }
  }

  #move(events: number, bytes: number): void {
    this.#events += events;
    this.#bytes += bytes;
    if (this.#events > 0) this.#sharing.add(this);
    else this.#sharing.delete(this);
    if (bytes < 0 && !this.isFull) this.#waiting.forEach((resolve) => resolve());
  }
}

function sizeOf(body: EventBody): number {
  switch (body.kind) {
    case "TEXT_CHUNK":
    case "THINK_CHUNK":
      return body.delta.length * 2;
    case "TOOL_START":
    case "TOOL_END":
    case "TOOL_EXECUTED":
      // The row that changes with the event has the complete output and its details.
      return ((body.call.output?.length ?? 0) + (body.call.inputPreview?.length ?? 0)) * 4;
    default:
      return JSON.stringify(body).length * 2;
  }
}
