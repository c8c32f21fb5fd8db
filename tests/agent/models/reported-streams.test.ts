import { expect, it } from "vitest";
import { chatAnswer } from "../../../src/agent/models/chat-answer.ts";
import { messagesAnswer } from "../../../src/agent/models/messages-answer.ts";
import { ModelError, type ModelEvent } from "../../../src/agent/models/model.ts";
import { answeredError, streamError } from "../../../src/agent/models/provider-error.ts";
import { serverSentEvents } from "../../../src/agent/models/provider-requests.ts";
import { sseBody } from "../../support/providers/odd-values.ts";

type Answer = { said: string; calls: string[]; stop: string | null; input: number; failure: string | null };

/** What an answer amounts to. */
async function readAll(events: AsyncIterable<ModelEvent>): Promise<Answer> {
  const answer: Answer = { said: "", calls: [], stop: null, input: 0, failure: null };
  try {
    for await (const event of events) {
      if (event.type === "text_delta") answer.said += event.text;
      if (event.type === "tool_use") answer.calls.push(`${event.name} ${event.arguments}`);
      if (event.type === "end") Object.assign(answer, { stop: event.stopReason, input: event.usage.inputTokens });
    }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    answer.failure = error.kind;
  }
  return answer;
}

const events = (body: string) =>
  serverSentEvents(new Response(body, { headers: { "content-type": "text/event-stream" } }), new AbortController().signal);
const chat = (chunks: readonly unknown[], isEnded = true): Promise<Answer> =>
  readAll(chatAnswer(events(sseBody(chunks) + (isEnded ? "data: [DONE]\n\n" : "")), { thinkTags: false, apiKey: null }));
const messages = (chunks: readonly unknown[]): Promise<Answer> =>
  readAll(messagesAnswer(events(sseBody(chunks)), { ids: new Set(), apiKey: null }));

const chunk = (delta: unknown, finish: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const text = (content: string) => chunk({ content });
const call = (fragment: object) => chunk({ tool_calls: [fragment] });
const whole = { index: 0, id: "a", function: { name: "fs_read", arguments: '{"path":"a"}' } };

// can1357/oh-my-pi #9609, openclaw/openclaw #98575
it("an answer whose server says that it is at its end, and not why, is whole; one that only ends is not", async () => {
  expect(await chat([text("Four.")])).toMatchObject({ said: "Four.", stop: "end_turn", failure: null });
  expect(await chat([text("Four."), chunk({}, "")])).toMatchObject({ stop: "end_turn", failure: null });
  expect(await chat([call(whole)])).toMatchObject({ calls: ['fs_read {"path":"a"}'], stop: "tool_use" });
  expect(await chat([text("Fo")], false)).toMatchObject({ failure: "broken" });
  expect(await chat([call({ ...whole, function: { name: "fs_read", arguments: '{"pa' } })])).toMatchObject({ failure: "broken" });
  expect(await chat([])).toMatchObject({ failure: "broken" });
});

// NousResearch/hermes-agent #83882
it("a call that a server could not read is no refusal: the answer is made again", async () => {
  for (const finish of ["function_call_filter: MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
    expect(await chat([chunk({ role: "assistant" }, finish)]), finish).toMatchObject({ failure: "broken" });
  expect(await chat([text("No."), chunk({}, "content_filter")])).toMatchObject({ stop: "refusal" });
});

it("an error that says so by its `object` is one, with its words", async () => {
  const error = { object: "error", message: "This model's maximum context length is 4096 tokens", code: 400 };
  expect(await chat([error])).toMatchObject({ failure: "too_long" });
});

// anomalyco/opencode #24137
it("a call whose name comes after its first arguments is one call", async () => {
  const pieces = [
    call({ index: 0, id: "c", function: { arguments: '{"path":' } }),
    call({ index: 0, function: { name: "fs_read", arguments: '"a.txt"}' } }),
  ];
  expect((await chat([...pieces, chunk({}, "tool_calls")])).calls).toEqual(['fs_read {"path":"a.txt"}']);
});

// vercel/ai #15879
it.each([undefined, 0])("calls whose arguments come before their names are told apart by their ids (index %s)", async (index) => {
  const piece = (id: string, name: string | null, args: string) =>
    call({ ...(index === undefined ? {} : { index }), id, function: { ...(name === null ? {} : { name }), arguments: args } });
  const first = [piece("a", null, '{"path":"a.txt"}'), piece("a", "fs_read", "")];
  const second = [piece("b", null, '{"pattern":"*.md"}'), piece("b", "fs_glob", "")];
  const both = ['fs_read {"path":"a.txt"}', 'fs_glob {"pattern":"*.md"}'];
  expect((await chat([...first, ...second, chunk({}, "tool_calls")])).calls).toEqual(both);
  const usual = [piece("a", "fs_read", ""), piece("a", null, '{"path":"a.txt"}')];
  expect((await chat([...usual, ...second, chunk({}, "tool_calls")])).calls).toEqual(both);
  const newIds = [piece("a", "fs_read", '{"path":'), piece("x", null, '"a.txt"'), piece("y", null, "}")];
  expect((await chat([...newIds, chunk({}, "tool_calls")])).calls).toEqual(['fs_read {"path":"a.txt"}']);
});

// CangShui/workbuddy-gateway #3
it("calls without a name and arguments are none", async () => {
  const end = chunk({ function_call: { name: "", arguments: "" } }, "stop");
  expect(await chat([text("Four."), end])).toMatchObject({ calls: [], stop: "end_turn" });
  expect(await chat([text("Four."), call({}), chunk({}, "stop")])).toMatchObject({ calls: [], stop: "end_turn" });
  const empty = call({ index: 1, id: "", function: { name: "", arguments: "" } });
  expect((await chat([call(whole), empty, chunk({}, "tool_calls")])).calls).toEqual(['fs_read {"path":"a"}']);
});

// envoyproxy/ai-gateway #1631, farion1231/cc-switch #6655
it("counts that are less in the end take nothing back", async () => {
  const counted = await messages([
    { type: "message_start", message: { usage: { input_tokens: 1_500 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "Four." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { input_tokens: 0, output_tokens: 12 } },
    { type: "message_stop" },
  ]);
  expect(counted).toMatchObject({ input: 1_500, failure: null });
  const usage = (count: number) => ({ usage: { prompt_tokens: count, completion_tokens: 1, total_tokens: count } });
  expect(await chat([chunk({ content: "a" }, null, usage(900)), chunk({}, "stop", usage(0))])).toMatchObject({ input: 900 });
});

// MoonshotAI/kimi-code #207, NousResearch/hermes-agent #2600
it.each([
  { message: "Invalid request: Your request exceeded model token limit: 262144" },
  { message: "Prompt exceeds max length" },
  { message: "This model's maximum prompt length is 131072 but the request contains 137392 tokens." },
  { message: "Input is too long for requested model." },
  { message: "prompt token count of 200000 exceeds the limit of 128000" },
  { message: "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000" },
  { message: "Range of input length should be [1, 98304]" },
  { message: "Bad request", code: "context_length_exceeded" },
])("a request that is longer than the model reads is known by the words or the code of its provider: %o", (error) => {
  const refused = { status: 400, headers: new Headers(), body: { error } };
  const thrown = Object.assign(new Error(""), { status: 400, headers: undefined, error: null });
  expect(answeredError(thrown, refused, null).kind).toBe("too_long");
  expect(streamError(error, null).kind).toBe("too_long");
});
