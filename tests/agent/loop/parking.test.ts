import { expect, it } from "vitest";
import { EventLog } from "../../../src/events/log.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent } from "../../support/held-agent.ts";
import { bodies, everything, readAll } from "../../support/log.ts";
import { playedModel, says } from "../../support/models.ts";
import { testServices } from "../../support/services.ts";
import { beforeCommit } from "../../support/writes.ts";

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
