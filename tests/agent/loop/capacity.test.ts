import { isDeepStrictEqual } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import type { Model } from "../../../src/agent/models/model.ts";
import { lookForAgents, type AgentOfTenant, type SweepRequest } from "../../../src/agent/loop/lease.ts";
import type { Sql, Statement } from "../../../src/db/sql.ts";
import { EventLog } from "../../../src/events/log.ts";
import { rowId } from "../../../src/lib/global-id.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
import { testDatabase } from "../../support/database.ts";
import { insertAgent } from "../../support/log.ts";
import { playedModel, says } from "../../support/models.ts";
import { aroundStatements } from "../../support/statements.ts";

it("a server advances no more agents at a time than its limit, and takes the others as soon as it has room", async () => {
  const app = await startTestApp({
    script: { pace: { characters: 4, delayMs: 5 }, replies: [{ when: {}, say: ["a few words of text"] }] },
    config: { agentLimit: 2 },
  });
  const client = connect(app.url);
  const agents = await Promise.all(Array.from({ length: 8 }, () => client.createAgent()));
  const held: number[] = [];
  const looking = setInterval(() => {
    void app.database.sql
      .query<{ held: number }>({ name: "h", text: "SELECT count(*)::int AS held FROM agent WHERE lease_owner IS NOT NULL" }, [])
      .then(([row]) => held.push(row?.held ?? 0));
  }, 10);
  await Promise.all(agents.map(({ id }) => client.send(id, "go")));
  const timelines = await Promise.all(agents.map(({ id }) => client.until(id, "DONE")));
  clearInterval(looking);
  for (const events of timelines) expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  expect(Math.max(...held)).toBe(2);
  const metrics = await (await fetch(app.url.replace("/graphql", "/metrics"))).text();
  expect(metrics).toMatch(/^triplane_agents_limit 2$/m);
});

const LARGE = tokenActor("ada", ["admin"], "large");
const SMALL = tokenActor("ben", ["admin"], "small");

/** A model that answers at once, or when the test says so: what the messages say. */
function waitingModel() {
  const waits = { first: Promise.withResolvers<undefined>(), wait: Promise.withResolvers<undefined>() };
  const letGo = (): void => Object.values(waits).forEach(({ resolve }) => resolve(undefined));
  onTestFinished(letGo);
  const model = playedModel(async function* (request) {
    const said = JSON.stringify(request.messages.at(-1));
    if (said.includes("first")) await waits.first.promise;
    if (said.includes("wait")) await waits.wait.promise;
    yield* says("Here.");
  });
  return { model, letGo, letFirstGo: () => waits.first.resolve(undefined) };
}

/** A server of two tenants, and the clients of both: the first has so many agents. */
async function sharedServer(model: Model, agentLimit: number, agentsOfLarge: number, sql: (sql: Sql) => Sql = (own) => own) {
  const config = { agentLimit, actors: [LARGE.actor, SMALL.actor] };
  const app = await startTestApp({ model, config, overrides: { sql } });
  const large = connect(app.url, LARGE.token);
  const agents = await Promise.all(Array.from({ length: agentsOfLarge }, () => large.createAgent()));
  return { large, small: connect(app.url, SMALL.token), agents, database: app.database };
}

/** True for a look that the clock asks for. */
function isByClock({ name }: Statement, values: readonly unknown[]): boolean {
  return name === "look_for_agents" && values[1] === null;
}

