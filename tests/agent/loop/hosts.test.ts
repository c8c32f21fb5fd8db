import { expect, it } from "vitest";
import { askInBackground } from "../../../src/agent/approvals/hosts/ask-host.ts";
import { EventLog } from "../../../src/events/log.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent } from "../../support/held-agent.ts";
import { bodies, everything, readAll } from "../../support/log.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import { shellRow } from "../../support/shell-row.ts";
import { testServices } from "../../support/services.ts";
import { ownTool } from "../../support/tools.ts";
import { beforeCommit } from "../../support/writes.ts";

const PLAIN = { templateVersion: null, permission: null } as const;

it("a call's end joins a question that a program opened while the end was written: one is open, and the call has ended", async () => {
  const { sql } = await testDatabase();
  const model = playedModel(
    () => calls("knock"),
    () => says("Done."),
  );
  const knock = ownTool("knock", async (_input, { mayReach }) => ({
    output: String(await mayReach("a.example", 443)),
    details: null,
  }));
  const services = testServices(sql, model, [knock]);
  const agent = await heldAgent(services);
  await agent.send("go");
  const late = beforeCommit(
    sql,
    ({ approvals }) => approvals !== undefined,
    async () => {
      const [call] = await sql.query<{ id: string }, []>({ name: "call", text: "SELECT id FROM tool_call" }, []);
      const asking = { id: agent.agentId, tenant: "one", createdBy: "anna", templateId: "assistant", ...PLAIN };
      const program = { agent: asking, callId: call?.id ?? "" };
      await shellRow(sql, { tenant: "one", agentId: agent.agentId, createdBy: "anna", callId: program.callId }, "here");
      expect(await askInBackground(services, program, { host: "a.example", port: 443 })).toBe("asked");
    },
  );
  const loop = await agent.hold({ ...services, sql: late, log: new EventLog(late) });
  expect(await loop.run()).toBe("parked");

  const log = await readAll(services.log, everything("one"));
  expect(bodies(log, "PERMISSION_REQUIRED")).toMatchObject([{ request: { host: "a.example", port: 443 } }]);
  expect(bodies(log, "TOOL_END")).toMatchObject([{ call: { state: "COMPLETED" } }]);
  const asked = await sql.query(
    {
      name: "asked",
      text: "SELECT kind = 'SHELL_HOST' AS in_background, count(DISTINCT ref)::int AS approvals FROM wait WHERE kind IN ('HOST', 'SHELL_HOST') GROUP BY 1 ORDER BY 1",
    },
    [],
  );
  expect(asked).toEqual([
    { in_background: false, approvals: 1 },
    { in_background: true, approvals: 1 },
  ]);
});
