import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chatAnswer } from "../../../src/agent/models/chat-answer.ts";
import { messagesAnswer } from "../../../src/agent/models/messages-answer.ts";
import { ModelError, type ModelEvent } from "../../../src/agent/models/model.ts";
import { serverSentEvents } from "../../../src/agent/models/provider-requests.ts";
import { oddStreams, sseBody } from "../../support/providers/odd-values.ts";
import { messageStream } from "../../support/providers/anthropic-stream.ts";

type Read = {
  readonly said: string;
  readonly thought: string;
  readonly calls: readonly string[];
  readonly usage: string;
  readonly failure: string | null;
};

/** Reads a whole stream; what is thrown must be a ModelError. */
async function readAll(events: AsyncIterable<ModelEvent>): Promise<Read> {
  let [said, thought, usage] = ["", "", ""];
  const calls: string[] = [];
  try {
    for await (const event of events) {
      if (event.type === "text_delta") said += event.text;
      if (event.type === "thinking_delta") thought += event.text;
      if (event.type === "tool_use") calls.push(`${event.name} ${event.arguments}`);
      if (event.type === "counted" || event.type === "end") usage = JSON.stringify(event.usage);
      JSON.stringify(event);
    }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { said, thought, calls, usage, failure: error.message };
  }
  return { said, thought, calls, usage, failure: null };
}

const signal = new AbortController().signal;
const stream = (body: string): Response => new Response(body, { headers: { "content-type": "text/event-stream" } });
const readChat = async (body: string, thinkTags: boolean | "open" = false): Promise<Read> =>
  readAll(chatAnswer(serverSentEvents(stream(body), signal), { thinkTags, apiKey: null }));
const readMessages = async (body: string): Promise<Read> =>
  readAll(messagesAnswer(serverSentEvents(stream(body), signal), { ids: new Set(), apiKey: null }));

const chunk = (delta: object, finish: string | null = null): object => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  system_fingerprint: "f",
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  usage: null,
});
const CHAT = [
  chunk({ role: "assistant", content: "", refusal: null }),
  chunk({ reasoning_content: "Hm." }),
  chunk({ content: "Fo" }),
  chunk({ content: "ur." }),
  chunk({ tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "fs_read", arguments: '{"path":' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '"a.txt"}' } }] }),
  chunk({}, "tool_calls"),
  {
    id: "c1",
    object: "chat.completion.chunk",
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 1 } },
  },
];
/** Places whose value is the answer itself, or without which it does not end. */
const OF_CHAT =
  /^\d+(\.choices(\.0(\.delta(\.(content|reasoning_content|refusal|reasoning|tool_calls.*))?|\.finish_reason)?)?)?$/;

const MESSAGES = messageStream(
  [
    { thinking: ["Hm."], signature: "s" },
    { text: ["Fo", "ur."] },
    { tool: "fs_read", id: "toolu_a", json: ['{"path":', '"a.txt"}'] },
  ],
  "tool_use",
);
const OF_MESSAGES = /^\d+(\.(index|type|delta.*|content_block.*))?$/;

describe("a stream with an odd value in any place (property)", () => {
  it("of chat completions is an answer or a failure that says so, never text of an object, and a good answer stays one", async () => {
    const good = await readChat(sseBody(CHAT));
    expect(good).toMatchObject({ said: "Four.", thought: "Hm.", calls: ['fs_read {"path":"a.txt"}'], failure: null });
    await fc.assert(
      fc.asyncProperty(oddStreams(CHAT), fc.boolean(), async ({ events, path }, thinkTags) => {
        const read = await readChat(sseBody(events), thinkTags);
        expect(JSON.stringify(read)).not.toContain("[object");
        if (!OF_CHAT.test(path) && !path.endsWith(".error")) expect({ ...read, usage: "" }, path).toEqual({ ...good, usage: "" });
      }),
      { numRuns: 1_500 },
    );
  });

  it("of the Messages API is an answer or a failure that says so, never text of an object, and a good answer stays one", async () => {
    const good = await readMessages(sseBody(MESSAGES, true));
    expect(good).toMatchObject({ said: "Four.", thought: "Hm.", calls: ['fs_read {"path":"a.txt"}'], failure: null });
    await fc.assert(
      fc.asyncProperty(oddStreams(MESSAGES), async ({ events, path }) => {
        const read = await readMessages(sseBody(events, true));
        expect(JSON.stringify(read)).not.toContain("[object");
        if (!OF_MESSAGES.test(path)) expect({ ...read, usage: "" }, path).toEqual({ ...good, usage: "" });
      }),
      { numRuns: 1_500 },
    );
  });
});

