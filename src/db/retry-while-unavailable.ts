import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "./sql.ts";
import { StorageUnavailable } from "./storage-error.ts";

/** The time before the next request to a database that did not answer, in ms. */
export const AGAIN_MS = 100;

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

export function retrying(sql: Sql): Sql {
  return { ...sql, query: (statement, values) => retryWhileUnavailable(sql, () => sql.query(statement, values)) };
}
