import { expect, it } from "vitest";
import type { Sql } from "../../src/db/sql.ts";
import { EventLog } from "../../src/events/log.ts";
import { testDatabase } from "../support/database.ts";
import { heldAgent } from "../support/held-agent.ts";
import { everything, readAll } from "../support/log.ts";
import { playedModel, says } from "../support/models.ts";
import { testParts } from "../support/parts.ts";

it("an agent never parks past a message that arrives between its look and its parking (invariant 8)", async () => {
  const { sql } = await testDatabase();
  const parts = testParts(
    sql,
    playedModel(() => says("Hello.")),
  );
  const agent = await heldAgent(parts);
  await agent.send("first");

  // Before the commit that parks the agent is written, another message is committed.
  let late: Promise<void> | null = null;
  const delayed: Sql = {
    ...sql,
    async query<Row>(statement: { name: string; text: string }, values: readonly unknown[]) {
      if (late === null && statement.name === "commit_change" && String(values[5]).includes("expectSignal")) {
        late = agent.send("late");
        await late;
      }
      return sql.query<Row>(statement, values);
    },
  };
  const loop = await agent.hold({ ...parts, sql: delayed, log: new EventLog(delayed) });
  expect(await loop.run()).toBe("parked");

  expect(late).not.toBeNull();
  const done = (await readAll(parts.log, everything("one"))).flatMap(({ body }) => (body.kind === "DONE" ? [body] : []));
  expect(done).toMatchObject([
    { reason: "COMPLETED", turn: 1 },
    { reason: "COMPLETED", turn: 2 },
  ]);
});
