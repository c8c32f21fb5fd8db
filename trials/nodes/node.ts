import type { Sql } from "../../src/db/sql.ts";
import { runNode } from "../node.ts";

/** The fault of trial:nodes: what the holder of a lease writes is not fenced. */
function unfenced(sql: Sql): Sql {
  return {
    ...sql,
    query: (statement, values) => {
      if (statement.name === "commit_change") return sql.query(statement, values.with(4, null));
      if (statement.name === "append_events")
        return sql.query(
          statement,
          values.with(
            4,
            (values[4] as readonly unknown[]).map(() => null),
          ),
        );
      return sql.query(statement, values);
    },
  };
}

/** A server of trial:nodes. */
await runNode(process.env["TRIAL_FAULT"] === "unfenced" ? { sql: unfenced } : {});
