import { randomUUIDv7 } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OutageWatch } from "../db/outage.ts";
import { isConnectionLost, isContention, sqlState } from "../db/storage-error.ts";
import { messageOf } from "../lib/text.ts";
import { CommitsLost } from "./log-page.ts";

/** The first waits between tries of a write, in ms. */
export const FIRST_WAITS = [10, 50, 200, 500, 1_000];
/** The wait after those, in ms: what the holder of a lease writes is tried on and on. */
const LAST_WAIT = 2_000;
/** The time between reports that a write is tried for long, in ms. */
const TELL_MS = 10_000;

/**
 * A write by its id, for as long as its outcome is not known. Once an answer of it was lost, each further try asks first
 * what the tries before have written.
 */
export type Write = { readonly id: string; isLost: boolean };

/** A write that was not tried yet. `id` is a UUID that no other write has; the first of its events is found by it. */
export function newWrite(id: string = randomUUIDv7()): Write {
  return { id, isLost: false };
}

/** The tries of writes whose outcome is not known yet. */
export class WriteTries {
  readonly #outages: OutageWatch;
  readonly #listeners = new Set<(problem: string, sinceMs: number) => void>();
  #count = 0;

  constructor(outages: OutageWatch) {
    this.#outages = outages;
  }

  /** The number of tries after the first waits, of all writes. */
  get count(): number {
    return this.#count;
  }

  /** Calls the listener, each TELL_MS at most, with what the database says to a write that is tried for long, and since how many ms. */
  onLong(listener: (problem: string, sinceMs: number) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Tries a write until its outcome is known. What the holder of a lease writes waits for the database as long as it is
   * away, since its epoch says afterwards whether it still counts. What others ask for is refused: they may ask again.
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
