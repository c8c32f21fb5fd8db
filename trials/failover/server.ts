import { readMigrations, type Migration } from "../../src/db/migrate.ts";
import type { Sql } from "../../src/db/sql.ts";
import { runServer } from "../run-server.ts";

/** The fault of trial:failover: nobody looks whether the database is still the one of before. */
function overlooks(sql: Sql): Sql {
  return {
    ...sql,
    query: (statement, values) => (statement.name === "gone_events" ? Promise.resolve([]) : sql.query(statement, values)),
  };
}

/** The migration of a next version, which the trial takes back. */
const NEXT: Migration = {
  name: "99990101000000_next",
  sql: "-- Servers of the version before may run beside it.\nALTER TABLE consumer ADD COLUMN next_at timestamptz;\n",
};

/** A server of trial:failover, of this version or of the next one. */
await runServer({
  ...(process.env["TRIAL_FAULT"] === "overlooks" ? { sql: overlooks } : {}),
  ...(process.env["TRIAL_VERSION"] === "next" ? { migrations: [...(await readMigrations()), NEXT] } : {}),
});
