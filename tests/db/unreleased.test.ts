import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { openDatabase, type DatabaseConfig } from "../../src/db/database.ts";
import { copyInitialised, initialisedFolder, openEmbeddedDatabase } from "../../src/db/initialised.ts";
import { MigrationError } from "../../src/db/migrate.ts";
import { temporaryFolder } from "../support/app.ts";
import { emptyDatabaseUrl } from "../support/database.ts";

const MADE = `
  CREATE TABLE "_prisma_migrations" (
    "id" varchar(36) PRIMARY KEY NOT NULL, "checksum" varchar(64) NOT NULL, "finished_at" timestamptz, "migration_name" varchar(255) NOT NULL,
    "logs" text, "rolled_back_at" timestamptz, "started_at" timestamptz NOT NULL DEFAULT now(), "applied_steps_count" integer NOT NULL DEFAULT 0);
  INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at)
    SELECT gen_random_uuid(), '', name, now() FROM unnest(ARRAY['20260102000000_second', '20260101000000_first']) AS m(name);
  CREATE TABLE "agent" ("id" text PRIMARY KEY, "title" text);
  INSERT INTO "agent" VALUES ('one', 'kept');
  CREATE FUNCTION append_events() RETURNS int LANGUAGE sql AS 'SELECT 1'`;

/** All that a database has: relations, functions, types, settings of tables, and rows. */
const CONTENT = `SELECT
  (SELECT json_agg((c.relname, c.relkind, c.reloptions) ORDER BY c.relname) FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace) AS relations,
  (SELECT json_agg(pg_get_functiondef(p.oid)) FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace) AS functions,
  (SELECT json_agg(t.typname ORDER BY t.typname) FROM pg_type t WHERE t.typnamespace = 'public'::regnamespace) AS types,
  (SELECT json_agg(m ORDER BY m.id) FROM "_prisma_migrations" m) AS migrations,
  (SELECT json_agg(a) FROM "agent" a) AS agents`;

type Made = {
  readonly config: DatabaseConfig;
  /** What the database has, and the names of the files beside it. */
  readonly content: () => Promise<unknown>;
};

/** A PostgreSQL that another version than the released ones has migrated. */
async function madePostgres(): Promise<Made> {
  const url = await emptyDatabaseUrl();
  const query = async (sql: string): Promise<readonly unknown[]> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql);
    await client.end();
    return rows;
  };
  await query(MADE);
  return { config: { kind: "postgres", url, connections: 1 }, content: () => query(CONTENT) };
}

/** The same as an embedded database, in a data folder that has files beside it. */
async function madeEmbedded(): Promise<Made> {
  const folder = await temporaryFolder();
  const place = join(folder, "pglite");
  await copyInitialised(await initialisedFolder(), place, expect.fail);
  await mkdir(join(folder, "homes"));
  const database = await openEmbeddedDatabase(place);
  await database.exec(MADE);
  await database.close();
  const content = async (): Promise<unknown> => {
    const opened = await openEmbeddedDatabase(place);
    const { rows } = await opened.query(CONTENT);
    await opened.close();
    const files = (await readdir(folder)).filter((name) => !name.startsWith("triplane."));
    return { rows, files };
  };
  return { config: { kind: "embedded", folder }, content };
}

describe.each([
  ["PostgreSQL", madePostgres],
  ["an embedded database", madeEmbedded],
])("%s that an unreleased version has migrated", (_name, make) => {
  it("is refused at the start, in one sentence that says what to do, and left untouched", async () => {
    const { config, content } = await make();
    const before = await content();
    for (let start = 0; start < 2; start += 1) {
      const error: unknown = await openDatabase(config).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(MigrationError);
      expect(error).toHaveProperty(
        "message",
        "the database was made by an unreleased version of the server, or by another program (its first migration is 20260101000000_first), and is left untouched: set DATABASE_URL to another database, or TRIPLANE_DATA_DIR to another folder if it is the embedded one",
      );
    }
    expect(await content()).toEqual(before);
  });
});
