import type { AgentOfTenant } from "./lease.ts";

/** An agent is claimed after this many sweeps that found its row unlocked. */
const FREE_LOOKS = 3;
/** Sweeps that are answered closer together, in ms, count once. Sweeps are about a second apart. */
const APART_MS = 900;

type Freed = { readonly looks: number; readonly answeredAt: number };

/**
 * Agents whose lease expired while their row was locked, so that the owner could not renew it. Once the row is
 * unlocked, the owner has about two seconds to renew. Three sweeps must find the row unlocked: whatever delays a
 * sweep's answer delays the owner as well.
 */
export class LockedRows {
  readonly #now: () => number;
  #rows: ReadonlyMap<string, Freed> = new Map();

  /** `now` returns monotonic ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

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
