import type { Sql } from "../../src/db/sql.ts";
import { StorageUnavailable } from "../../src/db/storage-error.ts";
import { runServer } from "../run-server.ts";

/** The fault of trial:outage: nothing waits for the database to come back. */
function impatient(sql: Sql): Sql {
  const outages = new Proxy(sql.outages, {
    get(target, name) {
      if (name === "over") return () => Promise.reject(new StorageUnavailable("nothing waits"));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { ...sql, outages };
}

/** A server of trial:outage. */
await runServer(process.env["TRIAL_FAULT"] === "impatient" ? { sql: impatient } : {});
