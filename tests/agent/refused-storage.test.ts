import { describe, expect, it } from "vitest";
import type { Actor } from "../../src/agent/actor.ts";
import { createAgent } from "../../src/agent/commands/create-agent.ts";
import { sendMessage } from "../../src/agent/commands/send-message.ts";
import { readPermission } from "../../src/agent/gate/permission-source.ts";
import { claim, LEASE_TIMES } from "../../src/agent/lease.ts";
import { Loop } from "../../src/agent/loop.ts";
import type { Model } from "../../src/agent/models/model.ts";
import type { TimelineEvent } from "../../src/events/event.ts";
import { testDatabase } from "../support/database.ts";
import { everything, readAll } from "../support/log.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { NEW_AGENT, testParts } from "../support/parts.ts";
import { ownTool } from "../support/tools.ts";

const ANNA: Actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"], delegators: [] };

/** Runs one turn on a database that refuses a constraint's rows, and gives its events. */
async function turn(constraint: string, model: Model): Promise<TimelineEvent[]> {
  const { sql } = await testDatabase();
  await sql.query({ name: "constrain", text: constraint }, []);
  const { permission } = readPermission({ mode: "auto" }, "test", { tools: new Map(), modes: new Map() });
  const tools = [
    ownTool("own", () => ({ output: "unstorable", details: null })),
    ownTool("other", () => ({ output: "done", details: null })),
  ];
  const parts = testParts(sql, model, tools, { permission });
  const created = await createAgent(parts, ANNA, NEW_AGENT);
  const agentId = created.ok ? created.value.id : "";
  await sendMessage(parts, ANNA, { agentId, text: "go", images: [], idempotencyKey: null });
  const [lease] = await claim(sql, "here", [agentId], LEASE_TIMES, "RUN_OUT");
  if (lease === undefined) throw new Error("the agent is runnable");
  expect(await new Loop(parts, lease, performance.now() + 10_000).run()).toBe("parked");
  return readAll(parts.log, everything("one"));
}

describe("what the database refuses to store", () => {
  it("is a result: its call is FAILED and says so, the other is COMPLETED, and the turn goes on", async () => {
    const events = await turn(
      "ALTER TABLE tool_call ADD CHECK (output NOT LIKE 'unstorable')",
      playedModel(
        () => calls("own", "other"),
        () => says("Done."),
      ),
    );
    const ends = events.flatMap(({ body }) => (body.kind === "TOOL_END" ? [body.call] : []));
    expect(Object.fromEntries(ends.map(({ name, state }) => [name, state]))).toEqual({ own: "FAILED", other: "COMPLETED" });
    expect(ends.find(({ name }) => name === "own")?.error?.message).toContain("the result could not be stored");
    expect(events.flatMap(({ body }) => (body.kind === "DONE" ? [body.reason] : []))).toEqual(["COMPLETED"]);
  });

  it("is an answer: the turn ends and says so, and its calls never run", async () => {
    const events = await turn(
      "ALTER TABLE message ADD CHECK (kind <> 'ASSISTANT')",
      playedModel(() => calls("other")),
    );
    expect(events.some(({ body }) => body.kind === "TOOL_START")).toBe(false);
    expect(events.flatMap(({ body }) => (body.kind === "ERROR" ? [body.message] : []))).toEqual([
      expect.stringContaining("the model's answer could not be stored"),
    ]);
    expect(events.flatMap(({ body }) => (body.kind === "DONE" ? [body.reason] : []))).toEqual(["ERROR"]);
  });

  it("is a last answer: the turn ends with an error", async () => {
    const events = await turn(
      "ALTER TABLE message ADD CHECK (kind <> 'ASSISTANT')",
      playedModel(() => says("Done.")),
    );
    expect(events.flatMap(({ body }) => (body.kind === "DONE" ? [body.reason] : []))).toEqual(["ERROR"]);
  });
});
