import { describe, expect, it } from "vitest";
import type { HooksConfig } from "../../src/triplane.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { calls, playedModel, says } from "../support/models.ts";

/** One turn with a tool call, under these hooks. */
async function turn(hooks: HooksConfig) {
  const model = playedModel(
    () => calls("todo_read"),
    () => says("Done."),
    () => says("Again."),
  );
  const app = await startTestApp({ model, template: { hooks } });
  const client = connect(app.url);
  const agent = await client.createAgent();
  return { model, client, agent, events: await client.turn(agent.id, "go") };
}

describe("hooks round model calls", () => {
  it("preModel gives the model other messages, for this call only", async () => {
    const { model, client, agent } = await turn({
      preModel: [(_step, messages) => [...messages, { role: "user", content: [{ type: "text", text: "Be brief." }] }]],
    });
    expect(model.calls).toHaveLength(2);
    for (const { request } of model.calls) expect(JSON.stringify(request.messages)).toContain("Be brief.");
    expect(JSON.stringify((await client.agent(agent.id)).messages)).not.toContain("Be brief.");
  });

  it("what preModel does to the messages that it is shown changes nothing", async () => {
    const { model } = await turn({ preModel: [(_step, messages) => void (messages as unknown[]).splice(0)] });
    expect(model.calls.map(({ request }) => request.messages.length)).toEqual([1, 3]);
  });

  it("a preModel that throws ends the turn with an error, the model is not called, and the agent goes on", async () => {
    let isBroken = true;
    const { model, client, agent, events } = await turn({
      preModel: [
        () => {
          if (isBroken) throw new Error("hook bug");
        },
      ],
    });
    expect(model.calls).toHaveLength(0);
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      { severity: "ERROR", message: expect.stringContaining("templates.assistant.hooks.preModel.0 failed: hook bug") },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    isBroken = false;
    expect(ofType(await client.turn(agent.id, "again"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it.for<[problem: string, answer: unknown]>([
    ["messages must be array", { role: "user" }],
    ["messages.0 must have required property 'content'", [{ role: "user" }]],
    ["messages.0.role must be one of user, assistant", [{ role: "system", content: [] }]],
    ["messages.0.content must be array", [{ role: "user", content: "Be brief." }]],
    [
      "messages.0.content.0.type must be one of text, image, thinking, tool_use, tool_result",
      [{ role: "user", content: [{ type: "note" }] }],
    ],
    ["messages.0.content.0 must have required property 'text'", [{ role: "user", content: [{ type: "text" }] }]],
  ])("a preModel that answers something else than messages ends the turn: %s", async ([problem, answer]) => {
    const { model, events } = await turn({ preModel: [() => answer as never] });
    expect(model.calls).toHaveLength(0);
    const message = expect.stringContaining(`preModel.0 answered something else than messages: ${problem}`);
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "ERROR", detail: "hook_failed", message }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
  });

  it("a preModel that answers what no provider can be sent ends the turn, and its own name stands in the error", async () => {
    const input = { count: 1n } as never;
    const { model, events } = await turn({
      preModel: [() => [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "b", input }] }], () => undefined],
    });
    expect(model.calls).toHaveLength(0);
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ message: expect.stringMatching(/preModel\.0 failed: .*BigInt/) }]);
  });

  it("what a preModel does later to the messages that it answered changes nothing", async () => {
    const own: { role: "user"; content: { type: "text"; text: string }[] }[] = [];
    const { model } = await turn({
      preModel: [
        (_step, messages) => {
          own.splice(0);
          own.push({ role: "user", content: [{ type: "text", text: `${messages.length} messages` }] });
          return own;
        },
        () => void own.splice(0),
      ],
    });
    expect(model.calls.map(({ request }) => request.messages)).toEqual([
      [{ role: "user", content: [{ type: "text", text: "1 messages" }] }],
      [{ role: "user", content: [{ type: "text", text: "3 messages" }] }],
    ]);
  });

  it("postModel sees each answer; one that throws is reported, and the turn is complete", async () => {
    const seen: unknown[] = [];
    const { client, agent, events } = await turn({
      postModel: [
        (step, answer) => {
          seen.push([step.step, answer.stopReason]);
          throw new Error("hook bug");
        },
      ],
    });
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(textOf(events)).toBe("Done.");
    const reported = ofType(await client.until(agent.id, "ERROR"), "ErrorRaised");
    expect(reported.length).toBeGreaterThan(0);
    expect(reported[0]).toMatchObject({
      severity: "WARN",
      detail: "hook_failed",
      message: expect.stringContaining("postModel.0"),
    });
    // The hook of the last step runs once the turn has ended.
    await expect
      .poll(() => seen)
      .toEqual([
        [1, "tool_use"],
        [2, "end_turn"],
      ]);
  });

  it("what a messagesChanged does to the messages that it is shown changes nothing for the next one", async () => {
    const lengths: number[] = [];
    const { events } = await turn({
      messagesChanged: [
        (_agent, messages) => void (messages as unknown[]).splice(0),
        (_agent, messages) => void lengths.push(messages.length),
      ],
    });
    expect(ofType(events, "Done")).toHaveLength(1);
    await expect.poll(() => lengths).toEqual([1, 2, 3, 4]);
  });

  it("messagesChanged is shown the conversation each time that it has grown, beside the turn", async () => {
    const lengths: number[] = [];
    const told: unknown[] = [];
    const { events } = await turn({
      messagesChanged: [
        (agent, messages) => {
          told.push(agent);
          lengths.push(messages.length);
        },
      ],
      preModel: [(step) => void told.push(step)],
    });
    expect(ofType(events, "Done")).toHaveLength(1);
    await expect.poll(() => lengths).toEqual([1, 2, 3, 4]);
    for (const agent of told)
      expect(agent).toMatchObject({
        tenant: "local",
        agentId: expect.any(String),
        createdBy: "local",
        templateId: "assistant",
      });
  });
});
