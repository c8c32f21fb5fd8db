import { randomUUID } from "node:crypto";
import OpenAI from "openai";
import {
  ModelError,
  NO_TOKENS,
  type ContentBlock,
  type Model,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type StopReason,
  type TokenPrice,
  type TokenUsage,
} from "./model.ts";
import { brokenStream, providerError, unreachable } from "./provider-error.ts";

/** How a model behind a chat completions API is reached. `baseUrl` is null for OpenAI's own. */
export type OpenAiOptions = {
  readonly apiKey: string;
  readonly baseUrl: string | null;
  readonly model: string;
  /** Null for the server's own limit. */
  readonly maxTokens: number | null;
  readonly price: TokenPrice | null;
};

type Chunk = OpenAI.ChatCompletionChunk;
type Param = OpenAI.ChatCompletionMessageParam;

/**
 * A model by the streaming chat completions API: OpenAI's own, and what speaks the same protocol (Ollama, vLLM,
 * LM Studio). Calls are repeated by the loop, not by the SDK.
 */
export function openAiModel({ apiKey, baseUrl, model, maxTokens, price }: OpenAiOptions): Model {
  const client = new OpenAI({
    apiKey,
    maxRetries: 0,
    // It logs what it cannot read, which may hold what people wrote.
    logLevel: "off",
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
  });
  // OpenAI's newer models refuse the older name of the limit, and other servers know only that.
  const limit = maxTokens === null ? {} : baseUrl === null ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens };
  return {
    name: `openai ${model}`,
    price,
    async *stream(request, signal) {
      try {
        const stream = await client.chat.completions.create(
          { ...body(request), ...limit, model, stream: true, stream_options: { include_usage: true } },
          { signal },
        );
        yield* translate(stream);
      } catch (error) {
        signal.throwIfAborted();
        throw modelError(error);
      }
    },
  };
}

function body(request: ModelRequest): Pick<OpenAI.ChatCompletionCreateParamsStreaming, "messages" | "tools"> {
  const tools = request.tools.map(
    ({ name, description, inputSchema }) =>
      ({ type: "function", function: { name, description, parameters: { ...inputSchema } } }) as const,
  );
  return {
    messages: [{ role: "system", content: request.system }, ...request.messages.flatMap(messageParams)],
    // An empty list is refused.
    ...(tools.length === 0 ? {} : { tools }),
  };
}

/** One message a role, but one for each tool result, which come before what the person said. */
function messageParams({ role, content }: ModelMessage): Param[] {
  return role === "assistant" ? assistantParams(content) : [...content.flatMap(toolParam), ...userParams(content)];
}

