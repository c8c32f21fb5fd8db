import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoredBlock } from "../../../src/agent/conversation/images.ts";
import {
  contextWindow,
  modelMessages,
  withinImageBudget,
  type TranscriptMessage,
} from "../../../src/agent/conversation/transcript.ts";

/** A transcript of turns, each with so many tool steps. */
function transcript(toolSteps: readonly number[]): TranscriptMessage[] {
  const kinds = toolSteps.flatMap(
    (steps) =>
      [
        "USER",
        ...Array.from({ length: steps }, () => ["ASSISTANT", "TOOL_RESULTS"]).flat(),
        "ASSISTANT",
      ] as TranscriptMessage["kind"][],
  );
  return kinds.map((kind, ordinal) => ({ ordinal, kind, content: [{ type: "text", text: `${ordinal}` }], bytes: 1 }));
}

const turns = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 40 });

describe("contextWindow", () => {
  it("is everything while it fits", () => {
    const messages = transcript([1, 1]);
    expect(contextWindow(messages, 8)).toEqual(messages);
  });

  it("begins with a person's message, ends with the newest, and separates no call from its result", () => {
    fc.assert(
      fc.property(turns, fc.integer({ min: 4, max: 40 }), (steps, size) => {
        const messages = transcript(steps);
        const window = contextWindow(messages, size);
        expect(window[0]?.kind).toBe("USER");
        expect(window.at(-1)).toBe(messages.at(-1));
        const turnSize = Math.max(...steps) * 2 + 2;
        expect(window.length).toBeLessThanOrEqual(Math.max(size, turnSize) + turnSize);
      }),
    );
  });

  it("keeps the task and the newest results if a message joins late in a long turn", () => {
    const messages = [...transcript([200]).slice(0, -1), { ordinal: 401, kind: "USER", content: [], bytes: 0 } as const];
    const window = contextWindow(messages, 200);
    expect(window[0]?.ordinal).toBe(0);
    expect(window.length).toBe(402);
  });

  it("moves in steps, so that most consecutive calls share their beginning (prompt caching)", () => {
    const all = transcript(Array.from({ length: 200 }, () => 0));
    const starts = Array.from({ length: 300 }, (_, index) => contextWindow(all.slice(0, 60 + index), 40)[0]?.ordinal);
    const moves = starts.filter((start, index) => index > 0 && start !== starts[index - 1]).length;
    expect(moves).toBeLessThanOrEqual(31);
  });
});

describe("modelMessages", () => {
  it("makes neighbours of one role one message", () => {
    const messages = modelMessages([
      { kind: "USER", content: [{ type: "text", text: "a" }] },
      { kind: "USER", content: [{ type: "text", text: "b" }] },
      { kind: "ASSISTANT", content: [{ type: "text", text: "c" }] },
    ]);
    expect(messages.map((message) => [message.role, message.content.length])).toEqual([
      ["user", 2],
      ["assistant", 1],
    ]);
  });
});

it("old images give way to a text if the newest fill the request", () => {
  const image: StoredBlock = {
    type: "image",
    source: { type: "kept", media_type: "image/png", digest: "d", bytes: 6 * 1024 * 1024 },
  };
  const messages = [0, 1, 2].map((ordinal) => ({
    ordinal,
    kind: "USER" as const,
    content: [image, { type: "text" as const, text: "look" }],
    bytes: 200,
  }));
  const kinds = withinImageBudget(messages).map((message) => message.content.map((block) => block.type));
  expect(kinds).toEqual([
    ["text", "text"],
    ["image", "text"],
    ["image", "text"],
  ]);
  expect(withinImageBudget(messages.slice(1))).toEqual(messages.slice(1));
});
