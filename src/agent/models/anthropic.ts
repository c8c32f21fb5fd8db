import Anthropic from "@anthropic-ai/sdk";
import { isJsonObject } from "../../lib/json.ts";
import { messageOf } from "../../lib/text.ts";
import {
  ModelError,
  type ModelErrorKind,
  type ContentBlock,
  type Model,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type StopReason,
} from "./model.ts";

/** How a Claude model is reached. */
export type AnthropicOptions = {
  readonly apiKey: string;
  readonly baseUrl: string | null;
  readonly model: string;
  readonly maxTokens: number;
};

/** Stop reasons of the Messages API by what they mean to the loop; one that is not listed ends the turn. */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  model_context_window_exceeded: "max_tokens",
  stop_sequence: "stop_sequence",
  refusal: "refusal",
  pause_turn: "pause_turn",
};

/** A Claude model by the official SDK's streaming Messages API. Calls are repeated by the loop, not by the SDK. */
export function anthropicModel({ apiKey, baseUrl, model, maxTokens }: AnthropicOptions): Model {
  const client = new Anthropic({ apiKey, authToken: null, maxRetries: 0, ...(baseUrl === null ? {} : { baseURL: baseUrl }) });
  return {
    name: `anthropic ${model}`,
    async *stream(request, signal) {
      try {
        const stream = await client.messages.create({ ...body(request), model, max_tokens: maxTokens, stream: true }, { signal });
        yield* translate(stream);
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof ModelError ? error : modelError(error);
      }
    },
  };
}

function body(request: ModelRequest): Pick<Anthropic.MessageCreateParamsStreaming, "system" | "messages" | "tools"> {
  return {
    system: request.system,
    messages: request.messages.map(messageParam),
    tools: request.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: { ...inputSchema, type: "object" },
    })),
  };
}

function messageParam({ role, content }: ModelMessage): Anthropic.MessageParam {
  return { role, content: content.map(blockParam) };
}

function blockParam(block: ContentBlock): Anthropic.ContentBlockParam {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "tool_use":
      return { type: "tool_use", id: block.id, name: block.name, input: block.input };
    case "tool_result":
      return { type: "tool_result", tool_use_id: block.tool_use_id, content: block.content, is_error: block.is_error };
  }
}

type OpenBlock =
  | { readonly type: "text" }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; arguments: string }
  | { readonly type: "other" };

async function* translate(stream: AsyncIterable<Anthropic.RawMessageStreamEvent>): AsyncGenerator<ModelEvent> {
  const open = new Map<number, OpenBlock>();
  let stopReason: StopReason | null = null;
  let inputTokens = 0;
  let outputTokens = 0;
  for await (const event of stream) {
    switch (event.type) {
      case "message_start":
        inputTokens = event.message.usage.input_tokens;
        outputTokens = event.message.usage.output_tokens;
        break;
      case "content_block_start":
        open.set(event.index, openBlock(event.content_block));
        if (event.content_block.type === "text") yield { type: "text_start", block: event.index };
        break;
      case "content_block_delta": {
        const block = open.get(event.index);
        if (event.delta.type === "text_delta" && block?.type === "text")
          yield { type: "text_delta", block: event.index, text: event.delta.text };
        if (event.delta.type === "input_json_delta" && block?.type === "tool_use") block.arguments += event.delta.partial_json;
        break;
      }
      case "content_block_stop": {
        const block = open.get(event.index);
        if (block?.type === "text") yield { type: "text_end", block: event.index };
        // A call without any argument comes without a single fragment.
        if (block?.type === "tool_use")
          yield {
            type: "tool_use",
            block: event.index,
            id: block.id,
            name: block.name,
            arguments: block.arguments === "" ? "{}" : block.arguments,
          };
        open.delete(event.index);
        break;
      }
      case "message_delta":
        outputTokens = event.usage.output_tokens;
        inputTokens = event.usage.input_tokens ?? inputTokens;
        if (event.delta.stop_reason !== null) stopReason = STOP_REASONS[event.delta.stop_reason] ?? "end_turn";
        break;
      case "message_stop":
        break;
    }
  }
  if (stopReason === null) throw new ModelError("broken", "the model's stream ended before the message was complete");
  for (const [index, block] of open) {
    if (block.type === "text") yield { type: "text_end", block: index };
    if (block.type === "tool_use")
      yield { type: "tool_use", block: index, id: block.id, name: block.name, arguments: block.arguments };
  }
  yield { type: "end", stopReason, usage: { inputTokens, outputTokens } };
}

function openBlock(block: Anthropic.ContentBlock): OpenBlock {
  if (block.type === "text") return { type: "text" };
  if (block.type === "tool_use") return { type: "tool_use", id: block.id, name: block.name, arguments: "" };
  return { type: "other" };
}

/** Kinds by the error types of the Messages API: errors inside of a stream have no status. */
const KIND_OF_TYPE: Readonly<Record<string, ModelErrorKind>> = {
  rate_limit_error: "rate_limited",
  overloaded_error: "overloaded",
  api_error: "unavailable",
  timeout_error: "unavailable",
};

/** The provider's own words, without headers or the request. */
function modelError(error: unknown): ModelError {
  if (error instanceof Anthropic.APIConnectionError)
    return new ModelError("unavailable", `the model's provider does not answer (${messageOf(error)})`, { cause: error });
  if (!(error instanceof Anthropic.APIError))
    return new ModelError("broken", `the model's stream broke off: ${messageOf(error)}`, { cause: error });
  const { type, message } = providerError(error.error);
  const said = message ?? error.message;
  if (error.status === undefined)
    return new ModelError(KIND_OF_TYPE[type ?? ""] ?? "broken", `the model's stream broke off: ${said}`, { cause: error });
  return new ModelError(kindOf(error.status), `the model's provider answered ${error.status}: ${said}`, {
    cause: error,
    retryAfterMs: retryAfterOf(error.headers),
  });
}

function kindOf(status: number): ModelErrorKind {
  if (status === 429) return "rate_limited";
  if (status === 529) return "overloaded";
  return status >= 500 || status === 408 || status === 409 ? "unavailable" : "rejected";
}

function retryAfterOf(headers: Headers | undefined): number | null {
  const milliseconds = Number(headers?.get("retry-after-ms") ?? Number.NaN);
  const seconds = Number(headers?.get("retry-after") ?? Number.NaN);
  if (Number.isFinite(milliseconds)) return milliseconds;
  return Number.isFinite(seconds) ? seconds * 1_000 : null;
}

/** `{ error: { type, message } }`, as the Messages API answers, in a response or inside of a stream. */
function providerError(body: unknown): { type: string | undefined; message: string | undefined } {
  const inner = isJsonObject(body) && isJsonObject(body["error"]) ? body["error"] : {};
  const { type, message } = inner;
  return { type: typeof type === "string" ? type : undefined, message: typeof message === "string" ? message : undefined };
}
