import type { Sql, Statement } from "../../src/db/sql.ts";

/** The database, with something that is done around each statement: `run` runs it. */
export function aroundStatements(
  sql: Sql,
  act: <Row>(statement: Statement<Row>, run: () => Promise<Row[]>, values: readonly unknown[]) => Promise<Row[]>,
): Sql {
  return {
    ...sql,
    query: <Row>(statement: Statement<Row>, values: readonly unknown[]) =>
      act<Row>(statement, () => sql.query<Row>(statement, values), values),
  };
}
