import { crc32, deflateSync } from "node:zlib";
import type { WrittenCompatibility } from "../src/agent/models/chat-request.ts";
import {
  ModelError,
  type ContentBlock,
  type Model,
  type ModelMessage,
  type ModelRequest,
  type StopReason,
  type ToolDescription,
} from "../src/agent/models/model.ts";
import { AnswerBuilder, type Answer } from "../src/agent/conversation/answer.ts";
import { messageOf } from "../src/lib/text.ts";

/** What came of one conversation. `compat` is the setting with which it goes well, if it does not without. */
export type Outcome =
  | { readonly kind: "works"; readonly note: string | null }
  | { readonly kind: "fails"; readonly problem: string; readonly compat: WrittenCompatibility | null };

/** A small conversation with a model. It throws what is wrong in words, and gives what is worth knowing; null for nothing. */
type Conversation = {
  readonly name: string;
  readonly hold: (model: Model) => Promise<string | null>;
  /** The settings that may mend it. */
  readonly mends: readonly WrittenCompatibility[];
};

const SYSTEM = "You are tested. Do exactly what is asked, in as few words as you can.";
/** The longest time that one answer may take, in ms. */
const MOST_MS = 120_000;

const LOOKUP: ToolDescription = {
  name: "lookup",
  description: "Looks a code word up by the name of a file.",
  inputSchema: {
    type: "object",
    required: ["path"],
    additionalProperties: false,
    properties: { path: { type: "string", minLength: 1, maxLength: 200, pattern: "\\S" } },
  },
};
const NOW: ToolDescription = {
  name: "now",
  description: "Says what time it is.",
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
};
const MOVE: ToolDescription = {
  name: "move",
  description: "Moves a piece from one square to another.",
  inputSchema: {
    type: "object",
    required: ["from", "to"],
    additionalProperties: false,
    properties: { from: { $ref: "#/$defs/square" }, to: { $ref: "#/$defs/square" } },
    $defs: {
      square: {
        type: "object",
        required: ["column", "row"],
        additionalProperties: false,
        properties: { column: { type: "string", pattern: "^[a-h]$" }, row: { type: "integer", minimum: 1, maximum: 8 } },
      },
    },
  },
};

/** A failure that a conversation found in what the model did. */
class Unexpected extends Error {}

function expectThat(isSo: boolean, problem: string): asserts isSo {
  if (!isSo) throw new Unexpected(problem);
}

const person = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] });
const results = (
  calls: readonly { readonly id: string; readonly content: string; readonly isError?: boolean }[],
  text?: string,
): ModelMessage => ({
  role: "user",
  content: [
    ...calls.map(
      ({ id, content, isError = false }) => ({ type: "tool_result", tool_use_id: id, content, is_error: isError }) as const,
    ),
    ...(text === undefined ? [] : [{ type: "text", text } as const]),
  ],
});

/** One answer of the model. */
async function ask(
  model: Model,
  messages: readonly ModelMessage[],
  tools: readonly ToolDescription[] = [],
  exposeThinking = false,
): Promise<Answer> {
  const request: ModelRequest = {
    system: SYSTEM,
    messages,
    tools,
    exposeThinking,
    settings: {},
    isFirstOfTurn: true,
    shape: null,
  };
  const answer = new AnswerBuilder(model.name);
  for await (const event of model.stream(request, AbortSignal.timeout(MOST_MS), () => {})) {
    switch (event.type) {
      case "text_start":
      case "thinking_start":
        answer.start(event.type === "text_start" ? "text" : "thinking", event.block);
        break;
      case "text_delta":
      case "thinking_delta":
        answer.add(event.type === "text_delta" ? "text" : "thinking", event.block, event.text);
        break;
      case "thinking_end": {
        const { type: _type, block, ...proof } = event;
        answer.endThought(block, proof);
        break;
      }
      case "provider_fields":
        answer.addFields(event.fields);
        break;
      case "tool_use":
        answer.addCall(event.block, event.id, event.name, event.arguments, event.fields);
        break;
      case "end":
        return answer.finish(event.stopReason, event.usage, true);
      case "arguments_delta":
      case "counted":
    }
  }
  throw new Unexpected("the stream ended without a reason");
}

const said = ({ content }: Answer): string => content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
const assistant = ({ content }: Answer): ModelMessage => ({ role: "assistant", content });
const callsOf = ({ content }: Answer): readonly (ContentBlock & { readonly type: "tool_use" })[] =>
  content.flatMap((block) => (block.type === "tool_use" ? [block] : []));

