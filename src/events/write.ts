import { randomUUIDv7 } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OutageWatch } from "../db/outage.ts";
import { isConnectionLost, isContention, sqlState } from "../db/storage-error.ts";
import { messageOf } from "../lib/text.ts";
import type { TimelineEvent } from "./event.ts";
import { CommitsLost } from "./log-page.ts";

export type AppendOutcome =
  { readonly outcome: "COMMITTED"; readonly events: readonly TimelineEvent[] } | { readonly outcome: "FENCED" };

/** One try's outcome: nothing was written if the agent's row was locked. */
export type TriedAppend = AppendOutcome | { readonly outcome: "LOCKED" };

export type Committed = {
  readonly outcome: "COMMITTED";
  readonly events: readonly TimelineEvent[];
  /** The last position that was written; null for a change without events. */
  readonly position: number | null;
  /** How often the agent had been signalled before it. */
  readonly signal: number;
};

/** KEY_USED: the idempotency key was used before, and nothing was changed. */
export type TenantOutcome =
  { readonly outcome: "COMMITTED"; readonly position: number | null } | Conflict | { readonly outcome: "KEY_USED" };

/** A row was not in the expected state: nothing was changed. */
export type Conflict = { readonly outcome: "CONFLICT"; readonly message: string };

/** FENCED: another server owns the agent, and nothing was changed. */
export type OwnerOutcome = Committed | Conflict | { readonly outcome: "FENCED" };

/** KEY_USED: the idempotency key was used before, and nothing was changed. */
export type OutsideOutcome = Committed | Conflict | { readonly outcome: "KEY_USED" };

/** The waits between the first tries of a write, in ms. */
export const FIRST_WAITS = [10, 50, 200, 500, 1_000];
/** The wait between later tries, in ms: owners' writes are retried until their outcome is known. */
const LAST_WAIT = 2_000;
const TELL_MS = 10_000;

/**
 * A write by its id, while its outcome is unknown. Once an answer was lost, each further try first asks for the result
 * of earlier ones.
 */
export type Write = { readonly id: string; isLost: boolean };

/** A write without a try. `id` is a unique UUID; the first of its events is found by it. */
export function newWrite(id: string = randomUUIDv7()): Write {
  return { id, isLost: false };
}

export class WriteTries {
  readonly #outages: OutageWatch;
  readonly #listeners = new Set<(problem: string, sinceMs: number) => void>();
  #count = 0;

  constructor(outages: OutageWatch) {
    this.#outages = outages;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Calls the listener, at most every TELL_MS, with the database's answer to a write under long retry, and the ms since
   * its first try.
   */
  onLong(listener: (problem: string, sinceMs: number) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Tries a write until its outcome is known. Owners' writes wait during an outage, since their epoch decides
   * afterwards whether they still count. Other writes are rejected: their callers may retry.
   */
  async untilKnown<Row>(tenant: string, isHeld: boolean, write: Write, attempt: () => Promise<Row[]>): Promise<Row[]> {
    const began = performance.now();
    let told = began;
    for (let tries = 0; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (sqlState(error) === "TP004") throw new CommitsLost(tenant);
        if (isConnectionLost(error)) write.isLost = true;
        else if (!isContention(error)) throw error;
        if (!isHeld && (tries === FIRST_WAITS.length || this.#outages.current !== null)) throw error;
        if (tries >= FIRST_WAITS.length) this.#count += 1;
        if (performance.now() - told >= TELL_MS) {
          told = performance.now();
          this.#listeners.forEach((listener) => listener(messageOf(error), told - began));
        }
        await delay(FIRST_WAITS[tries] ?? LAST_WAIT);
        if (isHeld) await this.#outages.over();
      }
    }
  }
}
