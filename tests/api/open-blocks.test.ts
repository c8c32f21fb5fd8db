import { expect, it } from "vitest";
import { NO_TOKENS, type ModelEvent } from "../../src/agent/models/model.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { aroundStatements } from "../support/statements.ts";
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

it("what is read beside the cursor and what comes since tell each answer once, by the rule of docs/frontend.md", async () => {
  const going = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  const isBetween = Promise.withResolvers<void>();
  let isHeld = false;
  const app = await startTestApp({
    model: playedModel(async function* (): AsyncGenerator<ModelEvent> {
      yield { type: "text_start", block: 0 };
      yield { type: "text_delta", block: 0, text: "Once upon " };
      await going.promise;
      yield { type: "text_delta", block: 0, text: "a time." };
      yield { type: "end", stopReason: "end_turn", usage: NO_TOKENS };
    }),
    overrides: {
      sql: (sql) =>
        aroundStatements(sql, async (statement, run) => {
          const rows = await run();
          if (!isHeld || statement.name !== "read_head") return rows;
          // The answer ends between the cursor and what is read beside it.
          isHeld = false;
          isBetween.resolve();
          going.resolve();
          await late.promise;
          return rows;
        }),
    },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "tell");
  await client.until(agent.id, "TEXT_CHUNK");
  isHeld = true;
  type Snapshot = {
    cursor: string;
    openBlocks: Open[];
    messages: { nodes: { kind: string; step: number | null; text: string }[] };
  };
  const asked = client.post<{ agent: Snapshot }>({
    query: `{ agent(id: ${JSON.stringify(agent.id)}) { cursor openBlocks { step block isThinking text } messages(last: 50) { nodes { kind step text } } } }`,
  });
  // Only then does somebody else read the head.
  await isBetween.promise;
  await client.until(agent.id, "DONE");
  late.resolve();
  const { data } = await asked;
  if (data === null) throw new Error("nothing was answered");
  const { cursor, openBlocks, messages } = data.agent;
  const told = new Set(messages.nodes.map(({ step }) => step));
  expect(openBlocks.map(({ text }) => text)).toEqual(["Once upon "]);
  const later = ofType(await client.until(agent.id, "DONE", cursor), "TextChunk");
  const shown = [
    ...messages.nodes.filter(({ kind }) => kind === "ASSISTANT").map(({ text }) => text),
    ...openBlocks.filter(({ step }) => !told.has(step)).map(({ text }) => text),
    ...later.filter(({ step }) => !told.has(step)).map(({ delta }) => delta),
  ];
  expect(shown.join("")).toBe("Once upon a time.");
});
