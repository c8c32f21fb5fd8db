import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { definitionOf, newestDefinition, readFunctions } from "../../scripts/functions.ts";
import { olderServers, type MigrationConnection } from "../../src/db/connected-servers.ts";
import { kindOf, migrate, migrateFaster, readMigrations, type MigrationRun } from "../../src/db/migrate.ts";
import { setOnDatabase, testDatabaseUrl } from "../support/database.ts";
import { emptyEmbedded } from "../support/embedded.ts";

async function embedded(): Promise<MigrationConnection> {
  const client = await emptyEmbedded();
  return {
    script: async (sql) => void (await client.exec(sql)),
    query: async <Row>(sql: string, values: readonly unknown[] = []) => (await client.query<Row>(sql, [...values])).rows,
  };
}

/** A connection to a PostgreSQL, under a name. */
async function connected(url: string, name: string): Promise<MigrationConnection> {
  const client = new pg.Client({ connectionString: url, application_name: name });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return {
    script: async (sql) => void (await client.query(sql)),
    query: async <Row>(sql: string, values: readonly unknown[] = []) => (await client.query(sql, [...values])).rows as Row[],
  };
}

const RUN: MigrationRun = {
  times: { lockMs: 50, pauseMs: 10, tellMs: 0 },
  tell: () => {},
  migrated: () => {},
  signal: new AbortController().signal,
};
const BESIDE = "-- Servers of the version before may run beside it.\n";
const ALONE = "-- Servers of the version before must be stopped.\n";
const FIRST = { name: "1_first", sql: `${BESIDE}CREATE TABLE a (id int)` };
const SECOND = { name: "1_second", sql: `${BESIDE}CREATE TABLE b (id int)` };

