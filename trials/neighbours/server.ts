import { LEASE_TIMES } from "../../src/agent/loop/lease.ts";
import type { Sql } from "../../src/db/sql.ts";
import { runServer } from "../run-server.ts";

/** The fault of trial:neighbours: a renewal waits for every row, so that locked rows are everybody's. */
function waitsForAll(sql: Sql): Sql {
  return {
    ...sql,
    query: (statement, values) =>
      sql.query(
        statement.name === "renew_leases"
          ? { name: "renew_leases_of_all", text: statement.text.replace("SKIP LOCKED", "") }
          : statement,
        values,
      ),
  };
}

/** A server of trial:neighbours, with the leases of production. */
await runServer({ leaseTimes: LEASE_TIMES, ...(process.env["TRIAL_FAULT"] === "waits for all" ? { sql: waitsForAll } : {}) });