function assistantParams(content: readonly ContentBlock[]): Param[] {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
  const calls = content.flatMap((block) =>
    block.type === "tool_use"
      ? [{ id: block.id, type: "function", function: { name: block.name, arguments: JSON.stringify(block.input) } } as const]
      : [],
  );
  if (text === "" && calls.length === 0) return [];
  return [{ role: "assistant", content: text === "" ? null : text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}

/** The protocol has no mark for a failed call: the text says so. */
function toolParam(block: ContentBlock): Param[] {
  if (block.type !== "tool_result") return [];
  return [{ role: "tool", tool_call_id: block.tool_use_id, content: block.is_error ? `Error: ${block.content}` : block.content }];
}

/** Plain text where there are no images: some servers know no other form. */
function userParams(content: readonly ContentBlock[]): Param[] {
  const parts = content.flatMap((block): OpenAI.ChatCompletionContentPart[] => {
    if (block.type === "text") return [{ type: "text", text: block.text }];
    if (block.type !== "image") return [];
    return [{ type: "image_url", image_url: { url: `data:${block.source.media_type};base64,${block.source.data}` } }];
  });
  if (parts.length === 0) return [];
  const isText = parts.every((part) => part.type === "text");
  return [{ role: "user", content: isText ? parts.map((part) => part.text).join("\n\n") : parts }];
}

/** A tool call as far as it has come. */
type OpenCall = { readonly index: number | undefined; readonly id: string; readonly name: string; arguments: string };

async function* translate(stream: AsyncIterable<Chunk>): AsyncGenerator<ModelEvent> {
  const calls: OpenCall[] = [];
  let speaking: "text" | "thinking" | null = null;
  let block = 0;
  let finish: string | null = null;
  let usage = NO_TOKENS;
  for await (const chunk of stream) {
    if (chunk.usage) usage = usageOf(chunk.usage);
    const choice = chunk.choices[0];
    if (choice === undefined) continue;
    for (const { kind, text } of saidBy(choice.delta)) {
      if (speaking !== kind) {
        yield* endOf(speaking, block);
        if (speaking !== null) block += 1;
        speaking = kind;
        yield { type: `${kind}_start`, block };
      }
      yield { type: `${kind}_delta`, block, text };
    }
    for (const fragment of choice.delta.tool_calls ?? []) addFragment(calls, fragment);
    finish = choice.finish_reason ?? finish;
  }
  if (finish === null) throw new ModelError("broken", "the model's stream ended before the message was complete");
  yield* endOf(speaking, block);
  for (const [place, call] of calls.entries()) {
    const args = call.arguments.trim() === "" ? "{}" : call.arguments;
    yield { type: "tool_use", block: block + 1 + place, id: call.id, name: call.name, arguments: args };
  }
  yield { type: "end", stopReason: stopReasonOf(finish, calls.length > 0), usage };
}

/** What a chunk says: thoughts, as servers of open models name them, and text. */
function saidBy(delta: Chunk["choices"][number]["delta"]): { readonly kind: "text" | "thinking"; readonly text: string }[] {
  const said: object = delta;
  const thought = "reasoning_content" in said ? said.reasoning_content : "reasoning" in said ? said.reasoning : null;
  return [
    ...(typeof thought === "string" && thought !== "" ? [{ kind: "thinking", text: thought } as const] : []),
    ...(delta.content ? [{ kind: "text", text: delta.content } as const] : []),
    ...(delta.refusal ? [{ kind: "text", text: delta.refusal } as const] : []),
  ];
}

function* endOf(speaking: "text" | "thinking" | null, block: number): Generator<ModelEvent> {
  if (speaking === "text") yield { type: "text_end", block };
  if (speaking === "thinking") yield { type: "thinking_end", block, signature: null, redacted: null };
}

/**
 * Adds a fragment to its call. Servers differ: the id may come once, in each fragment, or never; calls may be told
 * apart by their index, or all have the same one and come whole.
 */
function addFragment(calls: OpenCall[], fragment: Partial<OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall>): void {
  const { index, id, function: said } = fragment;
  const current = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index);
  const continues = current !== undefined && (!said?.name || (id ? current.id === id : !isWhole(current.arguments)));
  const call = continues ? current : { index, id: id || `call_${randomUUID()}`, name: said?.name ?? "", arguments: "" };
  if (!continues) calls.push(call);
  call.arguments += said?.arguments ?? "";
}

function isWhole(args: string): boolean {
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}

/** Some servers say `stop` after whole tool calls. */
function stopReasonOf(finish: string, hasCalls: boolean): StopReason {
  switch (finish) {
    case "tool_calls":
    case "function_call":
      return "tool_use";
    case "stop":
      return hasCalls ? "tool_use" : "end_turn";
    case "length":
      return "max_tokens";
    case "content_filter":
      return "refusal";
    default:
      return "end_turn";
  }
}

/** The protocol counts what came from the cache among the input. */
function usageOf({ prompt_tokens, completion_tokens, prompt_tokens_details }: OpenAI.CompletionUsage): TokenUsage {
  const cacheReadTokens = prompt_tokens_details?.cached_tokens ?? 0;
  return { inputTokens: prompt_tokens - cacheReadTokens, outputTokens: completion_tokens, cacheReadTokens, cacheWriteTokens: 0 };
}

function modelError(error: unknown): ModelError {
  if (error instanceof OpenAI.APIConnectionError) return unreachable(error);
  if (!(error instanceof OpenAI.APIError)) return brokenStream(error);
  return providerError({ status: error.status ?? null, headers: error.headers, body: error.error, cause: error });
}
