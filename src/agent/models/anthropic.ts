import type Anthropic from "@anthropic-ai/sdk";
import type { JsonObject } from "../../lib/json.ts";
import { ProviderRequests, serverSentEvents } from "./provider-requests.ts";
import { messagesAnswer } from "./messages-answer.ts";
import { isOwnAddress, refusesDiagnosis } from "./cache-diagnosis.ts";
import { AskedWindow } from "./asked-window.ts";
import { AskedCapabilities, readable, type Capabilities, type CapabilitySettings } from "./capabilities.ts";
import { callSettings, claudeEffort, type ModelCallSettings } from "./model-settings.ts";
import { ModelError, type ContentBlock, type Model, type ModelMessage, type ModelRequest, type TokenPrice } from "./model.ts";
import { objectIn, tokensIn } from "./odd-values.ts";
import { answeredError, brokenStream, unreachable } from "./provider-error.ts";
import { answerTool, choiceWith, inPlainText, type AnswerTool } from "./shapes/answer-tool.ts";
import { strictSchema } from "./shapes/strict-schema.ts";
import { toolSchema } from "./tool-schema.ts";

export type AnthropicThinking = "adaptive" | { readonly budgetTokens: number } | null;

export type AnthropicOptions = {
  readonly apiKey: string;
  readonly baseUrl: string | null;
  readonly model: string;
  readonly maxTokens: number;
  readonly thinking: AnthropicThinking;
  readonly settings: ModelCallSettings;
  readonly price: TokenPrice | null;
  /** The tokens of its context window; null to ask the provider. */
  readonly window: number | null;
  /** Whether the provider is asked why its cache missed. Null or absent: only at Anthropic's own address. */
  readonly cacheDiagnostics?: boolean | null;
  /** The parts of requests that the model accepts or refuses; the provider is asked about the others. */
  readonly capabilities?: CapabilitySettings | null;
};

type TurnParam = { readonly role: "user" | "assistant"; readonly content: Anthropic.ContentBlockParam[] };
type Body = Omit<Anthropic.MessageCreateParamsStreaming, "stream">;

/** The smallest context window of a Claude model, in tokens, and the use from which the provider is asked for it. */
const USUAL_WINDOW = 200_000;
const ASKED_FROM = 50_000;

/** Loaded by the first call that needs it: a server without one starts sooner, and takes less memory. */
const loadSdk = async (): Promise<typeof Anthropic> => (await import("@anthropic-ai/sdk")).default;

/**
 * A Claude model by the official SDK's streaming Messages API. The loop retries, not the SDK. Tools, system prompt, and
 * the conversation up to its newest message are marked for the provider's prompt cache.
 */
