import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../lib/text.ts";
import { olderServers, type ConnectedServer, type MigrationConnection } from "./connected-servers.ts";
import { ownSqlState } from "./storage-error.ts";

/** One migration as committed: a folder of prisma/migrations with its SQL. */
export type Migration = { readonly name: string; readonly sql: string };

/** The database and the migrations of this version do not fit. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/**
 * The first lines of a migration: they say if servers of the version before may run while it is applied and
 * afterwards, and if it only makes things faster, so that servers serve before it is applied.
 */
export type MigrationKind = { readonly mayRunBeside: boolean; readonly onlyMakesFaster: boolean };

/** The times between a migration's tries for a lock that others hold, and between its reports that it waits, in ms. */
export type MigrationTimes = { readonly lockMs: number; readonly pauseMs: number; readonly tellMs: number };

/** The times of production. A lock is waited for so shortly, since everybody else waits behind who waits for it. */
export const MIGRATION_TIMES: MigrationTimes = { lockMs: 1_000, pauseMs: 1_000, tellMs: 15_000 };

/** The times of a migration, and the listener that is told what the migration waits for. */
export type MigrationRun = {
  readonly times: MigrationTimes;
  readonly tell: (message: string) => void;
  /** Hears of the migrations that were applied, if there were any. */
  readonly migrated: (names: readonly string[], durationMs: number) => void;
  readonly signal: AbortSignal;
};

const FOLDER = new URL("../../prisma/migrations/", import.meta.url);
const MAY_RUN = "-- Servers of the version before may run beside it.";
const MUST_STOP = "-- Servers of the version before must be stopped.";
const FASTER = "-- It only makes things faster.";
/** The advisory locks of those who migrate: before they serve, and while they do. */
const LOCKS = { first: 72_707_369, faster: 72_707_370 };

/** The committed migrations, oldest first. */
export async function readMigrations(): Promise<Migration[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => ({ name, sql: await readFile(new URL(join(name, "migration.sql"), FOLDER), "utf8") })),
  );
}

/** The first lines of a migration, read. Throws if they say nothing of older servers. */
export function kindOf({ name, sql }: Migration): MigrationKind {
  const [first, second] = sql.split("\n", 2);
  if (first !== MAY_RUN && first !== MUST_STOP)
    throw new MigrationError(`the first line of migration ${name} must be "${MAY_RUN}" or "${MUST_STOP}"`);
  return { mayRunBeside: first === MAY_RUN, onlyMakesFaster: second === FASTER };
}

/** The version of a schema: the number in the name of its newest migration, a time but for the first. Servers say it with each connection. */
export function schemaVersion(migrations: readonly Migration[]): string {
  return versionOf(migrations.at(-1)?.name ?? "0");
}

function versionOf(name: string): string {
  return name.split("_", 1)[0] ?? name;
}

/**
 * Applies what is missing of the migrations that must be there before anybody serves, and records it in Prisma's own
 * table, so that `prisma migrate deploy` works on the same database. One process at a time (advisory lock). A database
 * with a migration that this version does not know, or with another text of one it knows, is refused and left untouched; so
 * is a migration beside which servers of the version before must not run, while one is connected.
 */
export async function migrate(
  connection: MigrationConnection,
  migrations: readonly Migration[],
  run: MigrationRun,
): Promise<void> {
  const first = migrations.filter((migration) => !onlyMakesFaster(migration));
  await applyMissing(connection, migrations, first, LOCKS.first, run);
}

/** Applies what is missing of the migrations that only make things faster: one server at a time, while all serve. */
export async function migrateFaster(
  connection: MigrationConnection,
  migrations: readonly Migration[],
  run: MigrationRun,
): Promise<void> {
  await applyMissing(connection, migrations, migrations.filter(onlyMakesFaster), LOCKS.faster, run);
}

/** True if no migration is missing that only makes things faster. */
export async function isMigratedFaster(connection: MigrationConnection, migrations: readonly Migration[]): Promise<boolean> {
  return (await missingOf(connection, migrations, migrations.filter(onlyMakesFaster))).length === 0;
}

