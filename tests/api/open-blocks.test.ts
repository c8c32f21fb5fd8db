import { expect, it } from "vitest";
import { NO_TOKENS, type ModelEvent } from "../../src/agent/models/model.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { playedModel } from "../support/models.ts";

type Open = { readonly step: number; readonly block: number; readonly isThinking: boolean; readonly text: string };

it("an agent shows the text that is being written at its cursor: what comes since goes on with it, and nothing twice", async () => {
  const words = ["Once ", "upon ", "a ", "time."];
  const steps = words.map(() => Promise.withResolvers<void>());
  const app = await startTestApp({
    template: { exposeThinking: true },
    model: playedModel(async function* (): AsyncGenerator<ModelEvent> {
      yield { type: "thinking_start", block: 0 };
      yield { type: "thinking_delta", block: 0, text: "hm" };
      yield { type: "text_start", block: 1 };
      for (const [index, word] of words.entries()) {
        await steps[index]?.promise;
        yield { type: "text_delta", block: 1, text: word };
      }
      yield { type: "end", stopReason: "end_turn", usage: NO_TOKENS };
    }),
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  const look = async (): Promise<{ cursor: string; openBlocks: Open[] }> => {
    const { data, errors } = await client.post<{ agent: { cursor: string; openBlocks: Open[] } }>({
      query: `{ agent(id: ${JSON.stringify(agent.id)}) { cursor openBlocks { step block isThinking text } } }`,
    });
    if (data === null) throw new Error(JSON.stringify(errors));
    return data.agent;
  };
  expect((await look()).openBlocks).toEqual([]);
  await client.send(agent.id, "tell");
  const seen: { cursor: string; openBlocks: Open[] }[] = [];
  // The last word ends the answer, and nothing is open then.
  for (const [index, step] of steps.slice(0, -1).entries()) {
    step.resolve();
    const said = words.slice(0, index + 1).join("");
    await expect.poll(async () => seen[seen.push(await look()) - 1]?.openBlocks[1]?.text).toBe(said);
  }
  steps.at(-1)?.resolve();
  await client.until(agent.id, "DONE");
  expect((await look()).openBlocks).toEqual([]);
  const during = seen.filter(({ openBlocks }) => openBlocks.length === 2);
  expect(during.length).toBeGreaterThanOrEqual(3);
  for (const { cursor, openBlocks } of during) {
    expect(openBlocks[0]).toEqual({ step: 1, block: 0, isThinking: true, text: "hm" });
    const rest = ofType(await client.until(agent.id, "DONE", cursor), "TextChunk").map(({ delta }) => delta);
    expect(`${openBlocks[1]?.text}${rest.join("")}`).toBe("Once upon a time.");
  }
});
