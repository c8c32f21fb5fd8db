import { isDeepStrictEqual } from "node:util";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { unlockedAgents } from "../../../src/agent/loop/lease.ts";
import type { Sql } from "../../../src/db/sql.ts";
import { EventLog } from "../../../src/events/log.ts";
import { rowId } from "../../../src/lib/global-id.ts";
import { startTestApp } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { testDatabase } from "../../support/database.ts";
import { insertAgent } from "../../support/log.ts";
import { playedModel, says } from "../../support/models.ts";
import { aroundStatements } from "../../support/statements.ts";

/** Leaves the agents with a server that is gone, as if their leases had run out one after the other. */
async function letRunOut(sql: Sql, agentIds: readonly string[]): Promise<void> {
  for (const [index, agentId] of agentIds.entries()) {
    const set = "lease_owner = 'other', lease_until = now() - make_interval(secs => $2), runnable_at = now()";
    await sql.query({ name: "late", text: `UPDATE agent SET ${set} WHERE id = $1` }, [agentId, 100 - index]);
  }
}

it("a server that was full in between still leaves an agent whose row was locked to its owner for two seconds, whatever is sent to it", async () => {
  const asked: { what: "unlocked" | "claimed"; at: number }[] = [];
  const full = Promise.withResolvers<undefined>();
  const done = Promise.withResolvers<undefined>();
  let isLocked = true;
  let late: string | null = null;
  const seen = (sql: Sql): Sql =>
    aroundStatements(sql, async ({ name }, run, values) => {
      const at = performance.now();
      if (name === "unlocked_agents") asked.push({ what: "unlocked", at });
      if (name === "look_for_agents" && values[2] === 0) full.resolve(undefined);
      const rows = name === "unlocked_agents" && isLocked ? [] : await run();
      if (name === "claim_agents" && rows.length > 0 && isDeepStrictEqual(values[2], [late])) asked.push({ what: "claimed", at });
      return rows;
    });
  const model = playedModel(async function* () {
    await done.promise;
    yield* says("Here.");
  });
  const app = await startTestApp({ model, config: { agentLimit: 1 }, overrides: { sql: seen } });
  onTestFinished(() => done.resolve(undefined));
  const client = connect(app.url);
  const { sql } = app.database;
  const busy = await client.createAgent();
  const left = await client.createAgent();
  late = rowId("Agent", left.id);
  await letRunOut(sql, [late]);
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  await client.send(busy.id, "go");
  await full.promise;
  isLocked = false;
  asked.length = 0;
  done.resolve(undefined);
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  await client.send(left.id, "go");
  await expect.poll(() => asked.at(-1)?.what, { timeout: 8_000 }).toBe("claimed");
  expect((asked.at(-1)?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThanOrEqual(1_800);
});

it("an agent whose row is locked keeps no place from another whose lease has run out", async () => {
  let locked: string | null = null;
  const claimed: unknown[] = [];
  const seen = (sql: Sql): Sql =>
    aroundStatements(sql, async (statement, run, values) => {
      if (statement.name !== "unlocked_agents") {
        const rows = await run();
        if (statement.name === "claim_agents" && rows.length > 0) claimed.push(values[2]);
        return rows;
      }
      const asked = values[0] as readonly string[];
      return sql.query(statement, [asked.filter((id) => id !== locked)]);
    });
  const app = await startTestApp({ config: { agentLimit: 1 }, overrides: { sql: seen } });
  const client = connect(app.url);
  const [first, second] = [await client.createAgent(), await client.createAgent()].map(({ id }) => rowId("Agent", id));
  if (first === undefined || second === undefined) throw new Error("there are two");
  locked = first;
  await letRunOut(app.database.sql, [first, second]);
  await expect.poll(() => claimed, { timeout: 5_000 }).toEqual([[second]]);
});

it("agents whose lease has run out go on before those that wait, as soon as a full server has room (invariant 13)", async () => {
  const first = Promise.withResolvers<undefined>();
  onTestFinished(() => first.resolve(undefined));
  const model = playedModel(async function* (request) {
    if (JSON.stringify(request.messages.at(-1)).includes("first")) await first.promise;
    yield* says("Here.");
  });
  let late: readonly string[] = [];
  const full = Promise.withResolvers<undefined>();
  const claimed: unknown[] = [];
  const seen = (sql: Sql): Sql =>
    aroundStatements(sql, async ({ name }, run, values) => {
      // The looks of the clock, from the one on that finds the server full.
      const isByClock = name === "look_for_agents" && values[1] === null && late.length > 0;
      if (isByClock && values[2] !== 0) return [];
      const rows = await run();
      if (isByClock) full.resolve(undefined);
      if (name === "claim_agents" && rows.length > 0) claimed.push(values[2]);
      return rows;
    });
  const app = await startTestApp({ model, config: { agentLimit: 1 }, overrides: { sql: seen } });
  const client = connect(app.url);
  const agents = await Promise.all(Array.from({ length: 7 }, () => client.createAgent()));
  const [working = "", ...others] = agents.slice(3).map(({ id }) => id);
  await client.send(working, "first");
  await expect.poll(() => model.calls.length).toBe(1);
  for (const id of others) await client.send(id, "go");
  claimed.length = 0;
  late = agents.slice(0, 3).map(({ id }) => rowId("Agent", id));
  await letRunOut(app.database.sql, late);
  await full.promise;
  first.resolve(undefined);
  for (const id of others) await client.until(id, "DONE");
  expect(claimed.slice(0, 3)).toEqual(late.map((id) => [id]));
});

it("the look of another server is no lock on a row", async () => {
  const { sql, url } = await testDatabase();
  const { agentId } = await insertAgent(new EventLog(sql), "one");
  const other = new pg.Client({ connectionString: url });
  other.on("error", () => {});
  await other.connect();
  onTestFinished(() => other.end());
  for (const [lock, isUnlocked] of [
    ["SHARE", true],
    ["NO KEY UPDATE", false],
  ] as const) {
    await other.query(`BEGIN; SELECT 1 FROM agent FOR ${lock}`);
    expect((await unlockedAgents(sql, [agentId])).has(agentId)).toBe(isUnlocked);
    await other.query("COMMIT");
  }
});

it("leases that could not be renewed are renewed again at once", async () => {
  const held = Promise.withResolvers<undefined>();
  onTestFinished(() => held.resolve(undefined));
  const model = playedModel(async function* () {
    await held.promise;
    yield* says("Here.");
  });
  const tries: number[] = [];
  const seen = (sql: Sql): Sql =>
    aroundStatements(sql, async ({ name }, run) => {
      if (name === "renew_leases" && tries.push(performance.now()) === 1)
        throw new Error("timeout exceeded when trying to connect");
      return run();
    });
  const leaseTimes = { ttlMs: 6_000, renewMs: 2_000, startMs: 4_000 };
  const app = await startTestApp({ model, overrides: { sql: seen, leaseTimes } });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.send(id, "go");
  await expect.poll(() => tries.length, { timeout: 10_000 }).toBeGreaterThan(1);
  const [failed = 0, again = 0] = tries;
  expect(again - failed).toBeLessThan(1_500);
});
