import { AsyncLocalStorage } from "node:async_hooks";
import { KeyedSemaphore } from "../../lib/keyed-semaphore.ts";
import { readingTenant } from "./reader-limits.ts";

const current = new AsyncLocalStorage<string>();

export function forTenant<Result>(tenant: string, work: () => Result): Result {
  return current.run(tenant, work);
}

export function tenantTurns(connections: number): KeyedSemaphore {
  return new KeyedSemaphore(Math.max(1, Math.floor((connections * 2) / 3)));
}

/**
 * Runs a statement in its tenant's turn: the other connections are for other tenants (invariant 13). Statements without
 * a tenant do not wait.
 */
export function inTurn<Result>(turns: KeyedSemaphore, ask: () => Promise<Result>): Promise<Result> {
  const tenant = current.getStore() ?? readingTenant();
  return tenant === null ? ask() : turns.run(tenant, ask);
}
