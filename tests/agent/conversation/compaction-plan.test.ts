import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clearing, shortening, summarising, windowAfter, type Fill } from "../../../src/agent/conversation/compaction-plan.ts";
import type { StoredBlock } from "../../../src/agent/conversation/images.ts";
import { CONTEXT_SETTINGS } from "../../../src/agent/conversation/scope.ts";
import { modelMessages } from "../../../src/agent/conversation/transcript.ts";
import {
  NOT_COMPACTED,
  weightOfAll,
  windowOf,
  type Compacted,
  type TranscriptMessage,
} from "../../../src/agent/conversation/window.ts";
import type { ContentBlock } from "../../../src/agent/models/model.ts";
import { complete } from "../../../src/lib/setting.ts";
import { problemOf } from "../../support/windowed-model.ts";

type Part =
  | { readonly kind: "turn"; readonly words: number; readonly hasImage: boolean }
  | { readonly kind: "step"; readonly calls: number; readonly output: number; readonly note: boolean; readonly joins: boolean };

const PART: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ kind: fc.constant("turn" as const), words: fc.integer({ min: 1, max: 4_000 }), hasImage: fc.boolean() }),
  fc.record({
    kind: fc.constant("step" as const),
    calls: fc.integer({ min: 1, max: 3 }),
    output: fc.integer({ min: 0, max: 6_000 }),
    note: fc.boolean(),
    joins: fc.boolean(),
  }),
);

const CONVERSATION = fc.array(PART, { minLength: 1, maxLength: 40 }).map(conversation);

/** A conversation of turns with steps, in which notes of the server and messages of people join. It ends before a step. */
function conversation(parts: readonly Part[]): readonly TranscriptMessage[] {
  const messages: TranscriptMessage[] = [];
  const add = (kind: TranscriptMessage["kind"], isOfPerson: boolean, content: readonly StoredBlock[]): void =>
    void messages.push({
      ordinal: messages.length,
      kind,
      isOfPerson,
      content,
      bytes: Buffer.byteLength(JSON.stringify(content)),
    });
  const says = (words: number): StoredBlock => ({ type: "text", text: `words ${messages.length} ${"w".repeat(words)}` });
  add("USER", true, [says(10)]);
  for (const part of parts) {
    if (part.kind === "turn") {
      if (messages.at(-1)?.kind !== "ASSISTANT") add("ASSISTANT", false, [says(20)]);
      const image = { type: "image", source: { type: "kept", media_type: "image/png", digest: "d", bytes: 100 } } as const;
      add("USER", true, part.hasImage ? [image, says(part.words)] : [says(part.words)]);
      continue;
    }
    const ids = Array.from({ length: part.calls }, (_, index) => `call ${messages.length} ${index}`);
    add(
      "ASSISTANT",
      false,
      ids.map((id) => ({ type: "tool_use", id, name: "read", input: {} })),
    );
    add(
      "TOOL_RESULTS",
      false,
      ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "o".repeat(part.output), is_error: false })),
    );
    if (part.note) add("USER", false, [says(30)]);
    if (part.joins) add("USER", true, [says(50)]);
  }
  return messages;
}

/** The messages as a model reads them, with an image as it is sent. */
function sent(window: readonly TranscriptMessage[]) {
  const image: ContentBlock = { type: "image", source: { type: "base64", media_type: "image/png", data: "" } };
  return modelMessages(
    window.map(({ kind, content }) => ({ kind, content: content.map((block) => (block.type === "image" ? image : block)) })),
  );
}

function fillOf(messages: readonly TranscriptMessage[], compacted: Compacted, limit: number | null): Fill {
  const tokens = Math.round(weightOfAll(windowOf(messages, compacted, null)) / 4);
  const settings = { ...complete(CONTEXT_SETTINGS, {}), keepRecentTokens: 1_000 };
  return { loaded: { messages, compacted }, size: null, settings, limit, tokens, tokensPerByte: 1 / 4, overhead: 0 };
}

type Method = "clear" | "summarise" | "shorten";

/** The state after one compaction; the same if it is not possible. */
function compact(fill: Fill, method: Method): Compacted {
  const { compacted } = fill.loaded;
  if (method === "clear") return { ...compacted, clearedTo: clearing(fill)?.to ?? compacted.clearedTo };
  const covered = method === "summarise" ? summarising(fill, true) : shortening(fill);
  if (covered === null) return compacted;
  const texts = { summary: method === "summarise" ? "A summary." : compacted.summary, restated: "[state]" };
  return { ...compacted, ...texts, to: covered.to, wordsFrom: windowAfter(fill, covered, texts).wordsFrom };
}

