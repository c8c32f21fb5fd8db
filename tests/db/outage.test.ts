import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { testDatabase } from "../support/database.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { proxiedDatabase } from "../support/proxied-database.ts";

const NOBODY = 1;

describe("a database that is closed is not asked any more whether it is back", () => {
  it("if it is away meanwhile", async () => {
    const { proxied: url, proxy } = await proxiedDatabase();
    const { sql, close } = await openDatabase({ kind: "postgres", url, connections: 1 });
    proxy.leadTo(NOBODY);
    proxy.cutNow();
    await expect.poll(() => sql.outages.isUnavailable).toBe(true);
    await close();
    await expect(sql.outages.over()).rejects.toThrow("did not come back");
  });

  it("nor by a probe, if it is suspected afterwards", async () => {
    const { proxied: url, proxy } = await proxiedDatabase();
    const { sql, close } = await openDatabase({ kind: "postgres", url, connections: 1 });
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

it("a watch that has given up still suspects a database whose connections are there: another one may answer by now", async () => {
  const { sql } = await testDatabase();
  sql.outages.giveUp();
  sql.outages.suspect();
  expect(sql.outages.isSuspected).toBe(true);
});
