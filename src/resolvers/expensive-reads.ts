import { Turns } from "../lib/turns.ts";
import { clientError } from "./errors.ts";

/**
 * The bounds of one tenant's expensive reads: how many are under way at once, and how many wait for their turn. One keeps a
 * whole core of the database busy.
 */
const MOST = { reading: 1, waiting: 20 };

/**
 * The turns of reads that look at many rows, such as statistics: one of each tenant at a time, so that no tenant keeps
 * the connections of readers busy for others (invariant 13).
 */
export class ExpensiveReads {
  readonly #turns = new Turns(MOST.reading);

  /** Does `read` in its turn. Throws TOO_BUSY where too many wait already. */
  async run<Result>(tenant: string, read: () => Promise<Result>): Promise<Result> {
    if (this.#turns.waiting(tenant) >= MOST.waiting)
      throw clientError("TOO_BUSY", `${MOST.waiting} statistics queries of this tenant are already waiting: try again later`);
    return this.#turns.run(tenant, read);
  }
}
