import { randomUUID } from "node:crypto";
import pg from "pg";
import { openDatabase } from "../src/db/database.ts";
import { NO_OBSERVER } from "../src/db/observer.ts";
import { startPostgres } from "../tests/support/postgres.ts";

/** Runs `measure` on a new PostgreSQL of its own; TEST_DATABASE_URL names another one. */
export async function withPostgres(measure: (url: string) => Promise<void>): Promise<void> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined) return measure(given);
  const started = await startPostgres();
  try {
    await measure(started.url);
  } finally {
    await started.stop();
  }
}

/**
 * Runs `measure` on a new database of the PostgreSQL, which goes afterwards: what one bench leaves, and what PostgreSQL does
 * about that in the background, is in nobody else's figures.
 */
export async function withDatabase<Result>(server: string, measure: (url: string) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  const name = `bench_${randomUUID().replaceAll("-", "")}`;
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    await migrateAll(url.href);
    return await measure(url.href);
  } finally {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await client.query("CHECKPOINT");
    await client.end();
  }
}

/** Migrates a database. The indexes are those of servers that have worked for a while: what only makes things faster is done, too. */
export async function migrateAll(url: string): Promise<void> {
  const observer = { ...NO_OBSERVER, tell: (problem: string) => console.error(problem) };
  const database = await openDatabase({ kind: "postgres", url, connections: 1 }, observer);
  await database.makeFaster();
  await database.close();
}
