import { expect, it } from "vitest";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";

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
