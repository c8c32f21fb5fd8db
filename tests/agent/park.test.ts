import { expect, it } from "vitest";
import type { Actor } from "../../src/agent/actor.ts";
import { KeptOutputs } from "../../src/agent/kept-outputs.ts";
import { ToolSlots } from "../../src/agent/tool-slots.ts";
import { createAgent } from "../../src/agent/commands/create-agent.ts";
import { sendMessage } from "../../src/agent/commands/send-message.ts";
import { claim, LEASE_TIMES } from "../../src/agent/lease.ts";
import { Loop } from "../../src/agent/loop.ts";
import type { AgentParts } from "../../src/agent/parts.ts";
import type { Sql } from "../../src/db/sql.ts";
import { silentBell } from "../../src/events/bell.ts";
import { Appender } from "../../src/events/appender.ts";
import { EventLog } from "../../src/events/log.ts";
import { ProcessGroups } from "../../src/lib/process-groups.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { testDatabase } from "../support/database.ts";
import { everything, readAll } from "../support/log.ts";
import { playedModel, says } from "../support/models.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { testTemplate } from "../support/template.ts";

const ANNA: Actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"], delegators: [] };

it("an agent never parks past a message that arrives between its look and its parking (invariant 8)", async () => {
  const { sql } = await testDatabase();
  const log = new EventLog(sql);
  const parts: AgentParts = {
    node: "here",
    sql,
    log,
    appender: new Appender(log),
    bell: silentBell(),
    clock: systemClock,
    logger: silentLogger,
    leaseTimes: LEASE_TIMES,
    templates: new Map([["assistant", testTemplate()]]),
    models: new Map([["test", playedModel(() => says("Hello."))]]),
    modes: new Map(),
    slots: new ToolSlots({ running: 1, waiting: 0, waitMs: 1 }),
    outputs: new KeptOutputs("/nowhere"),
    groups: new ProcessGroups(),
    closedFolders: [],
    tools: new Map(),
    workspaceRoots: null,
    folder: "/tmp",
  };
  const created = await createAgent(parts, ANNA, {
    templateId: "assistant",
    workspace: null,
    model: null,
    toolTimeoutMs: null,
    permission: null,
    idempotencyKey: null,
  });
  const agentId = created.ok ? created.value.id : "";
  const send = (text: string) => sendMessage(parts, ANNA, { agentId, text, images: [], idempotencyKey: null });
  await send("first");

  // The look that finds nothing left to do is answered only after another message has been committed.
  let late: Promise<unknown> | null = null;
  const delayed: Sql = {
    ...sql,
    async query<Row>(statement: { name: string; text: string }, values: readonly unknown[]) {
      const rows = await sql.query<Row>(statement, values);
      const seen = JSON.stringify(rows);
      if (statement.name === "look" && late === null && seen.includes('"state":"READY"') && seen.includes('"waiting":[]')) {
        late = send("late");
        await late;
      }
      return rows;
    },
  };
  const [lease] = await claim(sql, "here", [agentId], LEASE_TIMES, "RUN_OUT");
  if (lease === undefined) throw new Error("the agent is runnable");
  expect(await new Loop({ ...parts, sql: delayed }, lease, performance.now() + 10_000).run()).toBe("parked");

  expect(late).not.toBeNull();
  const done = (await readAll(log, everything("one"))).flatMap(({ body }) => (body.kind === "DONE" ? [body] : []));
  expect(done).toMatchObject([
    { reason: "COMPLETED", turn: 1 },
    { reason: "COMPLETED", turn: 2 },
  ]);
});