describe("migrate", () => {
  it("applies what is missing, once, and records it as Prisma does", async () => {
    const connection = await embedded();
    await migrate(connection, [FIRST], RUN);
    await migrate(connection, [FIRST, SECOND], RUN);
    await migrate(connection, [FIRST, SECOND], RUN);
    expect(
      await connection.query(
        `SELECT migration_name, applied_steps_count, length(checksum) AS length FROM "_prisma_migrations" ORDER BY 1`,
      ),
    ).toEqual([
      { migration_name: "1_first", applied_steps_count: 1, length: 64 },
      { migration_name: "1_second", applied_steps_count: 1, length: 64 },
    ]);
  });

  it("leaves nothing of a migration that fails, and says which", async () => {
    const connection = await embedded();
    const broken = { name: "1_third", sql: `${BESIDE}CREATE TABLE c (id int); SELECT nonsense` };
    await expect(migrate(connection, [FIRST, broken], RUN)).rejects.toThrow(/migration 1_third could not be applied: .*nonsense/);
    await migrate(connection, [FIRST, { ...broken, sql: `${BESIDE}CREATE TABLE c (id int)` }], RUN);
  });

  it("refuses a database of a newer version, which keeps its functions, and one with another text of a migration", async () => {
    const connection = await embedded();
    const older = { name: "1_first", sql: `${BESIDE}CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'` };
    const newer = { name: "1_second", sql: `${BESIDE}CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2'` };
    await migrate(connection, [older, newer], RUN);
    await expect(migrate(connection, [older], RUN)).rejects.toThrow(/does not know \(1_second\): start a newer version/);
    expect(await connection.query("SELECT f()")).toEqual([{ f: 2 }]);
    await expect(migrate(connection, [older, { ...newer, sql: `${BESIDE}SELECT 1` }], RUN)).rejects.toThrow(
      /applied with another text/,
    );
  });

  it("refuses what servers of the version before must not run beside, while one is connected, and names them", async () => {
    const url = await testDatabaseUrl();
    const alone = { name: "20991231000000_alone", sql: `${ALONE}CREATE TABLE alone (id int)` };
    const all = [...(await readMigrations()), alone];
    const connection = await connected(url, "triplane 20991231000000 migration");
    const others = ["triplane", "triplane-bell", "triplane 20201231000000 commits"];
    const older = await Promise.all(others.map((name) => connected(url, name)));
    await connected(url, "triplane 20991231000000 reads");
    await expect(migrate(connection, all, RUN)).rejects.toThrow(
      /cannot be applied while servers of the version before are connected \(triplane from .*triplane 20201231000000 commits from .*triplane-bell/,
    );
    for (const other of older) await other.query("SELECT pg_terminate_backend(pg_backend_pid())").catch(() => {});
    await expect.poll(() => olderServers(connection, "20991231000000")).toEqual([]);
    await migrate(connection, all, RUN);
    expect(await connection.query("SELECT * FROM alone")).toEqual([]);
  });

  it("holds nobody up behind a lock that it waits for", async () => {
    const url = await testDatabaseUrl();
    const waits = { name: "20991231000000_column", sql: `${BESIDE}ALTER TABLE agent ADD COLUMN more int` };
    const dump = await connected(url, "pg_dump");
    await dump.script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM agent");
    const told: string[] = [];
    const twice = Promise.withResolvers<void>();
    const tell = (message: string): void => {
      if (told.push(message) > 1) twice.resolve();
    };
    const migrating = migrate(await connected(url, "migration"), [...(await readMigrations()), waits], { ...RUN, tell });
    await twice.promise;
    const reader = await connected(url, "reader");
    await reader.script("SET lock_timeout = '1s'");
    for (let round = 0; round < 20; round += 1) await reader.query("SELECT id FROM agent");
    await dump.script("COMMIT");
    await migrating;
    expect(told[0]).toContain("20991231000000_column waits for a lock");
    expect(await reader.query("SELECT more FROM agent")).toEqual([]);
  });

  it("refuses a server of the version before that comes while a lock is waited for", async () => {
    const url = await testDatabaseUrl();
    const alone = { name: "20991231000000_alone", sql: `${ALONE}ALTER TABLE agent ADD COLUMN more int` };
    const dump = await connected(url, "pg_dump");
    await dump.script("BEGIN; SELECT 1 FROM agent");
    const waits = Promise.withResolvers<void>();
    const run = { ...RUN, tell: () => waits.resolve() };
    const connection = await connected(url, "triplane 20991231000000 migration");
    const migrating = migrate(connection, [...(await readMigrations()), alone], run);
    migrating.catch(() => {});
    await waits.promise;
    await connected(url, "triplane 20201231000000 commits");
    await expect(migrating).rejects.toThrow(/servers of the version before are connected \(triplane 20201231000000 commits from/);
    await dump.script("COMMIT");
  });

  it("takes as long as it takes, whatever bounds the database has", async () => {
    const url = await testDatabaseUrl();
    await setOnDatabase(url, { statement_timeout: "'500ms'", lock_timeout: "'500ms'" });
    const connection = await connected(url, "triplane migration");
    const slow = { name: "9_slow", sql: `${BESIDE}SELECT pg_sleep(0.6)` };
    await migrate(connection, [...(await readMigrations()), slow], RUN);
    expect(await connection.query("SELECT current_setting('lock_timeout') AS bound")).toEqual([{ bound: "0" }]);
  });

  it("refuses to make tables in another schema than where they are", async () => {
    const url = await testDatabaseUrl();
    const connection = await connected(url, "triplane migration");
    await connection.script("CREATE SCHEMA later; SET search_path = later, public");
    const next = { name: "9_next", sql: `${BESIDE}CREATE TABLE next (id int)` };
    const all = await readMigrations();
    await migrate(connection, all, RUN);
    await expect(migrate(connection, [...all, next], RUN)).rejects.toThrow(
      /lie in the schema public, and PostgreSQL would make new ones in later: .* so that public comes first/,
    );
    expect(await connection.query("SELECT tablename FROM pg_tables WHERE schemaname = 'later'")).toEqual([]);
  });

  it("builds an index beside everything else, and anew if it was begun and is not valid", async () => {
    const url = await testDatabaseUrl();
    const index = {
      name: "20991231000000_index",
      sql: `${BESIDE}-- It only makes things faster.\nCREATE UNIQUE INDEX CONCURRENTLY "twins" ON "agent" ("tenant");\n`,
    };
    const all = [...(await readMigrations()), index];
    const connection = await connected(url, "migration");
    await connection.query("CREATE TABLE broken AS SELECT 1 AS id UNION ALL SELECT 1");
    await connection.query("CREATE UNIQUE INDEX CONCURRENTLY twins ON broken (id)").catch(() => {});
    await migrate(connection, all, RUN);
    const valid = "SELECT indisvalid AS valid, indrelid::regclass::text AS of FROM pg_index WHERE indexrelid = 'twins'::regclass";
    expect(await connection.query(valid)).toEqual([{ valid: false, of: "broken" }]);
    await migrateFaster(connection, all, RUN);
    expect(await connection.query(valid)).toEqual([{ valid: true, of: "agent" }]);
  });

  it("takes an index for dropped that is gone: who dropped it may have ended before that was noted", async () => {
    const url = await testDatabaseUrl();
    const gone = { name: "20991231000000_gone", sql: `${BESIDE}DROP INDEX CONCURRENTLY "event_control";\n` };
    const all = [...(await readMigrations()), gone];
    const connection = await connected(url, "migration");
    await connection.query('DROP INDEX "event_control"');
    await migrate(connection, all, RUN);
    expect(await connection.query("SELECT migration_name AS name FROM _prisma_migrations WHERE migration_name > '2099'")).toEqual(
      [{ name: gone.name }],
    );
  });
});

describe("the committed migrations", () => {
  it("come in order, and each says who may run beside it", async () => {
    const migrations = await readMigrations();
    const names = migrations.map((migration) => migration.name);
    expect(names).toEqual(names.toSorted());
    expect(names.length).toBeGreaterThan(0);
    for (const migration of migrations) expect(() => kindOf(migration)).not.toThrow();
    expect(() => kindOf({ name: "20991231000000_silent", sql: "SELECT 1" })).toThrow(/the first line of migration/);
  });

  it("have the text of each function's source as the newest", async () => {
    const migrations = await readMigrations();
    const sources = await readFunctions();
    expect(sources.length).toBeGreaterThan(0);
    for (const { name, text } of sources) expect(newestDefinition(name, migrations), name).toBe(definitionOf(text));
  });

  it("make no function that has no source", async () => {
    const connection = await embedded();
    for (const { sql } of await readMigrations()) await connection.script(sql);
    const made = await connection.query<{ name: string }>(
      "SELECT p.proname AS name FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public' ORDER BY 1",
    );
    expect(made.map(({ name }) => name)).toEqual((await readFunctions()).map(({ name }) => name));
  });
});
