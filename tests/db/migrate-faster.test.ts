import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { kindOf, readMigrations } from "../../src/db/migrate.ts";
import { NO_OBSERVER } from "../../src/db/observer.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";
import { proxiedDatabase } from "../support/proxied-database.ts";

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

  it("keep no server from starting if one is half done: it says so while it serves", async () => {
    const url = await testDatabaseUrl();
    const { name } = (await readMigrations()).findLast((migration) => kindOf(migration).onlyMakesFaster) ?? {};
    const admin = await administrator(url);
    await admin.query("UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1", [name]);
    const told: string[] = [];
    const observer = { ...NO_OBSERVER, tell: (problem: string) => void told.push(problem) };
    const { makeFaster, close } = await openDatabase({ kind: "postgres", url, connections: 1 }, observer);
    onTestFinished(close);
    told.length = 0;
    await makeFaster();
    expect(told).toEqual([expect.stringContaining("what only makes things faster could not be done")]);
  });
});
