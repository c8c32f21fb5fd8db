import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { callsOf } from "../../support/bash.ts";
import { connect, ofType } from "../../support/client.ts";
import { administer } from "../../support/database.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";
import { aroundStatements } from "../../support/statements.ts";

/** Takes the database away from the server, and gives it back. */
async function takeAway({ database }: TestApp): Promise<() => Promise<void>> {
  if (database.config.kind !== "postgres") throw new Error("the tests run on PostgreSQL");
  const name = new URL(database.config.url).pathname.slice(1);
  await administer(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
  await administer(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  return () => administer(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
}

const runs = (command: string) =>
  playedModel(
    () => callsWith(["bash_run", { command, background: true }]),
    () => says("It runs."),
  );

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe("a background shell", () => {
  it("that ends while the database is away is told with its exit code when the database is back", async () => {
    const app = await startTestApp({
      model: runs("until [ -e go ]; do sleep 0.05; done; touch gone; exit 7"),
      template: { permission: { mode: "auto" } },
      overrides: { leaseTimes: { ttlMs: 20_000, renewMs: 200, startMs: 10_000 } },
      expectsErrors: true,
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const giveBack = await takeAway(app);
    await writeFile(join(app.workspace, "go"), "");
    await expect.poll(() => exists(join(app.workspace, "gone"))).toBe(true);
    await expect.poll(async () => (await fetch(app.url.replace("/graphql", "/readyz"))).status).toBe(503);
    await giveBack();
    const events = await client.until(agent.id, "SHELL_ENDED");
    expect(ofType(events, "ShellEnded").map(({ endReason, exitCode }) => [endReason, exitCode])).toEqual([["EXITED", 7]]);
    expect((await client.agent(agent.id)).shells).toMatchObject([{ state: "ENDED", endReason: "EXITED", exitCode: 7 }]);
  });

  it("whose commit took longer than its lease runs on: its server has the lease", async () => {
    const app = await startTestApp({
      model: runs("touch begun; sleep 600"),
      template: { permission: { mode: "auto" } },
      overrides: {
        leaseTimes: { ttlMs: 1_000, renewMs: 100, startMs: 700 },
        sql: (sql) =>
          aroundStatements(sql, async (statement, run, values) => {
            const rows = await run();
            // The answer comes when the lease that the row was given has almost run out.
            if (statement.name === "commit_change" && String(values[6]).includes("shellStart")) await delay(850);
            return rows;
          }),
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    expect((await callsOf(client, agent.id)).map(({ state }) => state)).toEqual(["COMPLETED"]);
    await expect.poll(() => exists(join(app.workspace, "begun"))).toBe(true);
    // Three leases later it runs as before.
    await delay(3_000);
    expect((await client.agent(agent.id)).shells).toMatchObject([{ state: "RUNNING" }]);
  });

  it("that another server has closed before it began is no success: its call says that it was not started", async () => {
    const app = await startTestApp({
      model: runs("touch begun; sleep 600"),
      template: { permission: { mode: "auto" } },
      overrides: {
        sql: (sql) =>
          aroundStatements(sql, async (statement, run, values) => {
            const rows = await run();
            if (statement.name === "commit_change" && String(values[6]).includes("shellStart"))
              await sql.query({ name: "taken", text: "UPDATE shell SET server = 'another'" }, []);
            return rows;
          }),
      },
      expectsErrors: true,
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    const [call] = await callsOf(client, agent.id);
    expect(call).toMatchObject({ state: "FAILED", output: expect.stringContaining("the shell was not started") });
    expect(await exists(join(app.workspace, "begun"))).toBe(false);
  });
});
