import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "./sql.ts";
import { StorageUnavailable } from "./storage-error.ts";

/** The time for which it is of no use to ask a database again that has just not answered, in ms. */
export const AGAIN_MS = 100;

/** The result of `work`, done again if the database does not answer: for reads, and for what may be done twice. */
export async function retryWhileUnavailable<Result>(
  { outages }: Pick<Sql, "outages">,
  work: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      await delay(AGAIN_MS);
      await outages.over();
    }
  }
}

/** The same statements, each done again while the database does not answer. */
export function retrying(sql: Sql): Sql {
  return { ...sql, query: (statement, values) => retryWhileUnavailable(sql, () => sql.query(statement, values)) };
}
