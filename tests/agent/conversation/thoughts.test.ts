import { expect, it } from "vitest";
import { ModelError, NO_TOKENS, type ModelEvent } from "../../../src/agent/models/model.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";
import { loseLeases, SHORT_LEASES } from "../../support/lost-leases.ts";
import { playedModel, says } from "../../support/models.ts";

const THOUGHT: readonly ModelEvent[] = [
  { type: "thinking_start", block: 0 },
  { type: "thinking_delta", block: 0, text: "Hm, well." },
  { type: "thinking_end", block: 0, signature: null, redacted: null },
];

it("a thought has ended as soon as it is over, while the answer is still being said", async () => {
  const rest = Promise.withResolvers<void>();
  const app = await startTestApp({
    template: { exposeThinking: true },
    model: playedModel(async function* (): AsyncGenerator<ModelEvent> {
      yield* THOUGHT;
      yield { type: "text_start", block: 1 };
      yield { type: "text_delta", block: 1, text: "Hello" };
      await rest.promise;
      yield { type: "end", stopReason: "end_turn", usage: NO_TOKENS };
    }),
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "hi");
  const during = await client.until(agent.id, "TEXT_CHUNK");
  expect(ofType(during, "ThinkChunkEnd")).toMatchObject([{ block: 0, text: "Hm, well.", aborted: false }]);
  rest.resolve();
  const events = await client.until(agent.id, "DONE");
  const kinds = events.map(({ kind }) => kind).filter((kind) => /_(START|END)$/.test(kind));
  expect(kinds).toEqual(["THINK_CHUNK_START", "THINK_CHUNK_END", "TEXT_CHUNK_START", "TEXT_CHUNK_END"]);
});

it("a call that breaks off after a thought is made again as a new step: the thought is in the log", async () => {
  const model = playedModel(
    async function* (): AsyncGenerator<ModelEvent> {
      yield* THOUGHT;
      await Promise.resolve();
      throw new ModelError("overloaded", "the model's provider answered 529: Overloaded");
    },
    () => says("Hello."),
  );
  const app = await startTestApp({ template: { exposeThinking: true, modelRetries: 1, modelRetryMs: 1 }, model });
  const client = connect(app.url);
  const events = await client.turn((await client.createAgent()).id, "hi");
  expect(ofType(events, "ThinkChunkEnd")).toMatchObject([{ step: 1, block: 0, aborted: false }]);
  expect(ofType(events, "TextChunkEnd")).toMatchObject([{ step: 2, block: 0, text: "Hello." }]);
  expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
});

it("a thought that was over ends once, also if its server is lost while the answer is said; it is paid for", async () => {
  const app = await startTestApp({
    template: { exposeThinking: true },
    model: playedModel(
      async function* (): AsyncGenerator<ModelEvent> {
        yield* THOUGHT;
        yield { type: "text_start", block: 1 };
        yield { type: "text_delta", block: 1, text: "Hel" };
        await new Promise<never>(() => {});
      },
      () => says("Hello."),
    ),
    overrides: { leaseTimes: SHORT_LEASES },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "hi");
  await client.until(agent.id, "TEXT_CHUNK");
  await loseLeases(app);
  const events = await client.until(agent.id, "DONE");
  expect(ofType(events, "ThinkChunkEnd")).toMatchObject([{ step: 1, block: 0, aborted: false }]);
  expect(ofType(events, "TextChunkEnd")).toMatchObject([
    { step: 1, block: 1, text: "Hel", aborted: true },
    { step: 2, text: "Hello.", aborted: false },
  ]);
  expect(textOf(events)).toContain("Hello.");
  // 9 characters of thought and 3 of text.
  expect(ofType(events, "TokensUsed")[0]).toMatchObject({ step: 1, outputTokens: 3 });
});
