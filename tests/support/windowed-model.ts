import {
  ModelError,
  NO_TOKENS,
  type ContentBlock,
  type Model,
  type ModelEvent,
  type ModelRequest,
} from "../../src/agent/models/model.ts";
import { callsWith } from "./models.ts";

/** What a model says to a request, or the tools that it calls. */
export type Played = { readonly text: string } | { readonly tool: string; readonly input: object };

export type WindowedModel = Model & {
  /** The requests of agents, and those for summaries. */
  readonly requests: ModelRequest[];
  readonly summaries: ModelRequest[];
};

/** The tokens of a request: one for each four characters, images aside. */
export function tokensOf({ system, messages, tools, shape }: ModelRequest): number {
  return Math.ceil(JSON.stringify({ system, messages, tools, ...(shape === null ? {} : { shape }) }).length / 4);
}

/** The problem that a strict provider has with a request; null for none. */
export function problemOf({ messages }: Pick<ModelRequest, "messages">): string | null {
  if (messages[0]?.role !== "user") return "the first message is not a user's";
  for (const [index, { role, content }] of messages.entries()) {
    if (content.length === 0) return `message ${index} is empty`;
    if (messages[index - 1]?.role === role) return `message ${index} has the role of the one before`;
    if (content.some((block) => block.type === "text" && block.text.trim() === "")) return `message ${index} has an empty text`;
    const asked = callsOf(messages[index - 1]?.content ?? []);
    const answered = content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
    if (asked.join() !== answered.join()) return `message ${index} has results of ${answered.join()}, for calls ${asked.join()}`;
  }
  return callsOf(messages.at(-1)?.content ?? []).length > 0 ? "the last message has calls without results" : null;
}

function callsOf(content: readonly ContentBlock[]): readonly string[] {
  return content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}

/** A model with a context window, as strict as a provider. A request without tools asks for a summary. */
export function windowedModel(options: {
  readonly window: number;
  readonly reply: (request: ModelRequest, count: number) => Played;
  readonly summary: (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent> | string;
}): WindowedModel {
  const requests: ModelRequest[] = [];
  const summaries: ModelRequest[] = [];
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const tokens = tokensOf(request);
    const problem = problemOf(request);
    if (problem !== null) throw new ModelError("rejected", problem);
    const isSummary = request.tools.length === 0;
    (isSummary ? summaries : requests).push(request);
    if (tokens > options.window)
      throw new ModelError("too_long", `prompt is too long: ${tokens} tokens > ${options.window} maximum`);
    const usage = { ...NO_TOKENS, inputTokens: tokens };
    yield { type: "counted", usage };
    const played = isSummary ? options.summary(request, signal) : options.reply(request, requests.length);
    if (typeof played === "string") yield* said(played, usage);
    else if (Symbol.asyncIterator in played) yield* played;
    else if ("text" in played) yield* said(played.text, usage);
    else
      for await (const event of callsWith([played.tool, played.input]))
        yield event.type === "tool_use"
          ? { ...event, id: `call-${requests.length}` }
          : event.type === "end"
            ? { ...event, usage: { ...usage, outputTokens: 10 } }
            : event;
  }
  return { name: "windowed", price: null, window: () => options.window, requests, summaries, stream };
}

function* said(text: string, usage: typeof NO_TOKENS): Generator<ModelEvent> {
  yield { type: "text_start", block: 0 };
  yield { type: "text_delta", block: 0, text };
  yield { type: "end", stopReason: "end_turn", usage: { ...usage, outputTokens: Math.ceil(text.length / 4) } };
}
