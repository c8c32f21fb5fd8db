import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { ExpensiveReads } from "../../src/resolvers/expensive-reads.ts";
import { startTestApp } from "../support/app.ts";
import { testDatabaseUrl } from "../support/database.ts";

const STATISTICS = "{ toolCallStats { tools { name calls } } }";

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe("readers (A4, invariant 13)", () => {
  it("who leaves ends the statement that they asked for, and others are not kept waiting", async () => {
    const url = await testDatabaseUrl();
    const app = await startTestApp({ database: { kind: "postgres", url, connections: 3 } });
    const [other, looking] = [await connected(url), await connected(url)];
    await other.query("BEGIN");
    await other.query("LOCK TABLE tool_call IN ACCESS EXCLUSIVE MODE");
    const waiting = async (): Promise<number> => {
      const { rows } = await looking.query(
        "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%reads' AND wait_event_type = 'Lock'",
      );
      return rows[0].count;
    };
    const leaving = new AbortController();
    const asked = fetch(app.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: STATISTICS }),
      signal: leaving.signal,
    }).catch(() => "left");
    await expect.poll(waiting).toBe(2);
    leaving.abort();
    expect(await asked).toBe("left");
    // The lock is waited for two seconds: less means that the statements were cancelled.
    await expect.poll(waiting, { timeout: 1_500 }).toBe(0);
    expect((await fetch(app.url.replace("/graphql", "/readyz"))).status).toBe(200);
    await other.query("COMMIT");
  });

  it("a few expensive reads of a tenant are under way at once, some wait, and more are refused; other tenants do not notice", async () => {
    const reads = new ExpensiveReads();
    let reading = 0;
    let most = 0;
    const release = Promise.withResolvers<void>();
    const read = async (): Promise<void> => {
      reading += 1;
      most = Math.max(most, reading);
      await release.promise;
      reading -= 1;
    };
    const under = Array.from({ length: 22 }, () => reads.run("one", read));
    await expect(reads.run("one", read)).rejects.toMatchObject({ extensions: { code: "TOO_BUSY" } });
    await expect(reads.run("two", async () => "answered")).resolves.toBe("answered");
    release.resolve();
    await Promise.all(under);
    expect(most).toBe(2);
    await expect(reads.run("one", async () => "answered")).resolves.toBe("answered");
  });
});
