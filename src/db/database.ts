import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaPGlite } from "pglite-prisma-adapter";
import { messageOf } from "../lib/text.ts";
import { copyOpenFolder } from "./copies/folder-copy.ts";
import { ServedCopies } from "./copies/served-copies.ts";
import { PrismaClient } from "./generated/client.ts";
import { copyInitialised, initialisedFolder, openEmbeddedDatabase } from "./initialised.ts";
import { lockFolder } from "./lock-file.ts";
import { isUnknownValue, onlyKnown } from "./known-values.ts";
import { connectionName, type MigrationConnection } from "./connected-servers.ts";
import {
  isMigratedFaster,
  migrate,
  migrateFaster,
  MIGRATION_TIMES,
  readMigrations,
  schemaVersion,
  TABLES_PLACE,
  type Migration,
  type MigrationRun,
} from "./migrate.ts";
import { OutageWatch, watched, type Sql, type Statement } from "./sql.ts";
import { NO_OBSERVER, observed, observedQueries, type DatabaseObserver, type StatementPool } from "./observer.ts";
import { openPools, READ_STATEMENT_MS, type PoolLoad, type Pools } from "./connections/pool.ts";
import { checkPostgres } from "./postgres-server.ts";
import { isEndOfOthers } from "./connections/reader-limits.ts";
import { DatabaseUnavailable } from "./storage-error.ts";

/** The place of the data: in a folder of this machine (one process), or in a PostgreSQL (many). */
export type DatabaseConfig =
  | { readonly kind: "embedded"; readonly folder: string }
  | { readonly kind: "postgres"; readonly url: string; readonly connections: number };

/**
 * Typed reads for GraphQL. Transactions and raw statements are taken away: on the embedded database an interactive
 * transaction blocks every other query, and writes go through the log's functions.
 */
export type PrismaReads = Omit<
  PrismaClient,
  "$transaction" | "$extends" | "$queryRaw" | "$queryRawUnsafe" | "$executeRaw" | "$executeRawUnsafe"
>;

/** The open database: single statements, by what they are for, and typed reads by `prisma`. */
export type Database = {
  readonly config: DatabaseConfig;
  /** Commits and appends of the log, and nothing else. */
  readonly commits: Sql;
  /** What owners and commands read, what the server looks for, and what is written besides the log. */
  readonly sql: Sql;
  /** Claims and renewals of leases. */
  readonly leases: Sql;
  /** The connections for what people and followers read. */
  readonly reads: Sql;
  /** The connections that are open now, those of them that are idle, and the statements that wait for one; none of an embedded database. */
  readonly connections: () => readonly PoolLoad[];
  readonly prisma: PrismaReads;
  /** The number of reads that left rows out since a newer version wrote values that this one does not know. */
  readonly unknownRows: () => number;
  /** The version of the schema that this server knows: its connections say it. */
  readonly version: string;
  /** Applies what only makes things faster, while the server serves. Never rejects; ends when the database closes. */
  makeFaster(): Promise<void>;
  /** The copies of an embedded database for analysts; null on PostgreSQL. */
  readonly copies: ServedCopies | null;
  close(): Promise<void>;
};

/** Opens the database and brings its schema up to date, by the committed migrations if no others are given. */
export async function openDatabase(
  config: DatabaseConfig,
  observer: DatabaseObserver = NO_OBSERVER,
  given?: readonly Migration[],
): Promise<Database> {
  const migrations = given ?? (await readMigrations());
  switch (config.kind) {
    case "embedded":
      return openEmbedded(config, observer, migrations);
    case "postgres":
      return openPostgres(config, observer, migrations);
  }
}