describe("the window, whatever was compacted in whatever order", () => {
  const methods = fc.array(fc.constantFrom<Method>("clear", "summarise", "shorten"), { maxLength: 6 });
  const limits = fc.option(fc.integer({ min: 2_000, max: 20_000 }), { nil: null });

  it("has each call with its result, begins with a user's message, and has the newest task and the newest message", () => {
    fc.assert(
      fc.property(CONVERSATION, methods, limits, (messages, order, limit) => {
        let compacted = NOT_COMPACTED;
        for (const method of order) compacted = compact(fillOf(messages, compacted, limit), method);
        const window = windowOf(messages, compacted, null);
        expect(problemOf({ messages: sent(window) })).toBeNull();
        const task = messages.findLast(({ isOfPerson }) => isOfPerson);
        expect(window.map(({ ordinal, isOfPerson }) => isOfPerson && ordinal)).toContain(task?.ordinal);
        expect(window.at(-1)?.ordinal).toBe(messages.at(-1)?.ordinal);
      }),
      { numRuns: 500 },
    );
  });

  it("is the same of a conversation of which only the part is loaded that a server reads", () => {
    fc.assert(
      fc.property(CONVERSATION, methods, (messages, order) => {
        let compacted = NOT_COMPACTED;
        for (const method of order) compacted = compact(fillOf(messages, compacted, 5_000), method);
        const task = messages.findLast(({ isOfPerson }) => isOfPerson);
        const { to, wordsFrom } = compacted;
        const loaded = messages.filter(
          (message) => message.ordinal > to || message === task || (message.isOfPerson && message.ordinal >= wordsFrom),
        );
        expect(windowOf(loaded, compacted, null)).toEqual(windowOf(messages, compacted, null));
      }),
    );
  });

  it("keeps the words of people verbatim, the newest first, up to an eighth of the window", () => {
    fc.assert(
      fc.property(CONVERSATION, (messages) => {
        const fill = fillOf(messages, NOT_COMPACTED, 20_000);
        const covered = summarising(fill, false);
        if (covered === null) return;
        const compacted = compact(fill, "summarise");
        const text = JSON.stringify(windowOf(messages, compacted, null));
        const words = messages.filter(({ isOfPerson, ordinal }) => isOfPerson && ordinal <= compacted.to);
        const kept = words.filter(({ ordinal }) => text.includes(`words ${ordinal} `));
        expect(kept.slice(-1)).toEqual(words.slice(-1).filter((newest) => kept.includes(newest)));
        const task = messages.findLast(({ isOfPerson }) => isOfPerson);
        const bytes = kept.reduce((sum, message) => sum + (message === task ? 0 : message.bytes), 0);
        expect(bytes).toBeLessThanOrEqual((20_000 * 4) / 8);
      }),
    );
  });
});

describe("a window that is too long for its model", () => {
  const step = (number: number, output: number): Part => ({ kind: "step", calls: 1, output, note: number === 3, joins: false });

  it("is shortened around its task until it is read", () => {
    const messages = conversation([
      { kind: "turn", words: 300_000, hasImage: false },
      ...Array.from({ length: 20 }, (_, index) => step(index, 55_000)),
    ]);
    let compacted = NOT_COMPACTED;
    let refusals = 0;
    while (weightOfAll(windowOf(messages, compacted, null)) > 500_000) {
      compacted = compact(fillOf(messages, compacted, null), "shorten");
      refusals += 1;
    }
    expect(refusals).toBe(2);
    const window = windowOf(messages, compacted, null);
    expect(window[1]).toBe(messages[2]);
    expect(window.slice(-2)).toEqual(messages.slice(-2));
  });

  it("cannot be shortened if its task alone is too long, or the newest step", () => {
    const alone = conversation([{ kind: "turn", words: 60_000, hasImage: false }]).slice(2);
    expect(shortening(fillOf(alone, NOT_COMPACTED, null))).toBeNull();
    const newest = conversation([step(0, 60_000)]);
    expect(compact(fillOf(newest, NOT_COMPACTED, null), "shorten")).toMatchObject({ to: 0 });
    expect(shortening(fillOf(newest, compact(fillOf(newest, NOT_COMPACTED, null), "shorten"), null))).toBeNull();
  });
});