function onlyMakesFaster(migration: Migration): boolean {
  return kindOf(migration).onlyMakesFaster;
}

async function applyMissing(
  connection: MigrationConnection,
  known: readonly Migration[],
  wanted: readonly Migration[],
  lock: number,
  run: MigrationRun,
): Promise<void> {
  if ((await missingOf(connection, known, wanted)).length === 0) return;
  await connection.query(UNBOUNDED);
  await refuseOtherSchema(connection);
  await locked(connection, lock, run, async () => {
    const started = performance.now();
    const missing = await missingOf(connection, known, wanted);
    for (const migration of missing) await apply(connection, migration, run);
    if (missing.length > 0)
      run.migrated(
        missing.map(({ name }) => name),
        performance.now() - started,
      );
  });
}

/** Holds the advisory lock meanwhile. It is asked for again and again: who waits in a statement holds up a concurrent index. */
async function locked(
  connection: MigrationConnection,
  lock: number,
  run: MigrationRun,
  work: () => Promise<void>,
): Promise<void> {
  const { times, signal } = run;
  const tell = rarely(run);
  for (;;) {
    const [row] = await connection.query<{ taken: boolean }>("SELECT pg_try_advisory_lock($1) AS taken", [lock]);
    if (row?.taken === true) break;
    tell("another server migrates the database: waiting for it");
    await delay(times.pauseMs, undefined, { signal });
  }
  try {
    await work();
  } finally {
    await connection.query("SELECT pg_advisory_unlock($1)", [lock]);
  }
}

/** The schema in which the tables lie, and that in which PostgreSQL would make new ones. No row if there are no tables yet. */
export const TABLES_PLACE = `SELECT n.nspname AS schema, current_schema() AS current FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid = to_regclass('_prisma_migrations')`;

/** A schema that comes first in the search path, and came later than the tables, would get what is new. */
async function refuseOtherSchema(connection: MigrationConnection): Promise<void> {
  const [place] = await connection.query<{ schema: string; current: string | null }>(TABLES_PLACE);
  if (place === undefined || place.schema === place.current) return;
  throw new MigrationError(
    `the tables lie in the schema ${place.schema}, and PostgreSQL would make new ones in ${place.current}: set the role's search_path so that ${place.schema} comes first`,
  );
}

/** Some migrations take long: bounds of the database or the role do not hold for them. `applyAtOnce` bounds how long they wait for locks. */
const UNBOUNDED = `SELECT set_config(name, '0', false) FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_session_timeout')`;

const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" varchar(36) PRIMARY KEY NOT NULL, "checksum" varchar(64) NOT NULL, "finished_at" timestamptz,
  "migration_name" varchar(255) NOT NULL, "logs" text, "rolled_back_at" timestamptz,
  "started_at" timestamptz NOT NULL DEFAULT now(), "applied_steps_count" integer NOT NULL DEFAULT 0)`;

async function missingOf(
  connection: MigrationConnection,
  known: readonly Migration[],
  wanted: readonly Migration[],
): Promise<readonly Migration[]> {
  const [table] = await connection.query<{ exists: boolean }>(`SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`);
  if (table?.exists !== true) return wanted;
  const rows = await connection.query<{ migration_name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name, checksum, finished_at IS NOT NULL AS finished FROM "_prisma_migrations" WHERE rolled_back_at IS NULL`,
  );
  const applied = new Map(rows.map((row) => [row.migration_name, row]));
  refuseUnknown(applied, known);
  return wanted.filter((migration) => {
    const row = applied.get(migration.name);
    if (row === undefined) return true;
    if (!row.finished)
      throw new MigrationError(`migration ${migration.name} was begun and not finished: repair the database or restore a backup`);
    if (row.checksum !== checksum(migration))
      throw new MigrationError(
        `migration ${migration.name} was applied with another text: this server and the database do not belong together`,
      );
    return false;
  });
}

