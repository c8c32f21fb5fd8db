import { describe, expect, it } from "vitest";
import { ModelError, NO_TOKENS, type Model, type ModelErrorKind, type ModelEvent } from "../../../src/agent/models/model.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import type { TemplateConfig } from "../../../src/config/template-settings.ts";
import { settingsWith } from "../../support/template-settings.ts";
import { ownTool } from "../../support/tools.ts";

const SCRIPTED = { provider: "scripted", script: { replies: [{ when: {} }] } } as const;

async function clientOf(first: Model, second: Model, mode: "auto" | "approval" = "auto", name = "the second") {
  const app = await startTestApp({
    template: { fallbackModel: "second", modelRetries: 1, modelRetryMs: 1, permission: { mode } },
    config: {
      models: { test: SCRIPTED, second: SCRIPTED },
      tools: [ownTool("look", () => Promise.resolve({ output: "seen", details: null }))],
    },
    overrides: {
      models: new Map([
        ["test", first],
        ["second", { ...second, name }],
      ]),
    },
  });
  const client = connect(app.url);
  return { client, agent: await client.createAgent() };
}

async function* ends(stopReason: "refusal"): AsyncGenerator<ModelEvent> {
  yield { type: "end", stopReason, usage: NO_TOKENS };
}

/** Fails as the provider does that is overloaded. */
function overloaded(): never {
  throw new ModelError("overloaded", "the model's provider answered 529: Overloaded");
}

describe("a template with a second model", () => {
  it("has the rest of the turn answered by it if the first one cannot, and asks the first one again in the next turn", async () => {
    const first = playedModel(
      () => calls("look"),
      overloaded,
      overloaded,
      () => says("I am back."),
    );
    const second = playedModel(
      () => calls("look"),
      () => says("I saw it."),
    );
    const { client, agent } = await clientOf(first, second);
    const events = await client.turn(agent.id, "look");
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      { severity: "WARN", detail: "overloaded", message: expect.stringContaining("made again") },
      {
        severity: "WARN",
        phase: "MODEL",
        detail: "overloaded",
        message: expect.stringContaining("the rest of the turn is answered by"),
      },
    ]);
    expect(ofType(events, "ToolEnd")).toHaveLength(2);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect([first.calls.length, second.calls.length]).toEqual([3, 2]);
    expect(JSON.stringify(second.calls[0]?.request.messages)).toContain("seen");
    expect(textOf(await client.turn(agent.id, "again"))).toBe("I am back.");
  });

  it("goes on by it after an approval, under another lease", async () => {
    const first = playedModel(overloaded);
    const second = playedModel(
      () => calls("look"),
      () => says("I saw it."),
    );
    const { client, agent } = await clientOf(first, second, "approval");
    await client.send(agent.id, "look");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    const { approvalId = "", inputHash = "" } = required?.request ?? {};
    await client.decide({ approvalId, inputHash, decision: "ALLOW" });
    expect(textOf(await client.until(agent.id, "DONE"))).toBe("I saw it.");
    expect([first.calls.length, second.calls.length]).toEqual([2, 2]);
  });

  it("is found by its name in the configuration, also if it is shown by the same name as the first", async () => {
    const second = playedModel(() => says("I answer."));
    const { client, agent } = await clientOf(playedModel(overloaded), second, "auto", playedModel().name);
    const events = await client.turn(agent.id, "look");
    expect(textOf(events)).toBe("I answer.");
    expect(ofType(events, "ErrorRaised").at(-1)).toMatchObject({
      message: expect.stringContaining("the rest of the turn is answered by second"),
    });
  });

  it("ends the turn with an error where neither answers", async () => {
    const { client, agent } = await clientOf(playedModel(overloaded), playedModel(overloaded));
    const events = await client.turn(agent.id, "look");
    expect(ofType(events, "ErrorRaised").at(-1)).toMatchObject({ severity: "ERROR", detail: "overloaded" });
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
  });
});