/** An answer that must have calls of a tool, and stop for them. */
function callsTo(answer: Answer, tool: string): readonly (ContentBlock & { readonly type: "tool_use" })[] {
  const calls = callsOf(answer).filter(({ name }) => name === tool);
  const text = said(answer).slice(0, 100);
  expectThat(calls.length > 0, `it did not call ${tool}${text === "" ? "" : `, and said ${JSON.stringify(text)}`}`);
  expectThat(answer.stopReason === "tool_use", `it called ${tool} and stopped with ${answer.stopReason satisfies StopReason}`);
  return calls;
}

function inputIs(call: ContentBlock & { readonly type: "tool_use" }, expected: string): void {
  const input = JSON.stringify(call.input);
  expectThat(input === expected, `it called ${call.name} with ${input.slice(0, 200)}, where ${expected} was asked for`);
}

const ASK_LOOKUP = person("Call the tool lookup with the path a.txt.");

async function lookedUp(
  model: Model,
  thinks = false,
): Promise<{ readonly messages: readonly ModelMessage[]; readonly answer: Answer; readonly id: string }> {
  const answer = await ask(model, [ASK_LOOKUP], [LOOKUP], thinks);
  const [call] = callsTo(answer, "lookup");
  return { messages: [ASK_LOOKUP, assistant(answer)], answer, id: call?.id ?? "" };
}

/** Twelve things that agents do, each alone. */
export const CONVERSATIONS: readonly Conversation[] = [
  {
    name: "a text",
    mends: [
      { streamOptions: false },
      { tokenLimit: "max_completion_tokens" },
      { tokenLimit: "max_tokens" },
      { thinkTags: true },
      { thinkTags: "open" },
    ],
    hold: async (model) => {
      const answer = await ask(model, [person("Answer with the one word ready.")]);
      expectThat(/ready/i.test(said(answer)), `it said ${JSON.stringify(said(answer).slice(0, 100))}`);
      expectThat(!said(answer).includes("think>"), "what it thinks stands in its text");
      return answer.usage.outputTokens === 0 ? "it counts no tokens: usage and costs stay 0" : null;
    },
  },
  {
    name: "a call",
    mends: [{ closedSchemas: false }],
    hold: async (model) => {
      const { answer } = await lookedUp(model);
      const [call] = callsTo(answer, "lookup");
      if (call !== undefined) inputIs(call, '{"path":"a.txt"}');
      return null;
    },
  },
  {
    name: "the result of a call",
    mends: [{ emptyContent: "null" }, { thoughtsGoBack: false }],
    hold: async (model) => {
      const { messages, id } = await lookedUp(model);
      const asked = { type: "text", text: "Then answer with the code word alone." } as const;
      const first: ModelMessage = {
        role: "user",
        content: [{ type: "text", text: "Call the tool lookup with the path a.txt." }, asked],
      };
      const answer = await ask(
        model,
        [first, ...messages.slice(1), results([{ id, content: "The code word is blue17." }])],
        [LOOKUP],
      );
      expectThat(/blue17/i.test(said(answer)), `it was told blue17, and said ${JSON.stringify(said(answer).slice(0, 100))}`);
      return null;
    },
  },
  {
    name: "two calls at once",
    mends: [],
    hold: async (model) => {
      const question = person("Call the tool lookup twice in one answer: with the path a.txt, and with the path b.txt.");
      const answer = await ask(model, [question], [LOOKUP]);
      const calls = callsTo(answer, "lookup");
      const content = (path: string): string => `The code word of ${path} is x.`;
      await ask(
        model,
        [question, assistant(answer), results(calls.map(({ id }, index) => ({ id, content: content(String(index)) })))],
        [LOOKUP],
      );
      return calls.length === 1 ? "it makes one call at a time" : null;
    },
  },
  {
    name: "a call without arguments",
    mends: [],
    hold: async (model) => {
      const [call] = callsTo(await ask(model, [person("Call the tool now.")], [NOW]), "now");
      if (call !== undefined) inputIs(call, "{}");
      return null;
    },
  },
  {
    name: "nested arguments",
    mends: [],
    hold: async (model) => {
      const question = person("Call the tool move, from column e and row 2 to column e and row 4.");
      const [call] = callsTo(await ask(model, [question], [MOVE]), "move");
      const input = JSON.stringify(call?.input);
      expectThat(/"column":"e"/.test(input) && /"row":4/.test(input), `it called move with ${input.slice(0, 200)}`);
      return null;
    },
  },
  {
    name: "a call that was wrong",
    mends: [],
    hold: async (model) => {
      const { messages, id } = await lookedUp(model);
      const refusal = "invalid arguments: /path must end in .md. Call lookup again with the path a.md.";
      const answer = await ask(model, [...messages, results([{ id, content: refusal, isError: true }])], [LOOKUP]);
      const [call] = callsTo(answer, "lookup");
      if (call !== undefined) inputIs(call, '{"path":"a.md"}');
      return null;
    },
  },
  {
    name: "a long answer",
    mends: [],
    hold: async (model) => {
      const answer = await ask(model, [person("Count from 1 to 150, one number a line, without leaving any out.")]);
      expectThat(answer.stopReason !== "max_tokens", "it was cut at its limit of tokens: give the model more maxTokens");
      expectThat(/\b150\b/.test(said(answer)), `it ended with ${JSON.stringify(said(answer).slice(-40))}`);
      return null;
    },
  },
  {
    name: "a thought before a call",
    mends: [{ thoughtsGoBack: false }, { thinkTags: true }],
    hold: async (model) => {
      const { messages, answer, id } = await lookedUp(model, true);
      await ask(model, [...messages, results([{ id, content: "The code word is blue17." }])], [LOOKUP], true);
      return answer.content.some(({ type }) => type === "thinking") ? null : "it does not think, or does not say so";
    },
  },
  {
    name: "a message in the midst of a turn",
    mends: [{ userAfterTool: false }],
    hold: async (model) => {
      const { messages, id } = await lookedUp(model);
      const more = results([{ id, content: "The code word is blue17." }], "Answer with the one word ready now.");
      const answer = await ask(model, [...messages, more], [LOOKUP]);
      expectThat(callsOf(answer).length > 0 || said(answer) !== "", "it said nothing");
      return null;
    },
  },
  {
    name: "an image",
    mends: [{ images: false }],
    hold: async (model) => {
      const source = { type: "base64", media_type: "image/png", data: redSquare() } as const;
      const question: ModelMessage = {
        role: "user",
        content: [
          { type: "image", source },
          { type: "text", text: "Which colour is this? Answer with one word." },
        ],
      };
      const answer = await ask(model, [question]);
      expectThat(said(answer) !== "", "it said nothing");
      return /red/i.test(said(answer)) ? null : `it took a red square for ${JSON.stringify(said(answer).slice(0, 60))}`;
    },
  },
  {
    name: "an interrupt",
    mends: [],
    hold: async (model) => {
      const stop = new AbortController();
      const request: ModelRequest = {
        system: SYSTEM,
        messages: [person("Count from 1 to 400, one number a line.")],
        tools: [],
        exposeThinking: false,
        settings: {},
        isFirstOfTurn: true,
        shape: null,
      };
      let began = 0;
      try {
        for await (const event of model.stream(request, AbortSignal.any([stop.signal, AbortSignal.timeout(MOST_MS)]), () => {})) {
          if (event.type !== "text_delta" && event.type !== "thinking_delta") continue;
          if (began === 0) began = performance.now();
          stop.abort();
        }
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      }
      const ms = performance.now() - began;
      expectThat(began > 0, "it said nothing that could be interrupted");
      expectThat(ms < 5_000, `it went on for ${Math.round(ms)} ms`);
      expectThat(said(await ask(model, [person("Answer with the one word ready.")])) !== "", "it did not answer afterwards");
      return null;
    },
  },
];

