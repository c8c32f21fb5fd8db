import type { Sql } from "../../src/db/sql.ts";

/** The parameter of `move_mcp_task` with the time until a task is asked for again, or until another server may do so. */
const MS = 2;

/** The database, with times of tasks that are a tenth of production's. */
export function soonerTasks(sql: Sql): Sql {
  return {
    ...sql,
    query: (statement, values) =>
      sql.query(statement, statement.name === "move_mcp_task" ? values.with(MS, Number(values[MS]) / 10) : values),
  };
}
