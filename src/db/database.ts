import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaPGlite } from "pglite-prisma-adapter";
import { messageOf } from "../lib/text.ts";
import { PrismaClient } from "./generated/client.ts";
import { lockFolder } from "./lock-file.ts";
import { migrate, readMigrations } from "./migrate.ts";
import { OutageWatch } from "./outage.ts";
import { openPool } from "./pool.ts";
import { watched, type Sql, type Statement } from "./sql.ts";

/** Where the data lies: in a folder of this machine (one process), or in a PostgreSQL (many). */
export type DatabaseConfig =
  | { readonly kind: "embedded"; readonly folder: string }
  | { readonly kind: "postgres"; readonly url: string; readonly connections: number };

/**
 * Typed reads for GraphQL. Transactions and raw statements are taken away: on the embedded database an interactive
 * transaction blocks every other query, and writes go through the log's functions.
 */
export type Reader = Omit<
  PrismaClient,
  "$transaction" | "$extends" | "$queryRaw" | "$queryRawUnsafe" | "$executeRaw" | "$executeRawUnsafe"
>;

/** The open database: single statements by `sql`, typed reads by `prisma`. */
export type Database = {
  readonly config: DatabaseConfig;
  readonly sql: Sql;
  readonly prisma: Reader;
  close(): Promise<void>;
};

/** The database could not be opened; the message says what to do. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}

/** Opens the database and brings its schema up to date. */
export async function openDatabase(config: DatabaseConfig): Promise<Database> {
  switch (config.kind) {
    case "embedded":
      return openEmbedded(config);
    case "postgres":
      return openPostgres(config);
  }
}

async function openEmbedded(config: DatabaseConfig & { kind: "embedded" }): Promise<Database> {
  const unlock = await lockFolder(config.folder);
  const folder = join(config.folder, "pglite");
  try {
    await mkdir(folder, { recursive: true });
    const client = await PGlite.create({ dataDir: folder }).catch((error: unknown) => {
      throw new DatabaseUnavailable(
        `the embedded database in ${folder} does not open (${messageOf(error)}): restore a backup of the folder, or move it away to start with an empty one`,
      );
    });
    await migrate(
      {
        script: async (text) => void (await client.exec(text)),
        query: async <Row>(text: string, values: readonly unknown[] = []) => (await client.query<Row>(text, [...values])).rows,
      },
      await readMigrations(),
    );
    const prisma = new PrismaClient({ adapter: new PrismaPGlite(client) });
    return {
      config,
      sql: watched(
        async <Row>({ text }: Statement, values: readonly unknown[]) => (await client.query<Row>(text, [...values])).rows,
        new OutageWatch(() => client.query("SELECT 1")),
      ),
      prisma,
      close: async () => {
        await prisma.$disconnect();
        await client.close();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function openPostgres(config: DatabaseConfig & { kind: "postgres" }): Promise<Database> {
  await migratePostgres(config.url);
  const { pool, sql } = openPool(config);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  return {
    config,
    sql,
    prisma,
    close: async () => {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

async function migratePostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
  } catch (error) {
    throw new DatabaseUnavailable(
      `the PostgreSQL of DATABASE_URL does not answer (${messageOf(error)}): check that it runs and that host, port, user, password and database name are right`,
    );
  }
  try {
    await migrate(
      {
        script: async (text) => void (await client.query(text)),
        query: async <Row>(text: string, values: readonly unknown[] = []) =>
          (await client.query(text, [...values])).rows as Row[],
      },
      await readMigrations(),
    );
  } finally {
    await client.end();
  }
}
