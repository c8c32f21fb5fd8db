import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseScript } from "../../../src/agent/models/script.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";

it("a scripted model thinks first, if its script says what, for frontends that show thinking", async () => {
  const script = { replies: [{ when: {}, think: "A greeting: {{user}}", say: ["Hello."] }] };
  const client = connect((await startTestApp({ script, template: { exposeThinking: true } })).url);
  const events = await client.turn((await client.createAgent()).id, "hi");
  expect(ofType(events, "ThinkChunkEnd")).toMatchObject([{ block: 0, text: "A greeting: hi", aborted: false }]);
  expect(ofType(events, "TextChunkEnd")).toMatchObject([{ block: 1, text: "Hello." }]);
  expect(textOf(events)).toBe("Hello.");
});

it("a scripted model takes what the server tells it in brackets for no person's words", async () => {
  const app = await startTestApp({
    script: {
      replies: [
        { when: { user: "changed" }, say: ["That was the note."] },
        { when: { user: "^read$" }, call: [{ tool: "fs_read", input: { path: "a.txt" } }] },
        { when: { result: "fs_read" }, say: ["It is read."] },
        { when: {}, say: ["You said: {{user}}"] },
      ],
    },
  });
  await writeFile(join(app.workspace, "a.txt"), "one");
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.turn(agent.id, "read");
  await writeFile(join(app.workspace, "a.txt"), "another");
  const events = await client.turn(agent.id, "hello");
  expect(ofType(events, "FileChanged")).toHaveLength(1);
  expect(textOf(events)).toBe("You said: hello");
});

it("a script whose condition would not be looked at is refused, with the field that is wrong", () => {
  const script = { replies: [{ when: { isError: true }, say: ["It failed."] }] };
  expect(() => parseScript("s.json", JSON.stringify(script))).toThrow(
    "s.json: replies.0.when.isError is said of a result, and there is no `result` that names its tool",
  );
});

it("a scripted model has a price, if it is given one, so that costs can be tried", async () => {
  const script = { replies: [{ when: {}, say: ["Hello, and good morning."] }] };
  const app = await startTestApp({
    config: { models: { test: { provider: "scripted", script, price: { input: 1_000, output: 2_000 } } } },
    overrides: { models: new Map() },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  const [used] = ofType(await client.turn(id, "hi"), "TokensUsed");
  expect(used?.costUsd).toBeCloseTo(((used?.inputTokens ?? 0) * 1_000 + (used?.outputTokens ?? 0) * 2_000) / 1e6);
  expect(used?.costUsd).toBeGreaterThan(0);
});

it("a step reports a first token that is no later than its end, although the first output waits for a commit", async () => {
  const replies = [
    { when: { result: "fs_glob" }, say: ["Hello."] },
    { when: {}, call: [{ tool: "fs_glob", input: { pattern: "*" } }] },
  ];
  const client = connect((await startTestApp({ script: { replies } })).url);
  const events = await client.turn((await client.createAgent()).id, "hi");
  const steps = ofType(events, "StepComplete");
  expect(steps).toHaveLength(2);
  for (const { firstTokenMs, durationMs } of steps) expect(firstTokenMs ?? Infinity).toBeLessThanOrEqual(durationMs);
});