/** A newer version has all migrations of this one. A database that lacks the first comes from before the first release, or from elsewhere. */
function refuseUnknown(applied: ReadonlyMap<string, unknown>, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = [...applied.keys()].filter((name) => !known.has(name)).sort();
  if (unknown.length === 0) return;
  const [first] = migrations;
  throw new MigrationError(
    first !== undefined && applied.has(first.name)
      ? `the database has migrations that this version does not know (${unknown.join(", ")}): start a newer version of the server`
      : `the database was made by an unreleased version of the server, or by another program (its first migration is ${unknown[0]}), and is left untouched: set DATABASE_URL to another database, or TRIPLANE_DATA_DIR to another folder if it is the embedded one`,
  );
}

async function refuseOlderServers(connection: MigrationConnection, migration: Migration): Promise<void> {
  if (kindOf(migration).mayRunBeside) return;
  const older = await olderServers(connection, versionOf(migration.name));
  if (older.length === 0) return;
  throw new MigrationError(
    `migration ${migration.name} cannot be applied while servers of the version before are connected (${older.map(shown).join("; ")}): stop them, then start this one`,
  );
}

function shown({ name, address, pid }: ConnectedServer): string {
  return `${name} from ${address}, process ${pid} of PostgreSQL`;
}

/** Applies a migration. A lock that others hold is asked for again, so that nobody waits behind it for long. */
async function apply(connection: MigrationConnection, migration: Migration, run: MigrationRun): Promise<void> {
  const { times, signal } = run;
  const tell = rarely(run);
  for (;;) {
    // One may have come while a lock was waited for.
    await refuseOlderServers(connection, migration);
    try {
      await connection.script(TABLE);
      await (isConcurrent(migration) ? applyConcurrently(connection, migration) : applyAtOnce(connection, migration, times));
      return;
    } catch (error) {
      if (ownSqlState(error) !== LOCK_NOT_AVAILABLE)
        throw new MigrationError(`migration ${migration.name} could not be applied: ${messageOf(error)}`, { cause: error });
      tell(`migration ${migration.name} waits for a lock that others hold (a dump, or an open transaction)`);
      await delay(times.pauseMs, undefined, { signal });
    }
  }
}

const LOCK_NOT_AVAILABLE = "55P03";

async function applyAtOnce(connection: MigrationConnection, migration: Migration, { lockMs }: MigrationTimes): Promise<void> {
  try {
    await connection.script(`BEGIN;\nSET LOCAL lock_timeout = ${lockMs};\n${migration.sql}\n;${record(migration)};\nCOMMIT;`);
  } catch (error) {
    await connection.script("ROLLBACK");
    throw error;
  }
}

const CONCURRENT_INDEX = /^(CREATE|CREATE UNIQUE|DROP) INDEX CONCURRENTLY (?:IF EXISTS )?"?(\w+)"?/m;

function isConcurrent({ sql }: Migration): boolean {
  return CONCURRENT_INDEX.test(sql);
}

/**
 * One index, built or dropped beside everything else, outside of a transaction. One that was begun before and is not valid is
 * built again; one that was dropped before, by a server that ended before it could note that, is gone.
 */
async function applyConcurrently(connection: MigrationConnection, migration: Migration): Promise<void> {
  const [, verb, index = ""] = CONCURRENT_INDEX.exec(migration.sql) ?? [];
  const [found] = await connection.query<{ valid: boolean }>(
    "SELECT i.indisvalid AS valid FROM pg_index i WHERE i.indexrelid = to_regclass($1)",
    [`"${index}"`],
  );
  const isDone = verb === "DROP" ? found === undefined : found?.valid === true;
  if (verb !== "DROP" && found?.valid === false) await connection.script(`DROP INDEX CONCURRENTLY "${index}"`);
  if (!isDone) await connection.script(migration.sql);
  await connection.script(record(migration));
}

function record(migration: Migration): string {
  return `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
    VALUES ('${randomUUID()}', '${checksum(migration)}', '${migration.name}', now(), now(), 1)`;
}

function checksum(migration: Migration): string {
  return createHash("sha256").update(migration.sql).digest("hex");
}

/** Tells no more often than the run says, and not at once. */
function rarely({ tell, times }: MigrationRun): (message: string) => void {
  let told = performance.now();
  return (message) => {
    if (performance.now() - told < times.tellMs) return;
    told = performance.now();
    tell(message);
  };
}
