import type { EventKind, TimelineEvent } from "../events/event.ts";

export type Consumer = {
  /** Identifies its offset, and stays the same across restarts. */
  readonly name: string;
  readonly kinds: readonly EventKind[];
  /** Null for events of all tenants. */
  readonly tenant: string | null;
  /** The number of concurrent deliveries, which may overtake each other; with 1, events come in order. */
  readonly concurrency: number;
  /** The age in ms at which an event is given up and reported, after a few tries. */
  readonly giveUpMs: number;
  /** Rejects to be tried again; with GiveUp if further tries are useless. */
  deliver(event: TimelineEvent, signal: AbortSignal): Promise<void>;
};

export class GiveUp extends Error {
  override readonly name = "GiveUp";
}