export function anthropicModel(options: AnthropicOptions): Model {
  const { apiKey, baseUrl } = options;
  const settings = {
    apiKey,
    authToken: null,
    maxRetries: 0,
    // It logs unreadable data, which may contain people's texts.
    logLevel: "off",
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
  } as const;
  let made: Anthropic | null = null;
  const clientOf = (Sdk: typeof Anthropic): Anthropic => (made ??= new Sdk(settings));
  const name = `anthropic ${options.model}`;
  let asksDiagnosis = options.cacheDiagnostics ?? isOwnAddress(baseUrl);
  const describe = async (signal: AbortSignal): Promise<unknown> =>
    clientOf(await loadSdk()).models.retrieve(options.model, {}, { signal });
  const asked = new AskedWindow({ usual: USUAL_WINDOW, from: ASKED_FROM }, async (signal) =>
    tokensIn(objectIn(await describe(signal))["max_input_tokens"]),
  );
  const capabilities = new AskedCapabilities(options.capabilities ?? {}, describe);
  const capable = (request: ModelRequest): Promise<Capabilities> =>
    capabilities.for(request, callSettings(options.settings, request));
  return {
    name,
    price: options.price,
    window: (inUse) => options.window ?? asked.tokens(inUse),
    async count(request, signal) {
      const counted = countedBody(request, name, options, await capable(request));
      const told: unknown = await clientOf(await loadSdk()).messages.countTokens(counted, { signal });
      const tokens = tokensIn(objectIn(told)["input_tokens"]);
      if (tokens === null) throw new ModelError("broken", "the model's provider counts no tokens");
      return tokens;
    },
    async *stream(request, signal, heard) {
      const Sdk = await loadSdk();
      const client = clientOf(Sdk);
      const requests = new ProviderRequests(heard);
      const can = await capable(request);
      const shape = shapeOf(request, can);
      const whole = body(request, shape, name, options, can);
      const { previousAnswer: previous } = request;
      let diagnosed = asksDiagnosis && previous !== undefined ? { diagnostics: { previous_message_id: previous } } : {};
      const send = (): Promise<Response> =>
        client
          .withOptions({ fetch: requests.fetch })
          .messages.create({ ...whole, ...diagnosed, stream: true }, { signal })
          .asResponse();
      try {
        const response = await send().catch((error: unknown) => {
          if (!("diagnostics" in diagnosed) || !refusesDiagnosis(requests.refused)) throw error;
          asksDiagnosis = false;
          diagnosed = {};
          requests.refused = null;
          return send();
        });
        const isDiagnosed = "diagnostics" in diagnosed;
        const ids = idsOf(request.messages);
        const answer = messagesAnswer(serverSentEvents(response, signal), { ids, apiKey, isDiagnosed });
        yield* inPlainText(answer, shape?.tool ?? null);
      } catch (error) {
        signal.throwIfAborted();
        throw modelError(Sdk, error, requests, apiKey);
      }
    },
  };
}

/** The way in which the provider is asked for a shape: it enforces the schema, or there is a tool for the answer. */
type AskedShape = { readonly format: JsonObject; readonly tool: null } | { readonly format: null; readonly tool: AnswerTool };

function shapeOf({ shape, tools }: ModelRequest, { structuredOutputs }: Capabilities): AskedShape | null {
  if (shape === null) return null;
  const strict = structuredOutputs === false ? null : strictSchema(shape);
  return strict === null ? { format: null, tool: answerTool(shape, tools) } : { format: strict.schema, tool: null };
}

function body(
  request: ModelRequest,
  shape: AskedShape | null,
  name: string,
  { model, maxTokens, thinking, settings }: AnthropicOptions,
  can: Capabilities,
): Body {
  return {
    model,
    max_tokens: maxTokens,
    system: [{ type: "text", text: request.system, cache_control: { type: "ephemeral" } }],
    messages: cached(inTurns(readable(request.messages, can).flatMap((message) => messageParam(message, name)))),
    tools: [...request.tools, ...(shape?.tool == null ? [] : [shape.tool.description])].map(
      ({ name: tool, description, inputSchema }) => ({
        name: tool,
        description,
        input_schema: { ...toolSchema(inputSchema), type: "object" },
      }),
    ),
    ...thinkingParam(request, name, thinking),
    ...settingParams(callSettings(settings, request), shape, thinking !== null, can),
  };
}

/** A request as the provider counts it: with all that takes tokens, and no settings of the answer. */
function countedBody(request: ModelRequest, name: string, options: AnthropicOptions, can: Capabilities) {
  const { temperature: _temperature, ...settings } = request.settings;
  const unset = { ...options, settings: { ...options.settings, temperature: null } };
  const whole = body({ ...request, settings }, shapeOf(request, can), name, unset, can);
  const { max_tokens: _maxTokens, stop_sequences: _stopSequences, ...counted } = whole;
  return counted;
}

