import type { EventKind, TimelineEvent } from "../events/event.ts";

/** Somebody to whom events are delivered after their commit, each at least once. */
export type Consumer = {
  /** Under this name it is remembered how far it has come: it stays the same across restarts. */
  readonly name: string;
  readonly kinds: readonly EventKind[];
  /** The only tenant whose events concern it; null for all. */
  readonly tenant: string | null;
  /** Deliveries under way at once, which may overtake each other; with one, events come in order. */
  readonly concurrency: number;
  /** An event that is as old as this, in ms, is given up and reported, once it has been tried a few times. */
  readonly giveUpMs: number;
  /** Rejects if it failed and shall be tried again; with GiveUp if that is of no use. */
  deliver(event: TimelineEvent, signal: AbortSignal): Promise<void>;
};

/** A delivery that would fail however often it is tried. */
export class GiveUp extends Error {
  override readonly name = "GiveUp";
}