describe("fallbacks by failure", () => {
  const failing = (kind: ModelErrorKind) => (): never => {
    throw new ModelError(kind, `it fails: ${kind}`);
  };

  async function clientWith(
    fallbacks: NonNullable<TemplateConfig["fallbacks"]>,
    models: Readonly<Record<string, Model>>,
    more: object = {},
  ) {
    const app = await startTestApp({
      template: { fallbacks, modelRetries: 0, ...more },
      config: { models: Object.fromEntries(Object.keys(models).map((name) => [name, SCRIPTED])) },
      overrides: { models: new Map(Object.entries(models).map(([name, model]) => [name, { ...model, name }])) },
    });
    const client = connect(app.url);
    return { client, agent: await client.createAgent() };
  }

  it("answer in their order, each once a turn, only after failures that they name", async () => {
    const test = playedModel(failing("overloaded"));
    const other = playedModel(() => says("never"));
    const second = playedModel(failing("rejected"));
    const third = playedModel(failing("overloaded"));
    const { client, agent } = await clientWith(
      [
        { on: ["refused"], model: "other" },
        { on: ["overloaded"], model: "second" },
        { on: ["rejected", "overloaded"], model: "third" },
      ],
      { test, other, second, third },
    );
    const events = await client.turn(agent.id, "hello");
    expect(ofType(events, "ErrorRaised").map(({ severity, detail }) => `${severity} ${detail}`)).toEqual([
      "WARN overloaded",
      "WARN rejected",
      "ERROR overloaded",
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    expect([test, other, second, third].map((model) => model.calls.length)).toEqual([1, 0, 1, 1]);
    await client.turn(agent.id, "again");
    expect(test.calls).toHaveLength(2);
  });

  it("answer after a refusal where they name it, and `fallbackModel` does not", async () => {
    const refuses = () => ends("refusal");
    const models = { test: playedModel(refuses), second: playedModel(() => says("I do.")) };
    const named = await clientWith([{ on: ["refused"], model: "second" }], models);
    expect(textOf(await named.client.turn(named.agent.id, "hello"))).toBe("I do.");
    const unnamed = await clientWith([], models, { fallbackModel: "second" });
    expect(ofType(await unnamed.client.turn(unnamed.agent.id, "hello"), "Done")).toMatchObject([{ reason: "ERROR" }]);
  });

  it("answer a request that is too long before it is shortened, where they name that", async () => {
    const test = playedModel(failing("too_long"));
    const second = playedModel(() => says("I read all of it."));
    const { client, agent } = await clientWith([{ on: ["too_long"], model: "second" }], { test, second });
    const text = "x".repeat(20_000);
    expect(textOf(await client.turn(agent.id, text))).toBe("I read all of it.");
    expect(JSON.stringify(second.calls[0]?.request.messages)).toContain(text);
    expect(test.calls).toHaveLength(1);
  });

  it("are refused at the start if there is no such model", async () => {
    await expect(settingsWith({ fallbacks: [{ on: ["broken"], model: "gone" }] })).rejects.toThrow(
      'templates.t.fallbacks.0.model: there is no model "gone"',
    );
  });
});

describe("what takes long", () => {
  it("is an ERROR of severity warn: a slow step and a slow tool, over the limits of the template", async () => {
    const slow = ownTool(
      "look",
      () => new Promise((resolve) => setTimeout(() => resolve({ output: "seen", details: null }), 30)),
    );
    const model = playedModel(
      () => calls("look"),
      async function* () {
        await new Promise((resolve) => setTimeout(resolve, 30));
        yield* says("At last.");
      },
    );
    const app = await startTestApp({
      model,
      config: { tools: [slow] },
      template: { slowStepMs: 20, slowToolMs: 20, permission: { mode: "auto" } },
    });
    const client = connect(app.url);
    const events = await client.turn((await client.createAgent()).id, "look");
    // On a busy machine the first step may be slow too.
    const raised = ofType(events, "ErrorRaised").filter(({ message }) => message?.startsWith("step 1 ") !== true);
    expect(raised).toMatchObject([
      {
        severity: "WARN",
        phase: "TOOL",
        detail: "slow_tool",
        message: expect.stringMatching(/^look took \d+ ms; the limit is 20$/),
      },
      {
        severity: "WARN",
        phase: "MODEL",
        detail: "slow_step",
        message: expect.stringMatching(/^step 2 by .* took \d+ ms; the limit is 20$/),
      },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });
});
