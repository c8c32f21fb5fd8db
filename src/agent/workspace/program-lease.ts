import type { Deadline } from "../../lib/deadline.ts";

/** The share of a lease after which, without renewal, what runs under it is killed: nothing of it runs when others may go on. */
export const ALIVE_SHARE = 0.8;

/** The share of a lease after which the guard looks again whether a program's is over. */
export const TICK_SHARE = 0.05;

/** Whose programs they are, for the operator. */
export type ProgramsOf = { readonly tenant: string; readonly agent: string; readonly shell?: string };

/**
 * The right of programs to run: as long as the lease of their agent, or of their background shell, is known to hold. The guard of
 * the server kills them once it has heard of no renewal in time, also while the server stands still.
 */
export class ProgramLease {
  readonly #listeners = new Set<(until: Deadline) => void>();
  readonly of: ProgramsOf;
  #until: Deadline;

  /** `until` began before the lease was asked for. */
  constructor(until: Deadline, of: ProgramsOf) {
    this.#until = until;
    this.of = of;
  }

  get until(): Deadline {
    return this.#until;
  }

  /** True if the lease may run out before it is renewed. */
  get isOver(): boolean {
    return this.#until.isOver;
  }

  /** The lease was renewed, by a statement that began when `until` did. */
  renew(until: Deadline): void {
    this.#until = until;
    for (const listener of this.#listeners) listener(until);
  }

  /** Calls the listener at each renewal. Returns the end of that. */
  onRenewed(listener: (until: Deadline) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
