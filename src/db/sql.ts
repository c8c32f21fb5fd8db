import { errorClass } from "./error-class.ts";
import type { OutageWatch } from "./outage.ts";
import { storageError, StorageUnavailable } from "./storage-error.ts";

/**
 * A statement with a name, under which a connection keeps it prepared. `Row` and `Values` are what its author says of the
 * rows that it answers and of its parameters, once, beside the text.
 */
export type Statement<Row = unknown, Values extends readonly unknown[] = readonly unknown[]> = {
  readonly name: string;
  readonly text: string;
  /** Never there: it carries the types. */
  readonly types?: { readonly row: Row; readonly values: Values };
};

/** A statement that is planned for its values each time. Its name stands in its text, where PostgreSQL's own views show it, too. */
export function plannedForValues<Row>(name: string, text: string): Statement<Row> {
  return { name: "", text: `/* ${name} */ ${text}` };
}

/** The name of a statement, for people. */
export function nameOf({ name, text }: Statement): string {
  return name === "" ? (/^\/\* (\w+) \*\//.exec(text)?.[1] ?? "") : name;
}

/**
 * Runs single statements, each a transaction of its own. There is no way here to hold a transaction open: everything
 * that must commit together goes through one SQL function (docs/adr/0002).
 */
export type Sql = {
  /** The statement's rows, as the driver reads them. Rejects with an error that carries PostgreSQL's `code`. */
  query<Row, Values extends readonly unknown[] = readonly unknown[]>(
    statement: Statement<Row, Values>,
    values: Values,
  ): Promise<Row[]>;
  /** Knows whether the database answers at all. */
  readonly outages: OutageWatch;
  /** True if a connection keeps a statement prepared by its name: a large one is planned once, then. */
  readonly keepsPrepared: boolean;
};

/** The statements of a database, and what they tell of whether it answers. */
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
