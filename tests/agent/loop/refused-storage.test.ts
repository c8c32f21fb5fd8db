import { describe, expect, it } from "vitest";
import type { Template } from "../../../src/agent/loop/scope.ts";
import type { Model } from "../../../src/agent/models/model.ts";
import type { TimelineEvent } from "../../../src/events/event.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent, permissionOf } from "../../support/held-agent.ts";
import { bodies, everything, readAll } from "../../support/log.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import { testServices } from "../../support/services.ts";
import { testTemplate } from "../../support/template.ts";
import { ownTool } from "../../support/tools.ts";

/** Runs one turn on a database that refuses a constraint's rows, and gives its events. */
async function turn(constraint: string, model: Model, postModel: Template["hooks"]["postModel"] = []): Promise<TimelineEvent[]> {
  const { sql } = await testDatabase();
  await sql.query({ name: "constrain", text: constraint }, []);
  const tools = [
    ownTool("own", () => ({ output: "unstorable", details: null })),
    ownTool("other", () => ({ output: "done", details: null })),
  ];
  const services = testServices(sql, model, tools, {
    permission: permissionOf({ mode: "auto" }),
    hooks: { ...testTemplate().hooks, postModel },
  });
  const agent = await heldAgent(services);
  await agent.send("go");
  expect(await (await agent.hold()).run()).toBe("parked");
  return readAll(services.log, everything("one"));
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
    const ends = bodies(events, "TOOL_END").map(({ call }) => call);
    expect(Object.fromEntries(ends.map(({ name, state }) => [name, state]))).toEqual({ own: "FAILED", other: "COMPLETED" });
    expect(ends.find(({ name }) => name === "own")?.error?.message).toContain("the result could not be stored");
    expect(bodies(events, "DONE").map(({ reason }) => reason)).toEqual(["COMPLETED"]);
  });

  it("is an answer: the turn ends and says so, its calls never run, and no postModel is told of it", async () => {
    const told: unknown[] = [];
    const events = await turn(
      "ALTER TABLE message ADD CHECK (kind <> 'ASSISTANT')",
      playedModel(() => calls("other")),
      [{ place: "hooks.postModel.0", run: (_step, answer) => void told.push(answer) }],
    );
    expect(told).toEqual([]);
    expect(events.some(({ body }) => body.kind === "TOOL_START")).toBe(false);
    expect(bodies(events, "ERROR").map(({ message }) => message)).toEqual([
      expect.stringContaining("the model's answer could not be stored"),
    ]);
    expect(bodies(events, "DONE").map(({ reason }) => reason)).toEqual(["ERROR"]);
  });

  it("is a last answer: the turn ends with an error", async () => {
    const events = await turn(
      "ALTER TABLE message ADD CHECK (kind <> 'ASSISTANT')",
      playedModel(() => says("Done.")),
    );
    expect(bodies(events, "DONE").map(({ reason }) => reason)).toEqual(["ERROR"]);
  });
});
