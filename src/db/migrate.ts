import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../lib/text.ts";

/** One migration as committed: a folder of prisma/migrations with its SQL. */
export type Migration = { readonly name: string; readonly sql: string };

/** A connection that can run scripts of several statements. */
export type MigrationConnection = {
  script(sql: string): Promise<void>;
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
};

/** The database and the migrations of this version do not fit. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

const FOLDER = new URL("../../prisma/migrations/", import.meta.url);

/** The committed migrations, oldest first. */
export async function readMigrations(): Promise<Migration[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => ({ name, sql: await readFile(new URL(join(name, "migration.sql"), FOLDER), "utf8") })),
  );
}

/**
 * Applies what is missing and records it in Prisma's own table, so that `prisma migrate deploy` works on the same
 * database. One process at a time (advisory lock); each migration is a transaction. A database with a migration that
 * this version does not know, or with another text of one it knows, is refused.
 */
export async function migrate(connection: MigrationConnection, migrations: readonly Migration[]): Promise<void> {
  await connection.query("SELECT pg_advisory_lock(72707369)");
  try {
    await connection.script(`CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
      "id" varchar(36) PRIMARY KEY NOT NULL, "checksum" varchar(64) NOT NULL, "finished_at" timestamptz,
      "migration_name" varchar(255) NOT NULL, "logs" text, "rolled_back_at" timestamptz,
      "started_at" timestamptz NOT NULL DEFAULT now(), "applied_steps_count" integer NOT NULL DEFAULT 0)`);
    const rows = await connection.query<{ migration_name: string; checksum: string; finished: boolean }>(
      `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished FROM "_prisma_migrations" WHERE rolled_back_at IS NULL`,
    );
    const applied = new Map(rows.map((row) => [row.migration_name, row]));
    refuseUnknown(applied, migrations);
    for (const migration of migrations) {
      const row = applied.get(migration.name);
      if (row === undefined) await apply(connection, migration);
      else if (!row.finished)
        throw new MigrationError(
          `migration ${migration.name} was begun and not finished: repair the database or restore a backup`,
        );
      else if (row.checksum !== checksum(migration))
        throw new MigrationError(
          `migration ${migration.name} was applied with another text: this server and the database do not belong together`,
        );
    }
  } finally {
    await connection.query("SELECT pg_advisory_unlock(72707369)");
  }
}

function refuseUnknown(applied: ReadonlyMap<string, unknown>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = [...applied.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw new MigrationError(
      `the database has migrations that this version does not know (${unknown.join(", ")}): start a newer version of the server`,
    );
}

async function apply(connection: MigrationConnection, migration: Migration): Promise<void> {
  try {
    await connection.script(script(migration));
  } catch (error) {
    await connection.script("ROLLBACK");
    throw new MigrationError(`migration ${migration.name} could not be applied: ${messageOf(error)}`, { cause: error });
  }
}

function script(migration: Migration): string {
  return `BEGIN;\n${migration.sql}\n;INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
    VALUES ('${randomUUID()}', '${checksum(migration)}', '${migration.name}', now(), now(), 1);\nCOMMIT;`;
}

function checksum(migration: Migration): string {
  return createHash("sha256").update(migration.sql).digest("hex");
}
