import { isDeepStrictEqual } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import type { Sql } from "../../../src/db/sql.ts";
import { rowId } from "../../../src/lib/global-id.ts";
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
