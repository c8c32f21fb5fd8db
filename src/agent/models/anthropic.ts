import { randomUUID } from "node:crypto";
import type Anthropic from "@anthropic-ai/sdk";
import { isJsonObject } from "../../lib/json.ts";
import { activityFetch } from "./activity-fetch.ts";
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
import { brokenStream, answeredError, unreachable } from "./provider-error.ts";

/** The thinking of a Claude model before it answers: as much as it sees fit, so many tokens, or null for the model's default. */
export type AnthropicThinking = "adaptive" | { readonly budgetTokens: number } | null;

/** The address and key of a Claude model. */
export type AnthropicOptions = {
  readonly apiKey: string;
  readonly baseUrl: string | null;
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking: AnthropicThinking;
  /** Texts at which the model stops. */
  readonly stopSequences: readonly string[];
  readonly price: TokenPrice | null;
};

/** Stop reasons of the Messages API by what they mean to the loop; one that is not listed ends the turn. */
const STOP_REASON_BY_NAME: Readonly<Record<string, StopReason>> = {
  end_turn: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  model_context_window_exceeded: "max_tokens",
  stop_sequence: "stop_sequence",
  refusal: "refusal",
  pause_turn: "pause_turn",
};

type TurnParam = { readonly role: "user" | "assistant"; readonly content: Anthropic.ContentBlockParam[] };
type Body = Omit<Anthropic.MessageCreateParamsStreaming, "stream">;

/** The SDK is loaded by the first call that needs it: a server without one starts sooner, and smaller. */
const loadSdk = async (): Promise<typeof Anthropic> => (await import("@anthropic-ai/sdk")).default;

/**
 * A Claude model by the official SDK's streaming Messages API. Calls are repeated by the loop, not by the SDK. Tools
 * and system prompt, and the conversation up to its newest message, are marked for the provider's prompt cache.
 */
export function anthropicModel(options: AnthropicOptions): Model {
  const { apiKey, baseUrl } = options;
  const settings = {
    apiKey,
    authToken: null,
    maxRetries: 0,
    // It logs what it cannot read, which may hold what people wrote.
    logLevel: "off",
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
  } as const;
  let client: Anthropic | null = null;
  const name = `anthropic ${options.model}`;
  return {
    name,
    price: options.price,
    async *stream(request, signal, heard) {
      const Sdk = await loadSdk();
      client ??= new Sdk(settings);
      try {
        const stream = await client
          .withOptions({ fetch: activityFetch(heard) })
          .messages.create({ ...body(request, name, options), stream: true }, { signal });
        yield* translate(stream, idsOf(request.messages));
      } catch (error) {
        signal.throwIfAborted();
        throw modelError(Sdk, error, apiKey);
      }
    },
  };
}

function body(request: ModelRequest, name: string, { model, maxTokens, thinking, stopSequences }: AnthropicOptions): Body {
  return {
    model,
    max_tokens: maxTokens,
    system: [{ type: "text", text: request.system, cache_control: { type: "ephemeral" } }],
    messages: cached(request.messages.flatMap((message) => messageParam(message, name))),
    tools: request.tools.map(({ name: tool, description, inputSchema }) => ({
      name: tool,
      description,
      input_schema: { ...inputSchema, type: "object" },
    })),
    ...thinkingParam(request, name, thinking),
    ...(stopSequences.length === 0 ? {} : { stop_sequences: [...stopSequences] }),
  };
}

function thinkingParam(
  { messages, exposeThinking }: ModelRequest,
  name: string,
  thinking: AnthropicThinking,
): Pick<Body, "thinking"> {
  const display = exposeThinking ? ({ display: "summarized" } as const) : {};
  if (thinking === null) return {};
  if (thinking === "adaptive") return { thinking: { type: "adaptive", ...display } };
  return mayThink(messages, name) ? { thinking: { type: "enabled", budget_tokens: thinking.budgetTokens, ...display } } : {};
}

/**
 * With a budget, a turn is thought through from its start or not at all: if its first answer's thoughts were not
 * retained, or another model gave it, the provider refuses to think on.
 */
