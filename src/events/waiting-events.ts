import type { EventBody, EventKind } from "./event.ts";

/** What may wait for the database on one node: so many events, and so many bytes of their text. */
export type WaitingLimits = { readonly events: number; readonly bytes: number };

/** The limits of production. */
export const WAITING_LIMITS: WaitingLimits = { events: 10_000, bytes: 64 * 1024 * 1024 };

/** What events that report no decision and no effect may take of it: the rest is kept for those that do. */
const UNCRITICAL_SHARE = 0.75;

const CRITICAL: ReadonlySet<EventKind> = new Set([
  "TOOL_END",
  "DONE",
  "PERMISSION_REQUIRED",
  "PERMISSION_DECIDED",
  "AGENT_RESUMED",
  "STATE_CHANGED",
  "BREAKPOINT_CHANGED",
  "ERROR",
]);

/**
 * Counts the events of all agents of a node that are not committed yet: few while the database answers, all that
 * happens while it does not. When they are too many nothing more is taken, and the agent that would go on stops.
 */
export class WaitingEvents {
  readonly #limits: WaitingLimits;
  #events = 0;
  #bytes = 0;

  constructor(limits: WaitingLimits) {
    this.#limits = limits;
  }

  /** How many wait. */
  get events(): number {
    return this.#events;
  }

  /** Takes room for events that wait together; where nothing waits, for any. Returns its release; null where there is none. */
  take(bodies: readonly EventBody[]): (() => void) | null {
    const events = bodies.length;
    const bytes = bodies.reduce((sum, body) => sum + sizeOf(body), 0);
    const share = bodies.some(({ kind }) => CRITICAL.has(kind)) ? 1 : UNCRITICAL_SHARE;
    const isFull = this.#events + events > this.#limits.events * share || this.#bytes + bytes > this.#limits.bytes * share;
    if (isFull && this.#events > 0) return null;
    this.#events += events;
    this.#bytes += bytes;
    return () => {
      this.#events -= events;
      this.#bytes -= bytes;
    };
  }
}

/** About how much an event holds in memory, in bytes. */
function sizeOf(body: EventBody): number {
  switch (body.kind) {
    case "TEXT_CHUNK":
    case "THINK_CHUNK":
      return body.delta.length * 2;
    case "TOOL_START":
    case "TOOL_END":
    case "TOOL_EXECUTED":
      // The row that changes with the event has the whole output and its details.
      return ((body.call.output?.length ?? 0) + body.call.inputPreview.length) * 4;
    default:
      return JSON.stringify(body).length * 2;
  }
}
