import { expect, it } from "vitest";
import { startServerProcess } from "../../bench/server-process.ts";
import { testDatabaseUrl } from "../support/database.ts";

it("two servers of a bench are measured beside each other, each in a folder of its own", async () => {
  const url = await testDatabaseUrl();
  const servers = [await startServerProcess("triplane-server.ts", url), await startServerProcess("triplane-server.ts", url)];
  expect(new Set(servers.map(({ port }) => port)).size).toBe(2);
  for (const server of servers) {
    expect(await server.cpuMs()).toBeGreaterThan(0);
    await server.stop();
  }
});