function mayThink(messages: readonly ModelMessage[], name: string): boolean {
  const person = messages.findLastIndex(
    ({ role, content }) => role === "user" && content.every((block) => block.type !== "tool_result"),
  );
  const first = messages.slice(person + 1).find(({ role }) => role === "assistant");
  return first === undefined || first.content.some((block) => block.type === "thinking" && block.by === name);
}

/** A message without content is left out: the provider refuses it. */
function messageParam({ role, content }: ModelMessage, name: string): TurnParam[] {
  const blocks = content.flatMap((block) => blockParam(block, name));
  // A message that ends in a thought, since nothing came of it, is refused as well.
  const kept = blocks.slice(0, blocks.findLastIndex((block) => !isThinking(block)) + 1);
  return kept.length === 0 ? [] : [{ role, content: kept }];
}

function blockParam(block: ContentBlock, name: string): Anthropic.ContentBlockParam[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "image":
      return [{ type: "image", source: { ...block.source } }];
    case "thinking":
      if (block.by !== name) return [];
      if (block.redacted !== null) return [{ type: "redacted_thinking", data: block.redacted }];
      return block.signature === null ? [] : [{ type: "thinking", thinking: block.thinking, signature: block.signature }];
    case "tool_use":
      return [{ type: "tool_use", id: block.id, name: block.name, input: block.input }];
    case "tool_result":
      return [{ type: "tool_result", tool_use_id: block.tool_use_id, content: block.content, is_error: block.is_error }];
  }
}

/**
 * Marks the ends of the conversation and of what was asked before: the next call finds what lies before them in the
 * cache, also after an answer with more blocks than the provider looks back.
 */
function cached(messages: readonly TurnParam[]): TurnParam[] {
  const asked = messages.findLastIndex(({ role }, index) => role === "user" && index < messages.length - 1);
  return messages.map((message, index) => (index === asked || index === messages.length - 1 ? marked(message) : message));
}

function marked({ role, content }: TurnParam): TurnParam {
  const last = content.findLastIndex((block) => !isThinking(block));
  return {
    role,
    content: content.map((block, index) =>
      index === last && !isThinking(block) ? { ...block, cache_control: { type: "ephemeral" } } : block,
    ),
  };
}

function isThinking(
  block: Anthropic.ContentBlockParam | undefined,
): block is Anthropic.ThinkingBlockParam | Anthropic.RedactedThinkingBlockParam {
  return block?.type === "thinking" || block?.type === "redacted_thinking";
}

type OpenBlock =
  | { readonly type: "text" }
  | { readonly type: "thinking"; signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: unknown; arguments: string }
  | { readonly type: "other" };

/** The ids of the calls of a conversation. */
function idsOf(messages: readonly ModelMessage[]): Set<string> {
  return new Set(messages.flatMap(({ content }) => content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []))));
}

/** The id of a call, which is taken from now on: one of our own if the provider would refuse that which came. */
function taken(ids: Set<string>, given: string): string {
  const id = /^[a-zA-Z0-9_-]+$/.test(given) && !ids.has(given) ? given : `toolu_${randomUUID().replaceAll("-", "")}`;
  ids.add(id);
  return id;
}

/** `ids` are those that calls of the conversation have. */
async function* translate(stream: AsyncIterable<Anthropic.RawMessageStreamEvent>, ids: Set<string>): AsyncGenerator<ModelEvent> {
  const open = new Map<number, OpenBlock>();
  let stopReason: StopReason | null = null;
  let usage = NO_TOKENS;
  for await (const event of stream) {
    switch (event.type) {
      case "message_start":
        usage = usageOf(event.message.usage, usage);
        yield { type: "counted", usage };
        break;
      case "content_block_start": {
        if (open.has(event.index)) throw malformed(`block ${event.index} began twice`);
        open.set(event.index, openBlock(event.content_block, ids));
        yield* begin(event.index, event.content_block);
        break;
      }
      case "content_block_delta":
        yield* extend(event.index, open.get(event.index), event.delta);
        break;
      case "content_block_stop": {
        const block = open.get(event.index);
        if (block === undefined) throw malformed(`block ${event.index} ended and never began`);
        open.delete(event.index);
        yield* end(event.index, block);
        break;
      }
      case "message_delta":
        usage = usageOf(event.usage, usage);
        yield { type: "counted", usage };
        if (event.delta.stop_reason !== null) stopReason = STOP_REASON_BY_NAME[event.delta.stop_reason] ?? "end_turn";
        break;
      case "message_stop":
        break;
    }
  }
  if (stopReason === null) throw new ModelError("broken", "the model's stream ended before the message was complete");
  for (const [index, block] of open) yield* end(index, block);
  yield { type: "end", stopReason, usage };
}