describe("recorded shapes of chat completions", () => {
  const text = (content: unknown): object => chunk({ content });
  const end = chunk({}, "stop");
  const call = (fields: object): object => chunk({ tool_calls: [fields] });
  const PATH = 'fs_read {"path":"a.txt"}';

  type Shape = readonly [name: string, body: string, expected: Partial<Read>, thinkTags?: boolean | "open"];
  const SHAPES: readonly Shape[] = [
    [
      "content as a list of parts",
      sseBody([
        text([{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }]),
        text([{ type: "text", text: "Four" }, "."]),
        end,
      ]),
      { said: "Four.", thought: "Hm." },
    ],
    [
      "arguments as an object",
      sseBody([call({ index: 0, id: "a", function: { name: "fs_read", arguments: { path: "a.txt" } } }), end]),
      { calls: [PATH] },
    ],
    [
      "a chunk without choices in the middle",
      sseBody([text("Fo"), { id: "1", usage: {} }, { choices: null }, text("ur."), end]),
      { said: "Four." },
    ],
    [
      "usage alone, as texts",
      sseBody([text("x"), end, { choices: [], usage: { prompt_tokens: "5", completion_tokens: "2" } }]),
      { usage: '{"inputTokens":5,"outputTokens":2,"cacheReadTokens":0,"cacheWriteTokens":0}' },
    ],
    [
      "keep-alives",
      `: PROCESSING\n\n\ndata:\n\ndata: {}\n\nevent: ping\ndata: {"type":"ping"}\n\n${sseBody([text("x"), end])}data: [DONE]\n\n`,
      { said: "x" },
    ],
    [
      "carriage returns, and no empty line at the end",
      `${sseBody([text("x")]).replaceAll("\n", "\r\n")}data: ${JSON.stringify(end)}`,
      { said: "x" },
    ],
    [
      "an error frame",
      sseBody([text("x"), { error: { message: "too busy", code: 502 } }, end]),
      { failure: "the model's stream broke off: too busy" },
    ],
    [
      "an error event",
      `${sseBody([text("x")])}event: error\ndata: {"message":"gone"}\n\n`,
      { failure: "the model's stream broke off: gone" },
    ],
    ["an error behind the end", sseBody([text("x"), end, { error: { message: "too late" } }]), { said: "x" }],
    ["an error that is null", sseBody([{ ...text("x"), error: null }, end]), { said: "x" }],
    [
      "an event that is no JSON",
      `data: {"choices"\n\n${sseBody([text("x"), end])}`,
      { failure: "the model's stream has an event that is no JSON" },
    ],
    [
      "reasoning under two names",
      sseBody([chunk({ reasoning: "Hm.", reasoning_content: "Hm." }), text("x"), end]),
      { thought: "Hm.", said: "x" },
    ],
    [
      "a leading think block in pieces",
      sseBody([text("\n<th"), text("ink>\nHm"), text(".</thi"), text("nk>\n\nFo"), text("ur. <think>x</think>"), end]),
      { thought: "\nHm.", said: "Four. <think>x</think>" },
      true,
    ],
    [
      "a think block of a family that has none",
      sseBody([text("<think>Hm.</think>Four."), end]),
      { said: "<think>Hm.</think>Four." },
      false,
    ],
    ["a think block that does not end", sseBody([text("<think>Hm."), end]), { thought: "Hm.", said: "" }, true],
    ["a text that only looks like one", sseBody([text("<thin"), text("g>"), end]), { said: "<thing>" }, true],
    ["a text that ends as one begins", sseBody([text("<thi"), end]), { said: "<thi" }, true],
    [
      "later fragments without index, id and name",
      sseBody([
        call({ index: 0, id: "a", function: { name: "fs_read", arguments: '{"path"' } }),
        call({ function: { arguments: ':"a.txt"}' } }),
        end,
      ]),
      { calls: [PATH] },
    ],
    [
      "two calls with one id",
      sseBody([
        call({ index: 0, id: "a", function: { name: "fs_read", arguments: '{"path":"a.txt"}' } }),
        call({ index: 0, id: "a", function: { name: "fs_read", arguments: '{"path":"b.txt"}' } }),
        end,
      ]),
      { calls: [PATH, 'fs_read {"path":"b.txt"}'] },
    ],
    [
      "an empty object before the arguments",
      sseBody([
        call({ index: 0, id: "a", function: { name: "fs_read", arguments: "{}" } }),
        call({ index: 0, function: { arguments: '{"path":' } }),
        call({ index: 0, function: { arguments: '"a.txt"}' } }),
        end,
      ]),
      { calls: [PATH] },
    ],
    [
      "ids and indexes of other types",
      sseBody([
        call({ index: "0", id: 7, function: { name: "fs_read", arguments: '{"path":' } }),
        call({ index: "0", id: 7, function: { arguments: '"a.txt"}' } }),
        end,
      ]),
      { calls: [PATH] },
    ],
    [
      "a call that is no list",
      sseBody([chunk({ tool_calls: { function: { name: "fs_read", arguments: { path: "a.txt" } } } }), end]),
      { calls: [PATH] },
    ],
    [
      "the older function_call",
      sseBody([
        chunk({ function_call: { name: "fs_read", arguments: '{"path":' } }),
        chunk({ function_call: { arguments: '"a.txt"}' } }),
        chunk({}, "function_call"),
      ]),
      { calls: [PATH] },
    ],
    [
      "fragments that are told apart by their ids alone",
      sseBody([
        call({ index: 0, id: "c", function: { name: "a", arguments: "" } }),
        call({ index: 0, id: "e", function: { name: "b", arguments: "" } }),
        call({ index: 0, id: "c", function: { arguments: '{"x":1}' } }),
        call({ index: 0, id: "e", function: { arguments: '{"y":2}' } }),
        end,
      ]),
      { calls: ['a {"x":1}', 'b {"y":2}'] },
    ],
    ...(
      [
        ["the id after the name", { name: "a" }, { id: "c", name: "a" }],
        ["the name after the id", { id: "c" }, { id: "c", name: "a" }],
        ["the name after the id, which comes once", { id: "c", name: "" }, { name: "a" }],
      ] as const
    ).map(([name, first, second]): Shape => [
      name,
      sseBody([
        ...[first, { ...second, args: '{"x":1}' }].map(
          ({ id, name: tool, args = "" }: Partial<Record<"id" | "name" | "args", string>>) =>
            call({ index: 0, ...(id === undefined ? {} : { id }), function: { name: tool ?? null, arguments: args } }),
        ),
        end,
      ]),
      { calls: ['a {"x":1}'] },
    ]),
    [
      "an index that comes after the first fragment",
      sseBody([
        call({ id: "c", function: { name: "a", arguments: '{"x"' } }),
        call({ index: 0, function: { arguments: ":1}" } }),
        end,
      ]),
      { calls: ['a {"x":1}'] },
    ],
    [
      "the whole message at the end of its pieces",
      sseBody([
        text("Four."),
        call({ index: 0, id: "c", function: { name: "a", arguments: "{}" } }),
        {
          choices: [
            {
              message: { content: "Four.", tool_calls: [{ id: "c", function: { name: "a", arguments: "{}" } }] },
              finish_reason: "tool_calls",
            },
          ],
        },
      ]),
      { said: "Four.", calls: ["a {}"] },
    ],
    [
      "thoughts of their own in the place of a tag that is open from the start",
      sseBody([chunk({ reasoning_content: "Hm." }), text("Four."), end]),
      { said: "Four.", thought: "Hm." },
      "open",
    ],
    ["arguments that are a number", sseBody([call({ id: "c", function: { name: "a", arguments: 5 } }), end]), { calls: ["a 5"] }],
    ["an error of nothing", sseBody([text("Four."), { error: { code: null, message: null } }, end]), { said: "Four." }],
    [
      "a whole message in the place of a delta",
      sseBody([{ choices: [{ message: { role: "assistant", content: "Four." }, finish_reason: "STOP" }] }]),
      { said: "Four." },
    ],
  ];

  it.for(SHAPES)("%s", async ([, body, expected, thinkTags = false]) => {
    expect(await readChat(body, thinkTags)).toMatchObject({ failure: null, ...expected });
  });

  it("an answer that is no stream is read whole", async () => {
    const body = JSON.stringify({
      choices: [{ message: { content: "Four.", tool_calls: [] }, finish_reason: "stop" }],
      usage: { prompt_tokens: 2 },
    });
    const response = new Response(body, { headers: { "content-type": "application/json; charset=utf-8" } });
    const read = await readAll(chatAnswer(serverSentEvents(response, signal), { thinkTags: false, apiKey: null }));
    expect(read).toMatchObject({ said: "Four.", failure: null });
  });

  it.each([
    ["stop", "end_turn", "tool_use"],
    ["eos", "end_turn", "tool_use"],
    ["STOP", "end_turn", "tool_use"],
    ["tool_calls", "tool_use", "tool_use"],
    ["MAX_TOKENS", "max_tokens", "max_tokens"],
    ["length", "max_tokens", "max_tokens"],
    ["SAFETY", "refusal", "refusal"],
  ])("a finish_reason %s is %s, and with calls %s", async (finish, alone, withCalls) => {
    const stopOf = async (first: object): Promise<string> => {
      const events = chatAnswer(serverSentEvents(stream(sseBody([first, chunk({}, finish)])), signal), {
        thinkTags: false,
        apiKey: null,
      });
      for await (const event of events) if (event.type === "end") return event.stopReason;
      return "none";
    };
    expect(await stopOf(text("x"))).toBe(alone);
    expect(await stopOf(call({ index: 0, function: { name: "fs_read", arguments: "{}" } }))).toBe(withCalls);
  });
});