async function openEmbedded(
  config: DatabaseConfig & { kind: "embedded" },
  observer: DatabaseObserver,
  migrations: readonly Migration[],
): Promise<Database> {
  const { tell, migrated } = observer;
  const unlock = await lockFolder(config.folder);
  const folder = join(config.folder, "pglite");
  try {
    await copyInitialised(await initialisedFolder(), folder, tell);
    await mkdir(folder, { recursive: true });
    const client = await openEmbeddedDatabase(folder).catch((error: unknown) => {
      throw new DatabaseUnavailable(
        `the embedded database in ${folder} does not open (${messageOf(error)}): restore a backup of the folder, or move it away to start with an empty one`,
      );
    });
    const connection: MigrationConnection = {
      script: async (text) => void (await client.exec(text)),
      query: async <Row>(text: string, values: readonly unknown[] = []) => (await client.query<Row>(text, [...values])).rows,
    };
    const run = { times: MIGRATION_TIMES, tell, migrated, signal: new AbortController().signal };
    try {
      await migrate(connection, migrations, run);
      await migrateFaster(connection, migrations, run);
    } catch (error) {
      await client.close();
      throw error;
    }
    const { prisma, unknownRows } = reader(new PrismaPGlite(client), observer);
    const outages = new OutageWatch(() => client.query("SELECT 1"));
    const copies = await ServedCopies.open(config.folder, (to) => copyOpenFolder(client, folder, to));
    const query = async <Row>({ text }: Statement, values: readonly unknown[]): Promise<Row[]> =>
      (await client.query<Row>(text, [...values])).rows;
    const sqlOf = (pool: StatementPool): Sql =>
      watched(observedQueries(query, observer, pool), { outages, keepsPrepared: false });
    return {
      config,
      commits: sqlOf("commits"),
      sql: sqlOf("work"),
      leases: sqlOf("leases"),
      reads: sqlOf("reads"),
      connections: () => [],
      prisma,
      unknownRows,
      version: schemaVersion(migrations),
      makeFaster: async () => {},
      copies,
      close: async () => {
        outages.end();
        copies.close();
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

/** The times that Prisma waits for a connection for several rows by their ids, and for the rows, in ms. */
const READ_TRANSACTION = { maxWait: READ_STATEMENT_MS, timeout: READ_STATEMENT_MS };

/**
 * Prisma's client for reads. Rows with values that this version does not know are left out: a newer one that shares the
 * database may write them. They are looked for from the first read on that met one, since that is not for nothing.
 */
function reader(
  adapter: PrismaPg | PrismaPGlite,
  observer: DatabaseObserver,
): {
  readonly prisma: PrismaClient;
  readonly unknownRows: () => number;
} {
  let reads = 0;
  const client = new PrismaClient({ adapter, transactionOptions: READ_TRANSACTION }).$extends({
    query: {
      $allModels: {
        $allOperations: ({ model, operation, args, query }) =>
          observed(observer, "reads", `${model}.${operation}`, async () => {
            if (reads === 0) {
              try {
                return await unlessOfOthers(() => query(args));
              } catch (error) {
                if (!isUnknownValue(error)) throw error;
              }
            }
            reads += 1;
            return unlessOfOthers(() => query(onlyKnown(model, args)));
          }),
      },
    },
  });
  // The extension changes no type: what it reads has the same form.
  return { prisma: client as unknown as PrismaClient, unknownRows: () => reads };
}

/** Reads, and reads again each time that the read ended for another reader with whose read Prisma had made it together. */
async function unlessOfOthers<Rows>(read: () => Promise<Rows>): Promise<Rows> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!isEndOfOthers(error)) throw error;
    }
  }
}