/**
 * Has a conversation. If it does not go well, the settings that may mend it are tried: one that leads to another problem stays, and
 * the next is tried besides.
 */
export async function holdConversation(
  { hold, mends }: Conversation,
  modelWith: (compat: WrittenCompatibility) => Promise<Model>,
  mayMend: boolean,
): Promise<Outcome> {
  const first = await problemWith(hold, await modelWith({}));
  if (typeof first !== "string") return { kind: "works", note: first.note };
  let [compat, problem]: [WrittenCompatibility, string] = [{}, first];
  const left = mayMend ? [...mends] : [];
  for (let index = 0; index < left.length;) {
    const tried = { ...compat, ...left[index] };
    const again = await problemWith(hold, await modelWith(tried));
    if (typeof again !== "string") return { kind: "fails", problem: first, compat: tried };
    if (again === problem) {
      index += 1;
      continue;
    }
    [compat, problem] = [tried, again];
    left.splice(index, 1);
    index = 0;
  }
  return { kind: "fails", problem: first, compat: null };
}

async function problemWith(hold: Conversation["hold"], model: Model): Promise<string | { readonly note: string | null }> {
  try {
    return { note: await hold(model) };
  } catch (error) {
    if (error instanceof Unexpected || error instanceof ModelError) return error.message;
    return `it failed: ${messageOf(error)}`;
  }
}

/** A PNG of 32 by 32 red pixels, in base64. */
function redSquare(): string {
  const side = 32;
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.concat(Array.from({ length: side }, () => Buffer.from([255, 0, 0])))]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: side }, () => row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const parts = [signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat(parts).toString("base64");
}
