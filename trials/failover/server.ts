import type { Sql } from "../../src/db/sql.ts";
import { runServer } from "../run-server.ts";

/** The fault of trial:failover: nobody looks whether the database is still the one of before. */
function overlooks(sql: Sql): Sql {
  return {
    ...sql,
    query: (statement, values) => (statement.name === "gone_events" ? Promise.resolve([]) : sql.query(statement, values)),
  };
}

/** A server of trial:failover. */
await runServer(process.env["TRIAL_FAULT"] === "overlooks" ? { sql: overlooks } : {});