function openBlock(block: Anthropic.ContentBlock, ids: Set<string>): OpenBlock {
  switch (block.type) {
    case "text":
      return { type: "text" };
    case "thinking":
      return { type: "thinking", signature: block.signature || "" };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: block.data };
    case "tool_use":
      return { type: "tool_use", id: taken(ids, block.id), name: block.name, input: block.input, arguments: "" };
    default:
      return { type: "other" };
  }
}

/** Claude begins with empty blocks. Other servers that speak the protocol may send a block whole. */
function* begin(index: number, block: Anthropic.ContentBlock): Generator<ModelEvent> {
  if (block.type === "text") {
    yield { type: "text_start", block: index };
    if (block.text) yield { type: "text_delta", block: index, text: block.text };
  }
  if (block.type === "thinking" || block.type === "redacted_thinking") yield { type: "thinking_start", block: index };
  if (block.type === "thinking" && block.thinking) yield { type: "thinking_delta", block: index, text: block.thinking };
}

function* extend(index: number, block: OpenBlock | undefined, delta: Anthropic.RawContentBlockDelta): Generator<ModelEvent> {
  if (block === undefined) throw malformed(`block ${index} goes on and never began`);
  switch (delta.type) {
    case "text_delta":
      if (block.type !== "text") throw malformed(`block ${index} is ${block.type} and has text`);
      yield { type: "text_delta", block: index, text: delta.text };
      return;
    case "thinking_delta":
      if (block.type !== "thinking") throw malformed(`block ${index} is ${block.type} and has thinking`);
      yield { type: "thinking_delta", block: index, text: delta.thinking };
      return;
    case "signature_delta":
      if (block.type !== "thinking") throw malformed(`block ${index} is ${block.type} and has a signature`);
      block.signature += delta.signature;
      return;
    case "input_json_delta":
      if (block.type !== "tool_use") return;
      block.arguments += delta.partial_json;
      yield { type: "arguments_delta", characters: delta.partial_json.length };
      return;
    default:
      return;
  }
}

function* end(index: number, block: OpenBlock): Generator<ModelEvent> {
  switch (block.type) {
    case "thinking":
      yield { type: "thinking_end", block: index, signature: block.signature || null, redacted: null };
      return;
    case "redacted_thinking":
      yield { type: "thinking_end", block: index, signature: null, redacted: block.data };
      return;
    case "tool_use": {
      // A call without any argument, or that began whole, comes without a single fragment.
      const args = block.arguments || JSON.stringify(isJsonObject(block.input) ? block.input : {});
      yield { type: "tool_use", block: index, id: block.id, name: block.name, arguments: args };
      return;
    }
    case "text":
    case "other":
  }
}

/** The counts so far: those of a later event are totals, and stand in the place of the earlier ones. Servers may count in part, or not at all. */
function usageOf(usage: Partial<Anthropic.Usage | Anthropic.MessageDeltaUsage> | undefined, before: TokenUsage): TokenUsage {
  return {
    inputTokens: usage?.input_tokens ?? before.inputTokens,
    outputTokens: usage?.output_tokens ?? before.outputTokens,
    cacheReadTokens: usage?.cache_read_input_tokens ?? before.cacheReadTokens,
    cacheWriteTokens: usage?.cache_creation_input_tokens ?? before.cacheWriteTokens,
  };
}

function malformed(what: string): ModelError {
  return new ModelError("broken", `the model's stream is malformed: ${what}`);
}

function modelError(Sdk: typeof Anthropic, error: unknown, apiKey: string): ModelError {
  if (error instanceof Sdk.APIConnectionError) return unreachable(error);
  if (!(error instanceof Sdk.APIError)) return brokenStream(error);
  return answeredError(error, apiKey);
}
