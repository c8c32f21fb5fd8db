import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  NO_TOKENS,
  type Model,
  type ModelEvent,
  NOTHING_SPENT,
  spentOnBroken,
  spentTogether,
} from "../../../src/agent/models/model.ts";
import { InterruptAgentDocument } from "../../generated/documents.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
import { playedModel, says } from "../../support/models.ts";

const PRICE = { input: 1_000, output: 2_000, cacheRead: 0, cacheWrite: 0 };

/** Says that it read 50 tokens, begins to speak, and then never goes on. */
async function* countsAndHangs(): AsyncGenerator<ModelEvent> {
  yield { type: "counted", usage: { ...NO_TOKENS, inputTokens: 50 } };
  yield { type: "text_start", block: 0 };
  yield { type: "text_delta", block: 0, text: "x".repeat(40) };
  await new Promise<never>(() => {});
}

describe("what a model call that broke off used", () => {
  it("is nothing if nothing came; else never less than its provider counted, and marked", () => {
    expect(spentOnBroken(null, 0)).toEqual(NOTHING_SPENT);
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (inputTokens, outputTokens, characters) => {
        const counted = { ...NO_TOKENS, inputTokens, outputTokens };
        const { usage, isEstimated } = spentOnBroken(counted, characters);
        expect(usage.inputTokens).toBe(inputTokens);
        expect(usage.outputTokens).toBe(Math.max(outputTokens, Math.ceil(characters / 4)));
        expect(isEstimated).toBe(true);
        expect(spentTogether(NOTHING_SPENT, { usage, isEstimated })).toEqual({ usage, isEstimated });
      }),
    );
  });

  it("is paid for when the server closes: the next one makes the call again, and knows nothing of it", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
    const first = await startTestApp({ database, model: { ...playedModel(countsAndHangs), price: PRICE } });
    const client = connect(first.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK");
    await first.close();
    const model = { ...playedModel(() => says("Hello.")), price: PRICE };
    const config = { workspaceRoots: [first.workspace], defaultWorkspace: first.workspace };
    const second = connect((await startTestApp({ database, model, config })).url);
    const events = await second.until(agent.id, "DONE");
    expect(ofType(events, "TokensUsed")).toMatchObject([
      { inputTokens: 50, outputTokens: 10, isEstimated: true },
      { inputTokens: 1, outputTokens: 1, isEstimated: false },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect((await second.agent(agent.id)).usage).toMatchObject({ inputTokens: 51, outputTokens: 11 });
  });

  it("is paid for when the turn is interrupted, with its price", async () => {
    const model: Model = { ...playedModel(countsAndHangs, () => says("Hello.")), price: PRICE };
    const app = await startTestApp({ model });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK");
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id } });
    const events = await client.until(agent.id, "DONE");
    const used = { inputTokens: 50, outputTokens: 10, totalTokens: 60, costUsd: 0.07, isEstimated: true };
    expect(ofType(events, "TokensUsed")).toMatchObject([used]);
    expect((await client.agent(agent.id)).usage).toMatchObject(used);
  });
});
