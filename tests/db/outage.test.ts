import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/db/database.ts";
import { OutageWatch } from "../../src/db/sql.ts";
import { StorageUnavailable } from "../../src/db/storage-error.ts";
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

describe("a database that answers after a connection was lost is checked until a check is made", () => {
  it("if the check itself meets a connection that is lost", async () => {
    const watch = new OutageWatch(async () => {});
    let checks = 0;
    watch.onReconnect(async () => {
      checks += 1;
      if (checks < 3) throw new StorageUnavailable("it led to the database of before");
    });
    watch.suspect();
    await watch.over();
    expect(checks).toBe(3);
    expect(watch.isSuspected).toBe(false);
    expect(watch.current).toBe(null);
  });

  it("if another connection is lost meanwhile", async () => {
    const watch = new OutageWatch(async () => {});
    let checks = 0;
    watch.onReconnect(async () => {
      checks += 1;
      if (checks === 1) watch.suspect();
    });
    watch.suspect();
    await watch.over();
    expect(checks).toBe(2);
  });

  it("and at the end of an outage, before anybody else goes on", async () => {
    let isAway = true;
    const watch = new OutageWatch(async () => {
      if (isAway) throw new Error("Connection terminated");
    });
    const order: string[] = [];
    watch.onReconnect(async () => {
      order.push("check");
      if (order.length === 1) throw new StorageUnavailable("it led to the database of before");
    });
    watch.first(async () => void order.push("first"));
    watch.onChange(() => void (isAway = false));
    watch.suspect();
    await watch.over();
    expect(order).toEqual(["check", "check", "first"]);
  });

  it("and at the end of an outage, if a connection is lost while others do what comes first", async () => {
    let isAway = true;
    const watch = new OutageWatch(async () => {
      if (isAway) throw new Error("Connection terminated");
    });
    let checks = 0;
    watch.onReconnect(async () => void (checks += 1));
    watch.first(async () => (checks === 1 ? watch.suspect() : undefined));
    watch.onChange(() => void (isAway = false));
    watch.suspect();
    await watch.over();
    expect(checks).toBe(2);
  });

  it("once, if it fails for a reason of its own", async () => {
    const watch = new OutageWatch(async () => {});
    let checks = 0;
    watch.onReconnect(async () => {
      checks += 1;
      throw new Error("a fault of ours");
    });
    watch.suspect();
    await watch.over();
    expect(checks).toBe(1);
  });
});
