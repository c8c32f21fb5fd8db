import type { Deadline } from "../../lib/deadline.ts";

/** The share of a lease after which programs are killed without a renewal, so that none runs when others may take over. */
export const ALIVE_SHARE = 0.8;

export const TICK_SHARE = 0.05;

export type ProgramsOf = { readonly tenant: string; readonly agent: string; readonly shell?: string };

/**
 * The right of programs to run, while the lease of their agent or background shell certainly holds. The server's guard
 * kills them without a timely renewal, also while the server is stopped.
 */
export class ProgramLease {
  readonly #listeners = new Set<(until: Deadline) => void>();
  readonly of: ProgramsOf;
  #until: Deadline;

  constructor(until: Deadline, of: ProgramsOf) {
    this.#until = until;
    this.of = of;
  }

  get until(): Deadline {
    return this.#until;
  }

  get isOver(): boolean {
    return this.#until.isOver;
  }

  renew(until: Deadline): void {
    this.#until = until;
    for (const listener of this.#listeners) listener(until);
  }

  onRenewed(listener: (until: Deadline) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
