import { setImmediate as macrotask } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { CancelledModelCalls } from "../../../src/agent/conversation/request-room.ts";
import type { AgentServices } from "../../../src/agent/loop/scope.ts";
import { ModelError, NO_TOKENS, type ModelEvent } from "../../../src/agent/models/model.ts";
import { EventLog } from "../../../src/events/log.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent, permissionOf, type HeldAgent } from "../../support/held-agent.ts";
import { bodies, everything, readAll } from "../../support/log.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import { testServices } from "../../support/services.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { testTemplate } from "../../support/template.ts";
import { ownTool } from "../../support/tools.ts";
import { aroundWrites } from "../../support/writes.ts";

/** So long a commit is held, in ms: longer than a model takes that answers at once. */
const HELD_MS = 300;

const TOOL = ownTool("own", () => ({ output: "ran", details: null }));

/** An agent whose second step is about to be committed, and holds still there. */
type AtSecondStep = {
  readonly services: AgentServices;
  readonly agent: HeldAgent;
  readonly model: ReturnType<typeof playedModel>;
  /** Resolves when the commit of the second step is about to be made. */
  readonly reached: Promise<void>;
  /** Makes the commit. */
  readonly go: () => void;
  /** Resolves with the end of the loop. */
  readonly run: () => Promise<string>;
  readonly steal: () => Promise<void>;
  /** What the server's log says of calls that nobody heard. */
  readonly warnings: readonly string[];
};

async function atSecondStep(
  second: () => AsyncIterable<ModelEvent>,
  hooks: Partial<ReturnType<typeof testTemplate>["hooks"]> = {},
  tool = TOOL,
): Promise<AtSecondStep> {
  const { sql } = await testDatabase();
  const reached = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  let steps = 0;
  const holding = aroundWrites(sql, async ({ change, isFenced }, write) => {
    if (isFenced && change?.stepStart !== undefined) steps += 1;
    if (isFenced && change?.stepStart !== undefined && steps === 2) {
      reached.resolve();
      await go.promise;
    }
    return write();
  });
  const model = playedModel(() => calls("own"), second);
  const template = { permission: permissionOf({ mode: "auto" }), hooks: { ...testTemplate().hooks, ...hooks }, modelRetryMs: 1 };
  const warnings: string[] = [];
  const cancelledModelCalls = new CancelledModelCalls({ ...silentLogger, warn: (message) => void warnings.push(message) });
  const services = { ...testServices(holding, model, [tool], template), log: new EventLog(holding), cancelledModelCalls };
  const agent = await heldAgent(services);
  await agent.send("go");
  const loop = await agent.hold();
  return {
    services,
    agent,
    model,
    warnings,
    reached: reached.promise,
    go: () => go.resolve(),
    run: () => loop.run(),
    steal: async () =>
      void (await sql.query(
        { name: "steal", text: "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = 'other' WHERE id = $1" },
        [agent.agentId],
      )),
  };
}

async function* counted(): AsyncGenerator<ModelEvent> {
  yield { type: "counted", usage: { ...NO_TOKENS, inputTokens: 7 } };
  yield* says("Nobody hears this.");
}

describe("a model call that begins while its step is being committed", () => {
  it("is made with the results of the calls, and heard only after the commit (invariant 1)", async () => {
    const held = await atSecondStep(() => says("Done."));
    const ending = held.run();
    await held.reached;
    while (held.model.calls.length < 2) await macrotask();
    const request = held.model.calls[1]?.request.messages;
    expect(request?.at(-1)).toMatchObject({ role: "user", content: [{ type: "tool_result", content: "ran" }] });
    for (const began = performance.now(); performance.now() - began < HELD_MS;) await macrotask();
    expect(bodies(await readAll(held.services.log, everything("one")), "TEXT_CHUNK")).toEqual([]);
    held.go();
    expect(await ending).toBe("parked");
    expect(bodies(await readAll(held.services.log, everything("one")), "TEXT_CHUNK")).toMatchObject([
      { step: 2, delta: "Done." },
    ]);
    expect(held.services.cancelledModelCalls.count).toBe(0);
  });

  it("is ended if the commit is refused: nothing of it is seen, what it cost is counted (invariant 4)", async () => {
    const held = await atSecondStep(counted);
    const ending = held.run();
    await held.reached;
    while (held.model.calls.length < 2) await macrotask();
    await held.steal();
    held.go();
    expect(await ending).toBe("lost");
    expect(held.model.calls[1]?.signal.aborted).toBe(true);
    const events = await readAll(held.services.log, everything("one"));
    expect(bodies(events, "TEXT_CHUNK_START")).toEqual([]);
    expect(events.some(({ body }) => "step" in body && body.step === 2)).toBe(false);
    expect([held.services.cancelledModelCalls.count, held.services.cancelledModelCalls.tokens]).toEqual([1, 7]);
    expect(held.warnings).toEqual([
      expect.stringMatching(/^the model call of step 2 of agent \S+ had begun .* 7 tokens were counted$/),
    ]);
  });

  it("is one deep: no tool of its answer starts, and no third call begins, before the commit (invariant 5)", async () => {
    let asked = 0;
    let ran = 0;
    const held = await atSecondStep(
      () => {
        asked += 1;
        return asked === 1 ? calls("own") : says("Done.");
      },
      {},
      ownTool("own", () => {
        ran += 1;
        return { output: "ran", details: null };
      }),
    );
    const ending = held.run();
    await held.reached;
    while (held.model.calls.length < 2) await macrotask();
    for (let turns = 0; turns < 20; turns += 1) await macrotask();
    expect([asked, ran]).toEqual([1, 1]);
    held.go();
    expect(await ending).toBe("parked");
    expect([asked, ran]).toEqual([2, 2]);
  });

  it("that fails before the commit is made again after it", async () => {
    let tries = 0;
    const held = await atSecondStep(() => {
      tries += 1;
      if (tries === 1) throw new ModelError("overloaded", "busy");
      return says("Done.");
    });
    const ending = held.run();
    await held.reached;
    while (held.model.calls.length < 2) await macrotask();
    for (let turns = 0; turns < 20; turns += 1) await macrotask();
    expect(bodies(await readAll(held.services.log, everything("one")), "ERROR")).toEqual([]);
    expect(held.model.calls).toHaveLength(2);
    held.go();
    expect(await ending).toBe("parked");
  });

  it("waits for the commit if a preModel hook would see it", async () => {
    const held = await atSecondStep(() => says("Done."), { preModel: [{ place: "a template", run: () => undefined }] });
    const ending = held.run();
    await held.reached;
    for (let turns = 0; turns < 20; turns += 1) await macrotask();
    expect(held.model.calls).toHaveLength(1);
    held.go();
    expect(await ending).toBe("parked");
    expect(held.model.calls).toHaveLength(2);
  });
});