/** The provider refuses a temperature and a forced tool with thoughts. The SDK does not know the temperature: newer models refuse it. */
function settingParams(
  { temperature, stopSequences, effort, toolChoice }: ModelCallSettings,
  shape: AskedShape | null,
  thinks: boolean,
  { efforts }: Capabilities,
) {
  const known = claudeEffort(effort);
  const sentEffort = known !== null && efforts?.includes(known) === false ? null : known;
  const wanted = shape?.tool == null ? toolChoice : choiceWith(shape.tool, toolChoice);
  const isFree = thinks && (wanted !== "none" || shape?.tool != null);
  const choice = isFree ? undefined : toolChoiceParam(wanted);
  const output = {
    ...(sentEffort === null ? {} : { effort: sentEffort }),
    ...(shape?.format == null ? {} : { format: { type: "json_schema", schema: shape.format } as const }),
  };
  return {
    ...(stopSequences.length === 0 ? {} : { stop_sequences: [...stopSequences] }),
    ...(temperature === null || thinks ? {} : { temperature }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    ...(choice === undefined ? {} : { tool_choice: choice }),
  };
}

function toolChoiceParam(choice: ModelCallSettings["toolChoice"]): Anthropic.ToolChoice | undefined {
  if (choice === null) return undefined;
  if (typeof choice === "object") return { type: "tool", name: choice.tool };
  return { type: choice === "required" ? "any" : choice };
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
 * With a budget, a turn has thoughts from its start or not at all. If its first answer's thoughts were not retained, or
 * came from another model, the provider rejects further thoughts.
 */
function mayThink(messages: readonly ModelMessage[], name: string): boolean {
  const person = messages.findLastIndex(
    ({ role, content }) => role === "user" && content.every((block) => block.type !== "tool_result"),
  );
  const first = messages.slice(person + 1).find(({ role }) => role === "assistant");
  return first === undefined || first.content.some((block) => block.type === "thinking" && block.by === name);
}

function messageParam({ role, content }: ModelMessage, name: string): TurnParam[] {
  const blocks = content.flatMap((block) => blockParam(block, name));
  // A message that ends in an unfinished thought is rejected as well.
  const kept = blocks.slice(0, blocks.findLastIndex((block) => !isThinking(block)) + 1);
  return kept.length === 0 ? [] : [{ role, content: kept }];
}

function blockParam(block: ContentBlock, name: string): Anthropic.ContentBlockParam[] {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
    case "image":
      return [{ type: "image", source: { ...block.source } }];
    case "thinking":
      if (block.by !== name) return [];
      if (block.redacted !== null) return [{ type: "redacted_thinking", data: block.redacted }];
      // Servers without signatures require the thought as well.
      return block.signature === null && block.thinking === ""
        ? []
        : [{ ...block.fields, type: "thinking", thinking: block.thinking, signature: block.signature ?? "" }];
    case "tool_use": {
      const fields = block.provider?.by === name ? block.provider.fields : {};
      return [{ ...fields, type: "tool_use", id: block.id, name: block.name, input: block.input }];
    }
    case "tool_result":
      return [{ type: "tool_result", tool_use_id: block.tool_use_id, content: block.content, is_error: block.is_error }];
  }
}

function inTurns(messages: readonly TurnParam[]): TurnParam[] {
  const turns: TurnParam[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.role === message.role) turns[turns.length - 1] = { ...last, content: [...last.content, ...message.content] };
    else turns.push(message);
  }
  return turns;
}

/**
 * Marks the ends of the conversation and of the previous request. The next call finds the part before them in the
 * cache, also after an answer with more blocks than the provider searches.
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

function idsOf(messages: readonly ModelMessage[]): Set<string> {
  return new Set(messages.flatMap(({ content }) => content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []))));
}

function modelError(Sdk: typeof Anthropic, error: unknown, { refused }: ProviderRequests, apiKey: string): ModelError {
  if (error instanceof Sdk.APIConnectionError) return unreachable(error, apiKey);
  if (!(error instanceof Sdk.APIError)) return brokenStream(error);
  return answeredError(error, refused, apiKey);
}
