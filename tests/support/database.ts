import { randomUUID } from "node:crypto";
import pg from "pg";
import { inject, onTestFinished } from "vitest";
import { openDatabase, type Database } from "../../src/db/database.ts";

/** The URL of a new, migrated database, dropped when the test ends. */
export async function testDatabaseUrl(): Promise<string> {
  return createDatabase("triplane_template");
}

async function createDatabase(template: string, options = ""): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  // A copy of files takes a third of the time: this PostgreSQL has nothing to write out first.
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY ${options}`);
  onTestFinished(() => administer(`DROP DATABASE ${name} WITH (FORCE)`));
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  return url.href;
}

/** The URL of a new database without any table, dropped when the test ends. */
export async function emptyDatabaseUrl(): Promise<string> {
  return createDatabase("template0");
}

/** The same with another encoding than PostgreSQL's own, as PostgreSQL names it. */
export async function encodedDatabaseUrl(encoding: string): Promise<string> {
  return createDatabase("template0", `ENCODING ${encoding} LOCALE_PROVIDER libc LOCALE 'C'`);
}

/** A new database, open, closed when the test ends. */
export async function testDatabase(): Promise<Database & { readonly url: string }> {
  const url = await testDatabaseUrl();
  const database = await openDatabase({ kind: "postgres", url, connections: 8 });
  onTestFinished(() => database.close());
  return { ...database, url };
}

/** Sets something on the database for whoever connects from now on, as an operator may: values as SQL has them. */
export async function setOnDatabase(url: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  for (const [setting, value] of Object.entries(settings)) await administer(`ALTER DATABASE ${name} SET ${setting} = ${value}`);
}

/** A connection to the database beside those of a server. It ends with the test. */
export async function administrator(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** One for all tests of a process: PostgreSQL starts a process for each connection, which takes as long as the statement. */
let administrators: pg.Pool | null = null;

/** Runs one statement about the databases of the tests, on none of them. */
export async function administer(statement: string): Promise<void> {
  administrators ??= openAdministrators();
  await administrators.query(statement);
}

function openAdministrators(): pg.Pool {
  const pool = new pg.Pool({ connectionString: inject("postgresUrl"), idleTimeoutMillis: 0, allowExitOnIdle: true });
  // PostgreSQL ends before what is idle does.
  pool.on("error", () => {});
  return pool;
}
