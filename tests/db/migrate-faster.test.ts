import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { readMigrations, type Migration } from "../../src/db/migrate.ts";
import { NO_OBSERVER } from "../../src/db/observer.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";
import { proxiedDatabase } from "../support/proxied-database.ts";

/** The migration of a next version. */
const FASTER: Migration = {
  name: "99990101000000_faster",
  sql: `-- Servers of the version before may run beside it.
-- It only makes things faster.
CREATE INDEX CONCURRENTLY "agent_title" ON "agent" ("title");
`,
};

describe("migrations that only make a database faster", () => {
  it("cost no connection if none is missing", async () => {
    const { proxied: url, proxy } = await proxiedDatabase();
    const told: string[] = [];
    const observer = { ...NO_OBSERVER, tell: (problem: string) => void told.push(problem) };
    const { makeFaster, close } = await openDatabase({ kind: "postgres", url, connections: 1 }, observer);
    onTestFinished(close);
    const { connections } = proxy;
    told.length = 0;
    await makeFaster();
    expect(told).toEqual([]);
    expect(proxy.connections).toBe(connections);
  });

  it("are applied while the server serves, and noted", async () => {
    const url = await testDatabaseUrl();
    const migrations = [...(await readMigrations()), FASTER];
    const { makeFaster, close } = await openDatabase({ kind: "postgres", url, connections: 1 }, NO_OBSERVER, migrations);
    onTestFinished(close);
    const admin = await administrator(url);
    const applied =
      "SELECT to_regclass('agent_title')::text AS index, (SELECT count(*)::int FROM _prisma_migrations WHERE finished_at IS NOT NULL) AS migrations";
    expect((await admin.query(applied)).rows).toEqual([{ index: null, migrations: migrations.length - 1 }]);
    await makeFaster();
    expect((await admin.query(applied)).rows).toEqual([{ index: "agent_title", migrations: migrations.length }]);
  });

  it("keep no server from starting if one is half done: it says so while it serves", async () => {
    const url = await testDatabaseUrl();
    const migrations = [...(await readMigrations()), FASTER];
    const admin = await administrator(url);
    await admin.query("INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES (gen_random_uuid(), '', $1)", [
      FASTER.name,
    ]);
    const told: string[] = [];
    const observer = { ...NO_OBSERVER, tell: (problem: string) => void told.push(problem) };
    const { makeFaster, close } = await openDatabase({ kind: "postgres", url, connections: 1 }, observer, migrations);
    onTestFinished(close);
    told.length = 0;
    await makeFaster();
    expect(told).toEqual([expect.stringContaining("what only makes things faster could not be done")]);
  });
});