async function openPostgres(
  config: DatabaseConfig & { kind: "postgres" },
  observer: DatabaseObserver,
  migrations: readonly Migration[],
): Promise<Database> {
  const { tell, migrated } = observer;
  const version = schemaVersion(migrations);
  const closing = new AbortController();
  const run: MigrationRun = { times: MIGRATION_TIMES, tell, migrated, signal: closing.signal };
  const pools = openPools({ ...config, version }, observer);
  const { commits, work, leases, reads, readPool, end } = pools;
  let opened: { readonly isFast: boolean; readonly schema: string };
  try {
    opened = await withConnection(config.url, version, closing.signal, async (connection) => {
      await checkPostgres(connection, tell);
      await checkSettings(pools);
      await migrate(connection, migrations, run);
      // From now on a migration that this version must not run beside finds it connected.
      const schema = await schemaOf(work);
      // What is wrong with those is told when they are applied.
      const isFast = await isMigratedFaster(connection, migrations).catch(() => false);
      return { isFast, schema };
    });
  } catch (error) {
    await end();
    throw error;
  }
  const { prisma, unknownRows } = reader(new PrismaPg(readPool, { schema: opened.schema }), observer);
  let faster = Promise.resolve();
  return {
    config,
    commits,
    sql: work,
    leases,
    reads,
    connections: pools.connections,
    prisma,
    unknownRows,
    version,
    makeFaster: () => {
      if (opened.isFast) return faster;
      faster = withConnection(config.url, version, closing.signal, (connection) =>
        migrateFaster(connection, migrations, run),
      ).catch((error: unknown) => {
        if (!closing.signal.aborted) tell(`what only makes things faster could not be done (${messageOf(error)})`);
      });
      return faster;
    },
    copies: null,
    close: async () => {
      closing.abort();
      await faster;
      await prisma.$disconnect();
      await end();
    },
  };
}

/** The schema in which the tables lie: Prisma writes its name before each table, and all other statements leave it out. */
async function schemaOf(sql: Sql): Promise<string> {
  const [place] = await sql.query<{ schema: string }, []>({ name: "connected", text: TABLES_PLACE }, []);
  if (place !== undefined) return place.schema;
  throw new DatabaseUnavailable(
    "the server's connections do not find the tables that were just migrated: remove PGOPTIONS from the environment, and set the search_path of the role in its place",
  );
}

/** Throws if connections do not have the settings that promises rest on: bounds of readers, locks that are not waited for long. */
async function checkSettings({ lostSettings }: Pools): Promise<void> {
  const lost = await lostSettings().catch((error: unknown) => {
    throw new DatabaseUnavailable(
      `no connection to the PostgreSQL of DATABASE_URL can be opened with the settings that Triplane needs (${messageOf(error)}): ${SETTINGS_ADVICE}`,
      { cause: error },
    );
  });
  if (lost.length === 0) return;
  throw new DatabaseUnavailable(
    `connections to the PostgreSQL of DATABASE_URL do not have the settings that Triplane needs (${lost.join(", ")}): ${SETTINGS_ADVICE}`,
  );
}

const SETTINGS_ADVICE =
  "if DATABASE_URL has `options` or settings such as `statement_timeout`, remove them; if it leads to a pooler such as PgBouncer, give PostgreSQL's own host and port";

/** A connection that is not open yet. The driver reads the URL then, with the files that it names. */
function clientOf(url: string, version: string): pg.Client {
  try {
    return new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      application_name: connectionName(version, "migration"),
    });
  } catch (error) {
    throw new DatabaseUnavailable(
      `DATABASE_URL cannot be read (${messageOf(error)}): check the paths of its certificates, and write special characters of the user and the password as %XX`,
    );
  }
}

/** Does `work` with a connection of its own, which breaks off when `signal` aborts. */
async function withConnection<Result>(
  url: string,
  version: string,
  signal: AbortSignal,
  work: (connection: MigrationConnection) => Promise<Result>,
): Promise<Result> {
  const client = clientOf(url, version);
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new DatabaseUnavailable(
      `the PostgreSQL of DATABASE_URL does not answer (${messageOf(error)}): check that it runs and that host, port, user, password and database name are right`,
    );
  }
  const breakOff = (): void => void client.end();
  signal.addEventListener("abort", breakOff, { once: true });
  try {
    return await work({
      script: async (text) => void (await client.query(text)),
      query: async <Row>(text: string, values: readonly unknown[] = []) => (await client.query(text, [...values])).rows as Row[],
    });
  } finally {
    signal.removeEventListener("abort", breakOff);
    await client.end();
  }
}
