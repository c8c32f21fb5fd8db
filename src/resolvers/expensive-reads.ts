import { KeyedSemaphore } from "../lib/keyed-semaphore.ts";
import { clientError } from "./errors.ts";

/** The limits of one tenant's expensive reads: concurrent and waiting ones. One read keeps a database core busy. */
const MOST = { reading: 1, waiting: 20 };

/**
 * The queue of reads over many rows, such as statistics. One runs a tenant at a time, so that no tenant occupies all
 * connections of readers (invariant 13).
 */
export class ExpensiveReads {
  readonly #turns = new KeyedSemaphore(MOST.reading);

  /** Throws TOO_BUSY if too many wait already. */
  async run<Result>(tenant: string, read: () => Promise<Result>): Promise<Result> {
    if (this.#turns.waiting(tenant) >= MOST.waiting)
      throw clientError("TOO_BUSY", `${MOST.waiting} statistics queries of this tenant are already waiting: try again later`);
    return this.#turns.run(tenant, read);
  }
}
