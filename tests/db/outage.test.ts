import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
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

  it("if it is suspected afterwards, nor probed", async () => {
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
});
