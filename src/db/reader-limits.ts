import { AsyncLocalStorage } from "node:async_hooks";
import type pg from "pg";
import { Turns } from "../lib/turns.ts";

/** Whose operation reads now, and whether they still want to know. */
export type CurrentReader = { readonly tenant: string; readonly signal: AbortSignal };

const current = new AsyncLocalStorage<CurrentReader>();

/** Does `work` for a reader: statements that it begins end when the reader leaves. */
export function readFor<Result>(reader: CurrentReader, work: () => Result): Result {
  return current.run(reader, work);
}

/** Does `work` for no reader: what it begins outlives the operation in which it is begun. */
export function forNobody<Result>(work: () => Result): Result {
  return current.exit(work);
}

/** PostgreSQL ends a statement of this connection, where it still runs. */
const CANCEL = "SELECT pg_cancel_backend($1)";

type Query = { readonly text: string; readonly values?: unknown[] };

/**
 * The `query` of a pool, of statements that are cancelled in the database when the reader that they are for has left. The
 * cancelling goes through another pool, since this one may have no connection to spare.
 */
export function cancellingQuery(pool: pg.Pool, cancelling: pg.Pool): pg.Pool["query"] {
  // One tenant's readers leave connections to others.
  const turns = new Turns(Math.max(1, Math.floor((pool.options.max * 2) / 3)));
  const query = async (config: Query, values?: unknown[]): Promise<unknown> => {
    const reader = current.getStore();
    if (reader === undefined) return onConnection(pool, (client) => client.query(config, values));
    reader.signal.throwIfAborted();
    const read = async (client: pg.PoolClient): Promise<unknown> => {
      reader.signal.throwIfAborted();
      const cancel = (): void => {
        if ("processID" in client) cancelling.query(CANCEL, [client.processID]).catch(() => {});
      };
      reader.signal.addEventListener("abort", cancel, { once: true });
      try {
        const result = await client.query(config, values);
        // The cancelling may still be under way: it must not meet the next statement of the connection.
        reader.signal.throwIfAborted();
        return result;
      } finally {
        reader.signal.removeEventListener("abort", cancel);
      }
    };
    return turns.run(reader.tenant, () => onConnection(pool, read));
  };
  // The overloads of the driver's `query` describe one function; only its form with a promise is used here.
  return query as pg.Pool["query"];
}

async function onConnection<Result>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  // A connection that breaks is told to its statement; without a listener it would end the process.
  const ignore = (): void => {};
  client.on("error", ignore);
  try {
    const result = await work(client);
    client.off("error", ignore);
    client.release();
    return result;
  } catch (error) {
    // As the pool's own `query` does: a connection that a statement failed on is not used again.
    client.release(error instanceof Error ? error : true);
    throw error;
  }
}
