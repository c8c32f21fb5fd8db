import { expect, it } from "vitest";
import type { Actor } from "../../src/agent/actor.ts";
import { createAgent } from "../../src/agent/commands/create-agent.ts";
import { sendMessage } from "../../src/agent/commands/send-message.ts";
import { claim, LEASE_TIMES } from "../../src/agent/lease.ts";
import { Loop } from "../../src/agent/loop.ts";
import type { Sql } from "../../src/db/sql.ts";
import { EventLog } from "../../src/events/log.ts";
import { testDatabase } from "../support/database.ts";
import { everything, readAll } from "../support/log.ts";
import { playedModel, says } from "../support/models.ts";
import { NEW_AGENT, testParts } from "../support/parts.ts";

const ANNA: Actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"], delegators: [] };

it("an agent never parks past a message that arrives between its look and its parking (invariant 8)", async () => {
  const { sql } = await testDatabase();
  const parts = testParts(
    sql,
    playedModel(() => says("Hello.")),
  );
  const created = await createAgent(parts, ANNA, NEW_AGENT);
  const agentId = created.ok ? created.value.id : "";
  const send = (text: string) => sendMessage(parts, ANNA, { agentId, text, images: [], idempotencyKey: null });
  await send("first");

  // Before the commit that parks the agent is written, another message is committed.
  let late: Promise<unknown> | null = null;
  const delayed: Sql = {
    ...sql,
    async query<Row>(statement: { name: string; text: string }, values: readonly unknown[]) {
      if (late === null && statement.name === "commit_change" && String(values[5]).includes("expectSignal")) {
        late = send("late");
        await late;
      }
      return sql.query<Row>(statement, values);
    },
  };
  const [lease] = await claim(sql, "here", [agentId], LEASE_TIMES, "RUN_OUT");
  if (lease === undefined) throw new Error("the agent is runnable");
  const loop = new Loop({ ...parts, sql: delayed, log: new EventLog(delayed) }, lease, performance.now() + 10_000);
  expect(await loop.run()).toBe("parked");

  expect(late).not.toBeNull();
  const done = (await readAll(parts.log, everything("one"))).flatMap(({ body }) => (body.kind === "DONE" ? [body] : []));
  expect(done).toMatchObject([
    { reason: "COMPLETED", turn: 1 },
    { reason: "COMPLETED", turn: 2 },
  ]);
});
