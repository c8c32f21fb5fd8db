import { expect, it, onTestFinished, vi } from "vitest";
import { openPools } from "../../src/db/pool.ts";
import { testDatabaseUrl } from "../support/database.ts";

it("keeps a connection that is idle, with the statements that it has planned", async () => {
  const url = await testDatabaseUrl();
  const pools = openPools({ url, connections: 1, version: "1" });
  onTestFinished(() => pools.end());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const planned = (): Promise<unknown[]> =>
    pools.commits.query({ name: "planned", text: "SELECT pg_backend_pid(), name FROM pg_prepared_statements" }, []);
  await planned();
  const before = await planned();
  expect(before).toMatchObject([{ name: "planned" }]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(await planned()).toEqual(before);
});
