import { describe, expect, it } from "vitest";
import { CreateScheduleDocument, RemindAgentDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { setPolicyTime } from "../support/clock.ts";
import { playedModel, says } from "../support/models.ts";

describe("reminders that begin no turn", () => {
  it("leave room for a schedule, which does: it triggers, and they join its turn", async () => {
    const app = await startTestApp({ model: playedModel(() => says("Done.")) });
    const client = connect(app.url);
    const { id: agentId } = await client.createAgent();
    const schedule = await client.get(CreateScheduleDocument, {
      input: { agentId, text: "Look.", trigger: { everyMs: 60_000 } },
    });
    expect(schedule.createSchedule.userErrors).toEqual([]);
    const codes = new Set<string>();
    for (let n = 0; n < 60; n += 1) {
      const { userErrors } = (await client.get(RemindAgentDocument, { input: { agentId, text: `note ${n}` } })).remindAgent;
      for (const { code } of userErrors) codes.add(code);
    }
    expect([...codes]).toEqual(["QUEUE_FULL"]);
    await setPolicyTime(app.database.sql, "statement_timestamp() + interval '65 s'");
    await client.until(agentId, "SCHEDULER_TRIGGERED");
  });
});
