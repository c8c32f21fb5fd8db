import { expect, it, onTestFinished } from "vitest";
import { openPools, type Pools } from "../../src/db/connections/pool.ts";
import { withReader } from "../../src/db/connections/reader-limits.ts";
import { proxiedDatabase } from "../support/proxied-database.ts";

const ONE = { name: "one", text: "SELECT 1 AS one" };
const BY_PRISMA = { text: "SELECT 1 AS one" };

const ASKED: readonly (readonly [who: string, ask: (pools: Pools) => Promise<unknown>])[] = [
  ["a commit", ({ commits }) => commits.query(ONE, [])],
  ["a lease", ({ leases }) => leases.query(ONE, [])],
  ["a read", ({ reads }) => reads.query(ONE, [])],
  ["a read of somebody", ({ reads }) => withReader({ tenant: "one", signal: null }, () => reads.query(ONE, []))],
  ["a read by Prisma", ({ readPool }) => readPool.query(BY_PRISMA)],
  [
    "a read by Prisma for somebody",
    ({ readPool }) => withReader({ tenant: "one", signal: null }, () => readPool.query(BY_PRISMA)),
  ],
];

it.each(ASKED)("%s waits for a connection that died silently only so long, and the next one has another", async (_who, ask) => {
  const { proxied, proxy } = await proxiedDatabase();
  const pools = openPools({ url: proxied, connections: 1, version: "1" }, undefined, 200);
  onTestFinished(() => pools.end());
  await ask(pools);
  proxy.silence();
  await expect(ask(pools)).rejects.toThrow();
  const isAnswered = async (): Promise<boolean> =>
    ask(pools).then(
      () => true,
      () => false,
    );
  await expect.poll(isAnswered).toBe(true);
});
