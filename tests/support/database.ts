import { randomUUID } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { openDatabase, type Database } from "../../src/db/database.ts";

/** The URL of a new, migrated database, dropped when the test ends. */
export async function testDatabaseUrl(): Promise<string> {
  return createDatabase("triplane_template");
}

async function createDatabase(template: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  // A copy of files takes a third of the time: this PostgreSQL has nothing to write out first.
  await administration().query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  onTestFinished(async () => void (await administration().query(`DROP DATABASE ${name} WITH (FORCE)`)));
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return url.href;
}

/** One for all tests of a process: PostgreSQL starts a process for each connection, which takes as long as the statement. */
let administrators: pg.Pool | null = null;

function administration(): pg.Pool {
  if (administrators !== null) return administrators;
  administrators = new pg.Pool({ connectionString: inject("postgresUrl"), idleTimeoutMillis: 0, allowExitOnIdle: true });
  // PostgreSQL ends before what is idle does.
  administrators.on("error", () => {});
  return administrators;
}

/** The URL of a new database without any table, dropped when the test ends. */
export async function emptyDatabaseUrl(): Promise<string> {
  return createDatabase("template0");
}

/** A new database, open, closed when the test ends. */
export async function testDatabase(): Promise<Database & { readonly url: string }> {
  const url = await testDatabaseUrl();
  const database = await openDatabase({ kind: "postgres", url, connections: 8 });
  onTestFinished(() => database.close());
  return { ...database, url };
}

/** Runs one statement on the database of the URL. */
export async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
