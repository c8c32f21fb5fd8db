import { setTimeout as delay } from "node:timers/promises";
import { errorClass } from "./error-class.ts";
import type { OutageWatch } from "./outage.ts";
import { storageError, StorageUnavailable } from "./storage-error.ts";

/**
 * A statement with a name, under which connections keep it prepared. `Row` and `Values` are the declared types of its
 * rows and parameters.
 */
export type Statement<Row = unknown, Values extends readonly unknown[] = readonly unknown[]> = {
  readonly name: string;
  readonly text: string;
  /** Never present: it carries the types. */
  readonly types?: { readonly row: Row; readonly values: Values };
};

/** A statement that is planned for its values each time. Its text contains its name, for PostgreSQL's own views. */
export function plannedForValues<Row>(name: string, text: string): Statement<Row> {
  return { name: "", text: `/* ${name} */ ${text}` };
}

export function nameOf({ name, text }: Statement): string {
  return name === "" ? (/^\/\* (\w+) \*\//.exec(text)?.[1] ?? "") : name;
}

/**
 * Runs single statements, each in its own transaction. Transactions cannot be held open: everything that must commit
 * together goes through one SQL function (docs/adr/0002).
 */
export type Sql = {
  /** The statement's rows, as the driver parses them. Rejects with an error that has PostgreSQL's `code`. */
  query<Row, Values extends readonly unknown[] = readonly unknown[]>(
    statement: Statement<Row, Values>,
    values: Values,
  ): Promise<Row[]>;
  readonly outages: OutageWatch;
  /** True if connections keep statements prepared by name: a large one is then planned once. */
  readonly keepsPrepared: boolean;
};

export function watched(query: Sql["query"], { outages, keepsPrepared }: Pick<Sql, "outages" | "keepsPrepared">): Sql {
  return {
    outages,
    keepsPrepared,
    query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
      if (outages.isUnavailable) throw new StorageUnavailable(outages.current?.problem);
      try {
        return await query<Row>(statement, values);
      } catch (error) {
        if (errorClass(error) === "outage") outages.suspect();
        throw storageError(error);
      }
    },
  };
}

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
