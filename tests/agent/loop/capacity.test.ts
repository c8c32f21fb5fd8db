import { isDeepStrictEqual } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import type { Model } from "../../../src/agent/models/model.ts";
import type { Sql } from "../../../src/db/sql.ts";
import { rowId } from "../../../src/lib/global-id.ts";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
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

it("a server that was full in between still leaves an agent whose row was locked to its owner for one look more", async () => {
  const asked: string[] = [];
  const full = Promise.withResolvers<undefined>();
  const done = Promise.withResolvers<undefined>();
  let isLocked = true;
  let late: string | null = null;
  const seen = (sql: Sql): Sql =>
    aroundStatements(sql, async ({ name }, run, values) => {
      if (name === "unlocked_agents") asked.push("unlocked");
      if (name === "claim_agents" && isDeepStrictEqual(values[2], [late])) asked.push("claimed");
      if (name === "look_for_agents" && values[2] === 0) full.resolve(undefined);
      return name === "unlocked_agents" && isLocked ? [] : run();
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
  late = rowId("Agent", (await client.createAgent()).id);
  const set = "lease_owner = 'other', lease_until = now() - interval '1 s', runnable_at = now()";
  await sql.query({ name: "late", text: `UPDATE agent SET ${set} WHERE id = $1` }, [late]);
  await expect.poll(() => asked).toContain("unlocked");
  await client.send(busy.id, "go");
  await full.promise;
  isLocked = false;
  asked.length = 0;
  done.resolve(undefined);
  await expect.poll(() => asked).toContain("claimed");
  expect(asked).toEqual(["unlocked", "unlocked", "claimed"]);
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

/** A server with three places that knows of two tenants, and the clients of both: the first has so many agents. */
async function smallServer(model: Model, agentsOfLarge: number, around: (sql: Sql) => Sql = (sql) => sql) {
  let looks = 0;
  const counted = (sql: Sql): Sql =>
    aroundStatements(around(sql), async ({ name }, run, values) => {
      const rows = await run();
      if (name === "look_for_agents" && values[1] === null) looks += 1;
      return rows;
    });
  const config = { agentLimit: 3, actors: [LARGE.actor, SMALL.actor] };
  const app = await startTestApp({ model, config, overrides: { sql: counted } });
  const large = connect(app.url, LARGE.token);
  const small = connect(app.url, SMALL.token);
  const agents = await Promise.all(Array.from({ length: agentsOfLarge }, () => large.createAgent()));
  const neighbour = await small.createAgent();
  // The look that is under way may have seen one of them alone.
  const seen = looks + 1;
  await expect.poll(() => looks).toBeGreaterThan(seen);
  return { large, small, agents, neighbour };
}

it("a tenant whose agents all hang leaves places to the others, and its own take turns in the rest (invariant 13)", async () => {
  const { model, letGo } = waitingModel();
  const { large, small, agents, neighbour } = await smallServer(model, 6);
  await Promise.all(agents.map(({ id }) => large.send(id, "wait")));
  await expect.poll(() => model.calls.length).toBe(2);
  expect(ofType(await small.turn(neighbour.id, "at once"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  expect(ofType(await small.turn(neighbour.id, "at once"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  letGo();
  const timelines = await Promise.all(agents.map(({ id }) => large.until(id, "DONE")));
  for (const events of timelines) expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
});

it("a look goes on behind the agents of a tenant that may take no other place (invariant 13)", async () => {
  const { model, letGo, letFirstGo } = waitingModel();
  const looks: unknown[] = [];
  const lost = Promise.withResolvers<undefined>();
  let isLooking = false;
  let isLosing = false;
  const seen = (sql: Sql): Sql =>
    aroundStatements(sql, async ({ name }, run, values) => {
      if (name === "claim_agents" && isLosing) {
        lost.resolve(undefined);
        return [];
      }
      const rows = await run();
      if (name !== "look_for_agents") return rows;
      const [, tenants, , , crowded] = values;
      // The first look that finds anything is one that the clock asks for.
      if (!isLooking || (tenants !== null && looks.length === 0))
        return rows.filter((row) => isDeepStrictEqual(row, { ...row, found: "TENANT" }));
      looks.push({ tenants, crowded });
      return rows;
    });
  const { large, small, agents, neighbour } = await smallServer(model, 5, seen);
  const [first, ...others] = agents;
  if (first === undefined) throw new Error("the tenant has no agents");
  await large.send(first.id, "first");
  await expect.poll(() => model.calls.length).toBe(1);
  for (const { id } of others) await large.send(id, "wait");
  await expect.poll(() => model.calls.length).toBe(2);
  isLosing = true;
  await small.send(neighbour.id, "at once");
  await lost.promise;
  isLosing = false;
  isLooking = true;
  letFirstGo();
  expect(ofType(await small.until(neighbour.id, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  expect(looks.slice(0, 2)).toEqual([
    { tenants: null, crowded: [] },
    { tenants: [], crowded: ["large"] },
  ]);
  letGo();
  await Promise.all(agents.map(({ id }) => large.until(id, "DONE")));
});
