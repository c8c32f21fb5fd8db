import type { EventKind, TimelineEvent } from "./event.ts";

/** Somebody to whom events are delivered after their commit, each at least once. */
export type Consumer = {
  /** Under this name it is remembered how far it has come: it stays the same across restarts. */
  readonly name: string;
  readonly kinds: readonly EventKind[];
  /** Deliveries under way at once, which may overtake each other; with one, events come in order. */
  readonly concurrency: number;
  /** An event that is as old as this, in ms, is given up and reported, once it has been tried a few times. */
  readonly giveUpMs: number;
  /** True if this event concerns it. */
  wants(event: TimelineEvent): boolean;
  /** Rejects where it failed and shall be tried again; with GiveUp where that is of no use. */
  deliver(event: TimelineEvent, signal: AbortSignal): Promise<void>;
};

/** A delivery that would fail however often it is tried. */
export class GiveUp extends Error {
  override readonly name = "GiveUp";
}
