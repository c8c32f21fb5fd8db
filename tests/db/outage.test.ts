import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { kindOf, readMigrations } from "../../src/db/migrate.ts";
import { cuttingProxy } from "../support/cutting-proxy.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { embeddedFolder } from "../support/embedded.ts";

const NOBODY = 1;

describe("a database that is closed is not asked any more whether it is back", () => {
  it("if it is away meanwhile", async () => {
    const url = new URL(await testDatabaseUrl());
    const proxy = await cuttingProxy(Number(url.port));
    url.port = String(proxy.port);
    const { sql, close } = await openDatabase({ kind: "postgres", url: url.href, connections: 1 });
    proxy.leadTo(NOBODY);
    proxy.cutNow();
    await expect.poll(() => sql.outages.isUnavailable).toBe(true);
    await close();
    await expect(sql.outages.over()).rejects.toThrow("did not come back");
  });

  it("nor by a probe, if it is suspected afterwards", async () => {
    const url = new URL(await testDatabaseUrl());
    const proxy = await cuttingProxy(Number(url.port));
    url.port = String(proxy.port);
    const { sql, close } = await openDatabase({ kind: "postgres", url: url.href, connections: 1 });
    await close();
    const { connections } = proxy;
    sql.outages.suspect();
    expect(sql.outages.isSuspected).toBe(false);
    await expect(sql.outages.over()).rejects.toThrow("did not come back");
    expect(proxy.connections).toBe(connections);
  });

  it("if it is suspected afterwards, on the embedded database", async () => {
    const { sql, close } = await openDatabase({ kind: "embedded", folder: await embeddedFolder() });
    await close();
    sql.outages.suspect();
    await expect(sql.outages.over()).rejects.toThrow("did not come back");
  });
});

describe("a database to which every migration was applied", () => {
  it("is made no faster, and no connection is opened for that", async () => {
    const url = new URL(await testDatabaseUrl());
    const proxy = await cuttingProxy(Number(url.port));
    url.port = String(proxy.port);
    const { makeFaster, close } = await openDatabase({ kind: "postgres", url: url.href, connections: 1 });
    onTestFinished(close);
    const { connections } = proxy;
    await makeFaster((problem) => expect.fail(problem));
    expect(proxy.connections).toBe(connections);
  });

  it("opens though one of those that only make it faster is half done, and says so later", async () => {
    const url = await testDatabaseUrl();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const text = "UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = $1";
    expect(
      (await client.query(text, [(await readMigrations()).findLast((one) => kindOf(one).onlyMakesFaster)?.name])).rowCount,
    ).toBe(1);
    await client.end();
    const { makeFaster, close } = await openDatabase({ kind: "postgres", url, connections: 1 });
    onTestFinished(close);
    const told: string[] = [];
    await makeFaster((problem) => told.push(problem));
    expect(told).toEqual([expect.stringContaining("what only makes things faster could not be done")]);
  });
});
