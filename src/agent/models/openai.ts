import { createHash, randomUUID } from "node:crypto";
import type OpenAI from "openai";
import { activityFetch } from "./activity-fetch.ts";
import {
  ModelError,
  NO_TOKENS,
  type ContentBlock,
  type Model,
  type ModelErrorKind,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type StopReason,
  type TokenPrice,
  type TokenUsage,
} from "./model.ts";
import { brokenStream, answeredError, unreachable } from "./provider-error.ts";

/** The address and key of a model behind a chat completions API. `baseUrl` is null for OpenAI's own. */
export type OpenAiOptions = {
  /** Null for a server that asks for none. */
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
  readonly model: string;
  /** Null for the server's own limit. */
  readonly maxTokens: number | null;
  readonly price: TokenPrice | null;
};

type Chunk = OpenAI.ChatCompletionChunk;
type Param = OpenAI.ChatCompletionMessageParam;

/** The SDK is loaded by the first call that needs it: a server without one starts sooner, and smaller. */
const loadSdk = async (): Promise<typeof OpenAI> => (await import("openai")).default;

/**
 * A model by the streaming chat completions API: OpenAI's own, and what speaks the same protocol (Ollama, vLLM,
 * LM Studio). Calls are repeated by the loop, not by the SDK.
 */
