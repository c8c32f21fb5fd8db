import fc from "fast-check";
import { expect, it } from "vitest";
import { hashOfRequest, sentMessage, SentRequests, withChange } from "../../../src/agent/conversation/sent-request.ts";
import type { ContentBlock, ModelMessage, ModelRequest, ToolDescription } from "../../../src/agent/models/model.ts";

const TEXT = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.constantFrom("\0", "\ud800", "é", "\u{1f600}", "\\u0000"));
const BLOCK: fc.Arbitrary<ContentBlock> = fc.oneof(
  TEXT.map((text) => ({ type: "text", text }) as const),
  fc.record({
    type: fc.constant("tool_use" as const),
    id: TEXT,
    name: TEXT,
    input: fc.dictionary(TEXT, fc.jsonValue()),
  }) as fc.Arbitrary<ContentBlock>,
  fc.record({ type: fc.constant("tool_result" as const), tool_use_id: TEXT, content: TEXT, is_error: fc.boolean() }),
  fc.base64String().map((data) => ({ type: "image", source: { type: "base64", media_type: "image/png", data } }) as const),
);
const MESSAGE: fc.Arbitrary<ModelMessage> = fc.record({
  role: fc.constantFrom("user" as const, "assistant" as const),
  content: fc.array(BLOCK, { minLength: 1, maxLength: 3 }),
});
const TOOLS: readonly ToolDescription[] = [{ name: "a", description: "A tool.", inputSchema: { type: "object" } }];

function requestOf(messages: readonly ModelMessage[], system: string): ModelRequest {
  return { messages, system, tools: TOOLS, exposeThinking: false, settings: {}, isFirstOfTurn: true, shape: null };
}

/** What happens to the messages between two requests. */
type Change =
  | { readonly kind: "grows"; readonly by: readonly ModelMessage[] }
  | { readonly kind: "continues"; readonly by: ContentBlock }
  | { readonly kind: "loses"; readonly by: number }
  | { readonly kind: "replaces"; readonly at: number; readonly by: ModelMessage }
  | { readonly kind: "is read again" };

const CHANGE: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("grows" as const), by: fc.array(MESSAGE, { maxLength: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("continues" as const), by: BLOCK }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("loses" as const), by: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("replaces" as const), at: fc.nat(5), by: MESSAGE }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("is read again" as const) }) },
);

function changed(messages: readonly ModelMessage[], change: Change): readonly ModelMessage[] {
  switch (change.kind) {
    case "grows":
      return [...messages, ...change.by];
    case "continues":
      return messages.map((message, index) =>
        index === messages.length - 1 ? { ...message, content: [...message.content, change.by] } : message,
      );
    case "loses":
      return messages.length > change.by ? messages.slice(change.by) : messages;
    case "replaces":
      return messages.with(change.at % messages.length, change.by);
    case "is read again":
      return structuredClone(messages);
  }
}

it("a hash that continues from request to request is that of the whole request, however messages change", () => {
  fc.assert(
    fc.property(MESSAGE, fc.array(CHANGE, { maxLength: 12 }), TEXT, (first, changes, system) => {
      const requests = new SentRequests();
      const check = (messages: readonly ModelMessage[]): void => {
        const request = requestOf(messages, system);
        const { record } = requests.record(request, { messages, contextMessages: null, length: messages.length });
        expect(record).toMatchObject({ hash: hashOfRequest(messages.map(sentMessage), request) });
        expect(record.changed).toBeUndefined();
      };
      let messages: readonly ModelMessage[] = [first];
      check(messages);
      for (const change of changes) {
        messages = changed(messages, change);
        check(messages);
      }
    }),
    { numRuns: 300 },
  );
});

it("a difference that hooks made is put back into the same window", () => {
  fc.assert(
    fc.property(
      fc.array(MESSAGE, { maxLength: 6 }),
      fc.array(MESSAGE, { maxLength: 3 }),
      fc.nat(6),
      fc.nat(3),
      (window, added, at, cut) => {
        const sent = [...structuredClone(window.slice(0, at)), ...added, ...window.slice(at + cut)];
        const { record } = new SentRequests().record(requestOf(sent, ""), { messages: window, contextMessages: 5, length: 9 });
        const kept = JSON.parse(JSON.stringify(record)) as typeof record & {
          readonly changed?: Parameters<typeof withChange>[1];
        };
        const again = withChange(window.map(sentMessage), kept.changed);
        expect(hashOfRequest(again, requestOf([], ""))).toBe(record.hash);
      },
    ),
    { numRuns: 300 },
  );
});

it("equal parts have equal digests, and other tools another frame", () => {
  const window = { messages: [], contextMessages: null, length: 0 };
  const one = new SentRequests().record(requestOf([], "prompt"), window);
  const copied = requestOf([], "prompt");
  const two = new SentRequests().record({ ...copied, tools: structuredClone(TOOLS) }, window);
  expect(two.record).toEqual(one.record);
  expect(two.parts).toEqual(one.parts);
  const requests = new SentRequests();
  requests.record(copied, window);
  const other = requests.record({ ...copied, tools: [] }, window);
  expect(other.record.frame).not.toBe(one.record.frame);
});
