import type { AgentOfTenant } from "./lease.ts";

/** An agent is claimed by the look that finds its row free for this time. */
const FREE_LOOKS = 3;
/** A look that was answered sooner after the one before does not count, in ms: looks come a second after each other, or a little less. */
const APART_MS = 900;

/** How many looks have found an agent's row free since it was locked, and when the last of them was answered. */
type Freed = { readonly looks: number; readonly answeredAt: number };

/**
 * Agents whose lease ran out while somebody else held their row, as this server saw. Nobody could renew it meanwhile: when
 * the row is free, the owner has two seconds to do so. Three looks have to find the row free, as one may be late itself: what
 * keeps a look from its answer keeps the owner from renewing.
 */
export class LockedRows {
  readonly #now: () => number;
  #rows: ReadonlyMap<string, Freed> = new Map();

  /** `now` answers ms that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Those whom this server may claim, of the agents whose lease has run out; `unlocked` are those whose rows nobody holds. */
  claimable<Agent extends AgentOfTenant>(runOut: readonly Agent[], unlocked: ReadonlySet<string>): readonly Agent[] {
    const rows = new Map<string, Freed>();
    for (const { agentId } of runOut) {
      const freed = unlocked.has(agentId) ? this.#foundFree(agentId) : { looks: 0, answeredAt: -Infinity };
      if (freed !== null) rows.set(agentId, freed);
    }
    this.#rows = rows;
    return runOut.filter(({ agentId }) => !rows.has(agentId));
  }

  /** Null if the agent may be claimed. */
  #foundFree(agentId: string): Freed | null {
    const before = this.#rows.get(agentId);
    if (before === undefined) return null;
    const answeredAt = this.#now();
    if (answeredAt - before.answeredAt < APART_MS) return before;
    const looks = before.looks + 1;
    return looks < FREE_LOOKS ? { looks, answeredAt } : null;
  }
}
