import { AsyncLocalStorage } from "node:async_hooks";
import { Turns } from "../../lib/turns.ts";

/** The tenant whose log is written now. */
const current = new AsyncLocalStorage<string>();

/** Does `work` for a tenant: the statements that it begins take their turns with the tenant's others. */
export function writeFor<Result>(tenant: string, work: () => Result): Result {
  return current.run(tenant, work);
}

/**
 * Lets the writes of one tenant take two thirds of so many connections at most: one of them has the lock of the tenant's
 * log, the others make ready or wait for rows, and what is left is for other tenants (invariant 13).
 */
export function writersInTurn(connections: number): <Result>(write: () => Promise<Result>) => Promise<Result> {
  const turns = new Turns(Math.max(1, Math.floor((connections * 2) / 3)));
  return (write) => {
    const tenant = current.getStore();
    return tenant === undefined ? write() : turns.run(tenant, write);
  };
}
