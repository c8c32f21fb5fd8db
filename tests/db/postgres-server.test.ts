import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { NO_OBSERVER } from "../../src/db/observer.ts";
import { administrator, emptyDatabaseUrl, encodedDatabaseUrl, setOnDatabase } from "../support/database.ts";

async function tablesOf(url: string): Promise<readonly unknown[]> {
  const { rows } = await (
    await administrator(url)
  ).query("SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')");
  return rows;
}

/** What is told while the database is opened. It is closed when the test ends. */
async function toldBy(url: string): Promise<readonly string[]> {
  const told: string[] = [];
  const database = await openDatabase(
    { kind: "postgres", url, connections: 1 },
    { ...NO_OBSERVER, tell: (message) => void told.push(message) },
  );
  onTestFinished(() => database.close());
  return told;
}

describe("a PostgreSQL on which Triplane cannot work is refused with what to do, and nothing is migrated", () => {
  it("one older than 15", async () => {
    const url = await emptyDatabaseUrl();
    const client = await administrator(url);
    // Connections that come find this function before PostgreSQL's own.
    await client.query(`CREATE SCHEMA old;
      CREATE FUNCTION old.current_setting(name text) RETURNS text LANGUAGE sql AS $$
        SELECT CASE name WHEN 'server_version_num' THEN '140023' WHEN 'server_version' THEN '14.23' ELSE pg_catalog.current_setting(name) END $$`);
    await setOnDatabase(url, { search_path: "old, pg_catalog, public" });
    const opened = openDatabase({ kind: "postgres", url, connections: 1 });
    await expect(opened).rejects.toThrow(/is version 14\.23, and Triplane needs 15 or newer: upgrade it/);
    expect(await tablesOf(url)).toEqual([]);
  });

  it.each(["LATIN1", "EUC_JP"])("a database whose encoding is %s", async (encoding) => {
    const url = await encodedDatabaseUrl(encoding);
    const opened = openDatabase({ kind: "postgres", url, connections: 1 });
    await expect(opened).rejects.toThrow(
      new RegExp(`the encoding ${encoding}, .* Triplane needs UTF8: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'`),
    );
    expect(await tablesOf(url)).toEqual([]);
  });
});

describe("what a PostgreSQL lacks on which Triplane can work is told", () => {
  it("the encoding SQL_ASCII, which counts bytes", async () => {
    expect(await toldBy(await encodedDatabaseUrl("SQL_ASCII"))).toContainEqual(
      expect.stringMatching(/has the encoding SQL_ASCII: .* should have UTF8: CREATE DATABASE/),
    );
  });

  it("commits that a crash may lose, and no others", async () => {
    const url = await emptyDatabaseUrl();
    await setOnDatabase(url, { synchronous_commit: "off" });
    expect(await toldBy(url)).toContainEqual(expect.stringMatching(/synchronous_commit.* off: a crash of it loses/));
    await setOnDatabase(url, { synchronous_commit: "local" });
    expect(await toldBy(url)).not.toContainEqual(expect.stringContaining("synchronous_commit"));
  });
});