describe("recorded shapes of the Messages API", () => {
  const start = { type: "message_start", message: { usage: { input_tokens: 1 } } };
  const end = [{ type: "message_delta", delta: { stop_reason: "end_turn" } }, { type: "message_stop" }];
  const block = (index: number, content_block: object, ...deltas: readonly object[]): readonly object[] => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];

  it.each([
    ["as text", '{"x":1}', 'a {"x":1}'],
    ["as a list", [1], "a [1]"],
    ["as a number", 5, "a 5"],
    ["missing", undefined, "a {}"],
    ["null", null, "a {}"],
  ])("the input of a call that begins with it, %s", async (_what, input, expected) => {
    const { calls } = await readMessages(
      sseBody([start, ...block(0, { type: "tool_use", id: "c", name: "a", input }), ...end], true),
    );
    expect(calls).toEqual([expected]);
  });

  it("an index that comes again is another block, and a block that is not known may have text", async () => {
    const events = messagesAnswer(
      serverSentEvents(
        stream(
          sseBody(
            [
              start,
              ...block(0, { type: "thinking", thinking: "Hm." }),
              ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Four." }),
              ...block(0, { type: "annotation" }, { type: "text_delta", text: "?" }),
              ...end,
            ],
            true,
          ),
        ),
        signal,
      ),
      { ids: new Set(), apiKey: null },
    );
    const begun: (readonly [string, number])[] = [];
    for await (const event of events)
      if (event.type === "thinking_start" || event.type === "text_start") begun.push([event.type, event.block]);
    expect(begun).toEqual([
      ["thinking_start", 0],
      ["text_start", 1],
    ]);
  });

  it("a message in the place of a stream is read whole", async () => {
    const message = {
      type: "message",
      content: [
        { type: "text", text: "Four." },
        { type: "tool_use", id: "c", name: "a", input: {} },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 7 },
    };
    const response = new Response(JSON.stringify(message), { headers: { "content-type": "application/json" } });
    const read = await readAll(messagesAnswer(serverSentEvents(response, signal), { ids: new Set(), apiKey: null }));
    expect(read).toMatchObject({ said: "Four.", calls: ["a {}"], failure: null });
    expect(read.usage).toContain('"inputTokens":7');
  });
});

it("a stream of ten thousand fields and as many pieces of a call takes little longer than one of the same field and a call whose name comes once", async () => {
  const PIECES = 10_000;
  const of = async (field: (index: number) => string, isNamed: boolean): Promise<number> => {
    const call = { name: isNamed ? "a" : null, arguments: "[0]," };
    const body = sseBody([
      chunk({ tool_calls: [{ index: 0, id: "c", function: { name: "a", arguments: "[0]," } }] }),
      ...Array.from({ length: PIECES }, (_, index) => chunk({ [field(index)]: "x" })),
      ...Array.from({ length: PIECES }, () => chunk({ tool_calls: [{ index: 0, id: "c", function: call }] })),
      chunk({}, "stop"),
    ]);
    const started = performance.now();
    await readChat(body);
    return performance.now() - started;
  };
  const odd: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    plain.push(await of(() => "field", false));
    odd.push(await of((index) => `field${index}`, true));
  }
  expect(Math.min(...odd) / Math.min(...plain)).toBeLessThan(8);
});