export function openAiModel({ apiKey, baseUrl, model, maxTokens, price }: OpenAiOptions): Model {
  const settings = {
    // The SDK wants a key, and takes an organization from the environment: neither goes where it does not belong.
    apiKey: apiKey ?? "none",
    organization: null,
    project: null,
    ...(apiKey === null ? { defaultHeaders: { Authorization: null } } : {}),
    maxRetries: 0,
    // It logs what it cannot read, which may hold what people wrote.
    logLevel: "off",
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
  } as const;
  let client: OpenAI | null = null;
  // OpenAI's newer models refuse the older name of the limit, and other servers know only that.
  const isOpenAi = baseUrl === null || new URL(baseUrl).hostname === "api.openai.com";
  const limit = maxTokens === null ? {} : isOpenAi ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens };
  return {
    name: `openai ${model}`,
    price,
    async *stream(request, signal, heard) {
      const Sdk = await loadSdk();
      client ??= new Sdk(settings);
      try {
        const stream = await client
          .withOptions({ fetch: activityFetch(heard) })
          .chat.completions.create(
            { ...body(request), ...limit, model, stream: true, stream_options: { include_usage: true } },
            { signal },
          );
        yield* translate(stream);
      } catch (error) {
        signal.throwIfAborted();
        throw modelError(Sdk, error, apiKey);
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
      ? [
          {
            id: sentId(block.id),
            type: "function",
            function: { name: block.name, arguments: JSON.stringify(block.input) },
          } as const,
        ]
      : [],
  );
  if (text === "" && calls.length === 0) return [];
  return [{ role: "assistant", content: text === "" ? null : text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
}

/**
 * An id of a call as every server takes it back: Mistral's wants nine letters and digits, and OpenAI's 40 characters at most. Ids
 * may be those of another provider, or of a script.
 */
function sentId(id: string): string {
  return createHash("sha256")
    .update(id)
    .digest("base64")
    .replaceAll(/[^a-zA-Z0-9]/g, "")
    .slice(0, 9);
}

/** The protocol has no mark for a failed call: the text says so. */
function toolParam(block: ContentBlock): Param[] {
  if (block.type !== "tool_result") return [];
  return [
    {
      role: "tool",
      tool_call_id: sentId(block.tool_use_id),
      content: block.is_error ? `Error: ${block.content}` : block.content,
    },
  ];
}

/** Plain text if there are no images: some servers know no other form. */
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

/** A tool call as far as it has come, with the id that the server gave it, if it did. */
type OpenCall = {
  readonly index: number | undefined;
  readonly givenId: string | undefined;
  readonly name: string;
  arguments: string;
};

async function* translate(stream: AsyncIterable<Chunk>): AsyncGenerator<ModelEvent> {
  const calls: OpenCall[] = [];
  let speaking: "text" | "thinking" | null = null;
  let block = 0;
  let finish: string | null = null;
  let usage = NO_TOKENS;
  for await (const chunk of stream) {
    if (chunk.usage) {
      usage = usageOf(chunk.usage);
      yield { type: "counted", usage };
    }
    const choice = chunk.choices[0];
    if (choice === undefined) continue;
    const delta: Partial<Chunk["choices"][number]["delta"]> = choice.delta ?? {};
    for (const { kind, text } of saidBy(delta)) {
      if (speaking !== kind) {
        yield* endOfThought(speaking, block);
        if (speaking !== null) block += 1;
        speaking = kind;
        yield { type: `${kind}_start`, block };
      }
      yield { type: `${kind}_delta`, block, text };
    }
    for (const fragment of delta.tool_calls ?? []) {
      addFragment(calls, fragment);
      yield { type: "arguments_delta", characters: fragment.function?.arguments?.length ?? 0 };
    }
    // Some servers say "" for null.
    finish = choice.finish_reason || finish;
  }
  if (finish === null) throw new ModelError("broken", "the model's stream ended before the message was complete");
  const gaveUp = KIND_BY_FAILED_FINISH.get(finish);
  if (gaveUp !== undefined) throw new ModelError(gaveUp, `the model's server gave the answer up (${finish})`);
  yield* endOfThought(speaking, block);
  for (const [place, call] of calls.entries()) {
    const args = call.arguments.trim() === "" ? "{}" : call.arguments;
    // Ids of one's own: those of servers may repeat, and other providers refuse their form.
    const id = `call_${randomUUID().replaceAll("-", "")}`;
    yield { type: "tool_use", block: block + 1 + place, id, name: call.name, arguments: args };
  }
  yield { type: "end", stopReason: stopReasonOf(finish, calls.length > 0), usage };
}

/** The content of a chunk: thoughts, as servers of open models name them, and text. */
function saidBy(
  delta: Partial<Chunk["choices"][number]["delta"]>,
): { readonly kind: "text" | "thinking"; readonly text: string }[] {
  const said: object = delta;
  const named = "reasoning_content" in said ? said.reasoning_content : null;
  const thought = named ?? ("reasoning" in said ? said.reasoning : null);
  return [
    ...(typeof thought === "string" && thought !== "" ? [{ kind: "thinking", text: thought } as const] : []),
    ...(delta.content ? [{ kind: "text", text: delta.content } as const] : []),
    ...(delta.refusal ? [{ kind: "text", text: delta.refusal } as const] : []),
  ];
}

function* endOfThought(speaking: "text" | "thinking" | null, block: number): Generator<ModelEvent> {
  if (speaking === "thinking") yield { type: "thinking_end", block, signature: null, redacted: null };
}

/**
 * Adds a fragment to its call. Servers differ: the id may come once, in each fragment, or never; calls may be told
 * apart by their index, or all have the same one and come whole.
 */
function addFragment(calls: OpenCall[], fragment: Partial<OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall>): void {
  const { index, id, function: said } = fragment;
  const current = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index);
  const name = said?.name ?? "";
  const isSame = id ? current?.givenId === id : current?.name === name && !isWhole(current.arguments);
  const continues = current !== undefined && (name === "" || isSame);
  const call = continues ? current : { index, givenId: id, name, arguments: "" };
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

/** Reasons to finish of an answer that is none, since its server gave it up: Mistral, vLLM and OpenRouter; vLLM and SGLang; DeepSeek. */
const KIND_BY_FAILED_FINISH: ReadonlyMap<string, ModelErrorKind> = new Map([
  ["error", "broken"],
  ["abort", "broken"],
  ["insufficient_system_resource", "overloaded"],
]);

/** Some servers say `stop` after whole tool calls; `model_length` is Mistral's. */
function stopReasonOf(finish: string, hasCalls: boolean): StopReason {
  switch (finish) {
    case "tool_calls":
    case "function_call":
      return "tool_use";
    case "stop":
      return hasCalls ? "tool_use" : "end_turn";
    case "length":
    case "model_length":
      return "max_tokens";
    case "content_filter":
      return "refusal";
    default:
      return "end_turn";
  }
}

/** The protocol counts what came from the cache among the input. */
function usageOf(usage: Partial<OpenAI.CompletionUsage>): TokenUsage {
  const cacheReadTokens = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const inputTokens = Math.max(0, (usage.prompt_tokens ?? 0) - cacheReadTokens);
  return { inputTokens, outputTokens: usage.completion_tokens ?? 0, cacheReadTokens, cacheWriteTokens: 0 };
}

function modelError(Sdk: typeof OpenAI, error: unknown, apiKey: string | null): ModelError {
  if (error instanceof Sdk.APIConnectionError) return unreachable(error);
  if (!(error instanceof Sdk.APIError)) return brokenStream(error);
  return answeredError(error, apiKey);
}
