import { AsyncLocalStorage } from "node:async_hooks";
import { Turns } from "../../lib/turns.ts";
import { readingTenant } from "./reader-limits.ts";

/** The tenant for which statements are made now. */
const current = new AsyncLocalStorage<string>();

/** Does `work` for a tenant: the statements that it begins take their turns with the tenant's others. */
export function forTenant<Result>(tenant: string, work: () => Result): Result {
  return current.run(tenant, work);
}

/** The turns of tenants at so many connections: one tenant's statements take two thirds of them at most. */
export function tenantTurns(connections: number): Turns {
  return new Turns(Math.max(1, Math.floor((connections * 2) / 3)));
}

/**
 * Makes a statement in a turn of the tenant for which it is made: what is left is for other tenants, whatever the statements wait
 * for (invariant 13). What the server does for no tenant waits for nobody.
 */
export function inTurn<Result>(turns: Turns, ask: () => Promise<Result>): Promise<Result> {
  const tenant = current.getStore() ?? readingTenant();
  return tenant === null ? ask() : turns.run(tenant, ask);
}
