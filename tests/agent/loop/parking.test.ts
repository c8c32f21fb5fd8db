import { describe, expect, it, onTestFinished } from "vitest";
import type { Actor } from "../../../src/agent/actors/actor.ts";
import { sendMessage } from "../../../src/agent/commands/messages.ts";
import type { Sql } from "../../../src/db/sql.ts";
import { EventLog } from "../../../src/events/log.ts";
import { rowId } from "../../../src/lib/global-id.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent } from "../../support/held-agent.ts";
import { bodies, everything, readAll } from "../../support/log.ts";
import { playedModel, says } from "../../support/models.ts";
import { testServices } from "../../support/services.ts";
import { aroundStatements } from "../../support/statements.ts";
import { aroundWrites, beforeCommit } from "../../support/writes.ts";

it("an agent never parks past a message that arrives between its look and its parking (invariant 8)", async () => {
  const { sql } = await testDatabase();
  const services = testServices(
    sql,
    playedModel(() => says("Hello.")),
  );
  const agent = await heldAgent(services);
  await agent.send("first");

  // Before the commit that parks the agent is written, another message is committed.
  let isLate = false;
  const delayed = beforeCommit(
    sql,
    ({ expectSignal }) => expectSignal !== undefined,
    async () => {
      await agent.send("late");
      isLate = true;
    },
  );
  const loop = await agent.hold({ ...services, sql: delayed, log: new EventLog(delayed) });
  expect(await loop.run()).toBe("parked");

  expect(isLate).toBe(true);
  const done = bodies(await readAll(services.log, everything("one")), "DONE");
  expect(done).toMatchObject([
    { reason: "COMPLETED", turn: 1 },
    { reason: "COMPLETED", turn: 2 },
  ]);
});

const LOCAL: Actor = { id: "local", kind: "USER", tenant: "local", roles: ["admin"], delegators: [] };

describe("the end of a turn", () => {
  it("claims nothing if nothing came for the agent during it", async () => {
    const claims: number[] = [];
    const counted = (sql: Sql): Sql =>
      aroundStatements(sql, async (statement, run) => {
        // A look that finds the message before its sender has claimed the agent would claim it, too.
        if (statement.name === "look_for_agents") return [];
        const rows = await run();
        if (statement.name === "claim_agents") claims.push(rows.length);
        return rows;
      });
    const app = await startTestApp({ overrides: { sql: counted } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const metrics = async (): Promise<string> => (await fetch(app.url.replace("/graphql", "/metrics"))).text();
    for (const text of ["first", "second"]) {
      await client.turn(agent.id, text);
      await expect.poll(metrics).toMatch(/^triplane_agents_held 0$/m);
    }
    expect(claims).toEqual([1, 1]);
  });

  it.for(["this server", "another server"])(
    "does not leave a message of %s that comes between the parking and the end of the loop until the next look (invariant 8)",
    async (server) => {
      const late = Promise.withResolvers<undefined>();
      let isLate = false;
      let looks = 0;
      const delayed = (sql: Sql): Sql =>
        aroundWrites(
          aroundStatements(sql, async (statement, run) => {
            if (statement.name !== "look_for_agents") return run();
            if (isLate) await late.promise;
            const found = await run();
            looks += 1;
            return found;
          }),
          async ({ change }, write) => {
            const parked = await write();
            if (change?.expectSignal === undefined || isLate) return parked;
            await send();
            isLate = true;
            return parked;
          },
        );
      const app = await startTestApp({ overrides: { sql: delayed } });
      // Before the server closes, which waits for its looks.
      onTestFinished(() => late.resolve(undefined));
      const client = connect(app.url);
      const agent = await client.createAgent();
      /** The other server advances no agents: this one finds the message by looking, while the loop has not ended. */
      async function send(): Promise<void> {
        if (server === "this server") return void (await client.send(agent.id, "late"));
        const services = testServices(
          app.database.sql,
          playedModel(() => says("Never.")),
        );
        const sent = await sendMessage(services, LOCAL, {
          agentId: rowId("Agent", agent.id),
          text: "late",
          images: [],
          outputSchema: null,
          idempotencyKey: null,
        });
        expect(sent.ok).toBe(true);
        const before = looks;
        await expect.poll(() => looks).toBeGreaterThan(before + 1);
      }
      const first = ofType(await client.turn(agent.id, "first"), "Done");
      const second = ofType(await client.until(agent.id, "DONE", first[0]?.cursor), "Done");
      expect([...first, ...second]).toMatchObject([{ turn: 1 }, { turn: 2 }]);
    },
  );
});
