import { expect, it } from "vitest";
import { beginningsOf, PromptCache, tokensOf } from "../../../bench/long/prompt-cache.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { conversationRefusal } from "../../support/providers/strict-conversation.ts";

const tools = [{ name: "look", input_schema: { type: "object" } }];
const text = (said: string, isMarked = false): JsonObject => ({
  type: "text",
  text: said,
  ...(isMarked && { cache_control: { type: "ephemeral" } }),
});
const user = (...content: JsonObject[]): JsonObject => ({ role: "user", content });
const assistant = (...content: JsonObject[]): JsonObject => ({ role: "assistant", content });
const call = (id: string): JsonObject => ({ type: "tool_use", id, name: "look", input: {} });
const result = (id: string): JsonObject => ({ type: "tool_result", tool_use_id: id, content: "seen" });
const body = (...messages: JsonObject[]): JsonObject => ({ max_tokens: 10, tools, messages });

it("the strict provider takes a conversation whose calls have their results", () => {
  expect(
    conversationRefusal(body(user(text("a")), assistant(call("1"), call("2")), user(result("1"), result("2"), text("b")))),
  ).toBeNull();
});

it.for([
  ["no message", [], /at least one message/],
  ["two messages of one role", [user(text("a")), user(text("b"))], /roles must alternate/],
  ["an assistant first", [assistant(text("a")), user(text("b"))], /roles must alternate/],
  ["an assistant last", [user(text("a")), assistant(text("b"))], /end with a user message/],
  ["an empty text", [user(text(" "))], /non-whitespace/],
  ["an empty message", [user()], /non-empty content/],
  ["a call without its result", [user(text("a")), assistant(call("1")), user(text("b"))], /without `tool_result` blocks/],
  ["a result without its call", [user(result("1"))], /unexpected `tool_use_id`/],
  ["a result twice", [user(text("a")), assistant(call("1")), user(result("1"), result("1"))], /single result/],
  ["a result after a text", [user(text("a")), assistant(call("1")), user(text("b"), result("1"))], /must come first/],
  [
    "an id twice",
    [user(text("a")), assistant(call("1")), user(result("1")), assistant(call("1")), user(result("1"))],
    /must be unique/,
  ],
  ["five marks", [user(...["a", "b", "c", "d", "e"].map((said) => text(said, true)))], /maximum of 4/],
] as const)("the strict provider refuses %s", ([, messages, refusal]) => {
  expect(conversationRefusal(body(...messages))).toMatch(refusal);
});

it("the prompt cache reads the longest beginning that a mark has written", () => {
  const cache = new PromptCache();
  const first = beginningsOf(body(user(text("a".repeat(400), true))));
  expect(cache.takes(first)).toEqual({ read: 0, written: tokensOf(first), fresh: 0 });
  const next = [user(text("a".repeat(400), true)), assistant(text("b".repeat(400))), user(text("c".repeat(400), true))];
  const grown = beginningsOf(body(...next));
  expect(cache.takes(grown)).toEqual({ read: tokensOf(first), written: tokensOf(grown) - tokensOf(first), fresh: 0 });
  const other = beginningsOf(body(user(text("z")), ...next.slice(1)));
  expect(cache.takes(other)).toMatchObject({ read: 0, written: tokensOf(other) });
});