it("a tenant whose agents all hang leaves places to the others, and its own take turns in the rest (invariant 13)", async () => {
  const { model, letGo } = waitingModel();
  const { large, small, agents } = await sharedServer(model, 3, 6);
  await Promise.all(agents.map(({ id }) => large.send(id, "wait")));
  await expect.poll(() => model.calls.length).toBe(2);
  const neighbour = await small.createAgent();
  expect(ofType(await small.turn(neighbour.id, "at once"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  expect(ofType(await small.turn(neighbour.id, "at once"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  letGo();
  const timelines = await Promise.all(agents.map(({ id }) => large.until(id, "DONE")));
  for (const events of timelines) expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
});

it("the end of another tenant's turn lets agents go on at once for which there was no place (invariant 13)", async () => {
  const { model, letGo, letFirstGo } = waitingModel();
  let isWithoutClock = false;
  const seen = (sql: Sql): Sql =>
    aroundStatements(sql, async (statement, run, values) => (isWithoutClock && isByClock(statement, values) ? [] : run()));
  const { large, small, agents } = await sharedServer(model, 6, 5, seen);
  const neighbour = await small.createAgent();
  await small.send(neighbour.id, "first");
  await expect.poll(() => model.calls.length).toBe(1);
  for (const { id } of agents) await large.send(id, "wait");
  await expect.poll(() => model.calls.length).toBe(4);
  isWithoutClock = true;
  letFirstGo();
  await expect.poll(() => model.calls.length).toBe(5);
  letGo();
  await Promise.all(agents.map(({ id }) => large.until(id, "DONE")));
});

it("a place that a claim took in vain lets agents go on at once that found it taken (invariant 13)", async () => {
  const { model, letGo } = waitingModel();
  const answered = Promise.withResolvers<undefined>();
  let elsewhere: string | null = null;
  const seen = (sql: Sql): Sql =>
    aroundStatements(sql, async (statement, run, values) => {
      if (elsewhere === null) return run();
      if (isByClock(statement, values)) return [];
      const rows = await run();
      if (statement.name === "claim_agents" && isDeepStrictEqual(values[2], [elsewhere])) await answered.promise;
      return rows;
    });
  const { large, agents, database } = await sharedServer(model, 3, 3, seen);
  const [first, second, third] = agents.map(({ id }) => id) as [string, string, string];
  await large.send(first, "wait");
  await expect.poll(() => model.calls.length).toBe(1);
  elsewhere = rowId("Agent", second);
  const lease = "lease_owner = 'other', lease_until = now() + interval '1 h'";
  await database.sql.query({ name: "e", text: `UPDATE agent SET ${lease} WHERE id = $1` }, [elsewhere]);
  await large.send(second, "wait");
  await large.send(third, "wait");
  expect(model.calls.length).toBe(1);
  answered.resolve(undefined);
  await expect.poll(() => model.calls.length).toBe(2);
  letGo();
  await large.until(third, "DONE");
});

it("a look finds agents of each tenant, however many of another have waited longer, and none of crowded ones (invariant 13)", async () => {
  const { sql } = await testDatabase();
  const log = new EventLog(sql);
  const mine: string[] = [];
  for (const tenant of ["large", "large", "large", "large", "small"]) {
    const { agentId } = await insertAgent(log, tenant);
    if (tenant === "small") mine.push(agentId);
    await sql.query({ name: "w", text: "UPDATE agent SET runnable_at = clock_timestamp() WHERE id = $1" }, [agentId]);
  }
  const look: SweepRequest = { tenants: null, most: 2, free: "RUN_OUT", crowded: [] };
  const tenantsOf = (agents: readonly AgentOfTenant[]): readonly string[] => agents.map(({ tenant }) => tenant);
  expect(tenantsOf((await lookForAgents(sql, "here", look)).unowned)).toEqual(["large", "small"]);
  const others = await lookForAgents(sql, "here", { ...look, crowded: ["large"] });
  expect(others.unowned).toMatchObject([{ agentId: mine[0], tenant: "small" }]);
  expect(tenantsOf((await lookForAgents(sql, "here", { ...look, most: 4 })).unowned)).toEqual([
    "large",
    "small",
    "large",
    "large",
  ]);
  await sql.query({ name: "r", text: "UPDATE agent SET lease_owner = 'gone', lease_until = runnable_at" }, []);
  const large = ["large", "large", "large"];
  expect(tenantsOf((await lookForAgents(sql, "here", look)).runOut)).toEqual(["large", "small", ...large]);
  const ofOthers = await lookForAgents(sql, "here", { ...look, crowded: ["large"] });
  expect(tenantsOf(ofOthers.runOut)).toEqual(["small", "large", ...large]);
});
