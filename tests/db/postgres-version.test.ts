import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { administrator, emptyDatabaseUrl, setOnDatabase } from "../support/database.ts";

describe("a PostgreSQL older than 15", () => {
  it("is refused with its version and with what to do, and nothing is migrated", async () => {
    const url = await emptyDatabaseUrl();
    const client = await administrator(url);
    // Connections that come find this function before PostgreSQL's own.
    await client.query(`CREATE SCHEMA old;
      CREATE FUNCTION old.current_setting(name text) RETURNS text LANGUAGE sql
        AS $$ SELECT CASE name WHEN 'server_version_num' THEN '140023' WHEN 'server_version' THEN '14.23' END $$`);
    await setOnDatabase(url, { search_path: "old, pg_catalog, public" });
    const opened = openDatabase({ kind: "postgres", url, connections: 1 });
    await expect(opened).rejects.toThrow(/is version 14\.23, and Triplane needs 15 or newer: upgrade it/);
    const { rows } = await client.query("SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('old', 'public')");
    expect(rows).toEqual([]);
  });
});
