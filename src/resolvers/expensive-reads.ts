import { clientError } from "./errors.ts";

/** The bounds of one tenant's expensive reads: how many are under way at once, and how many wait for their turn. */
const MOST = { reading: 2, waiting: 20 };

type Tenant = { reading: number; readonly waiting: (() => void)[] };

/**
 * The turns of reads that look at many rows, such as statistics: a few of each tenant at a time, so that no tenant keeps
 * the connections of readers busy for others (invariant 13).
 */
export class ExpensiveReads {
  readonly #tenants = new Map<string, Tenant>();

  /** Does `read` in its turn. Throws TOO_BUSY where too many wait already. */
  async run<Result>(tenant: string, read: () => Promise<Result>): Promise<Result> {
    const own = this.#tenants.get(tenant) ?? { reading: 0, waiting: [] };
    this.#tenants.set(tenant, own);
    if (own.reading < MOST.reading) own.reading += 1;
    else if (own.waiting.length < MOST.waiting) await new Promise<void>((resolve) => own.waiting.push(resolve));
    else
      throw clientError("TOO_BUSY", `${MOST.waiting} statistics of this tenant wait already: ask again when some are answered`);
    try {
      return await read();
    } finally {
      const next = own.waiting.shift();
      // The turn goes on to whoever waits longest.
      if (next !== undefined) next();
      else own.reading -= 1;
      if (own.reading === 0) this.#tenants.delete(tenant);
    }
  }
}
