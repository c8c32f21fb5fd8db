import type OpenAI from "openai";
import { ProviderRequests, serverSentEvents } from "./provider-requests.ts";
import { AskedWindow } from "./asked-window.ts";
import { chatAnswer } from "./chat-answer.ts";
import { chatBody, compatibilityOf, type WrittenCompatibility } from "./chat-request.ts";
import type { Model, ModelError, ModelRequest, TokenPrice } from "./model.ts";
import { callSettings, type ModelCallSettings } from "./model-settings.ts";
import { itemsIn, objectIn, tokensIn } from "./odd-values.ts";
import { answerTool, choiceWith, inPlainText, type AnswerTool } from "./shapes/answer-tool.ts";
import { strictSchema } from "./shapes/strict-schema.ts";
import { toolSchema } from "./tool-schema.ts";
import { answeredError, brokenStream, unreachable } from "./provider-error.ts";

/** `baseUrl` is null for OpenAI's own. */
export type OpenAiOptions = {
  /** Null for a server that asks for none. */
  readonly apiKey: string | null;
  readonly baseUrl: string | null;
  readonly model: string;
  /** Null for the server's own limit. */
  readonly maxTokens: number | null;
  readonly price: TokenPrice | null;
  /** The tokens of its context window; null to ask the server. */
  readonly window: number | null;
  readonly compat: WrittenCompatibility;
  readonly settings: ModelCallSettings;
};

/** The use, in tokens, from which the server is asked for the context window: small servers read a few thousand. */
const ASKED_FROM = 1_000;

/** The fields of a model's entry that say its window: OpenRouter and Together, vLLM, Groq, Mistral. */
const WINDOW_FIELDS = ["context_length", "max_model_len", "context_window", "max_context_length"] as const;

/** Loaded by the first call that needs it: a server without one starts sooner, and takes less memory. */
const loadSdk = async (): Promise<typeof OpenAI> => (await import("openai")).default;

/**
 * A model by the streaming chat completions API of OpenAI and compatible servers. The loop retries, not the SDK, which
 * sends the request. Answers are parsed here, since servers differ.
 */
export function openAiModel({ apiKey, baseUrl, model, maxTokens, price, window, compat, settings: own }: OpenAiOptions): Model {
  const settings = {
    // The SDK requires a key, and takes an organization from the environment: neither goes to other servers.
    apiKey: apiKey ?? "none",
    organization: null,
    project: null,
    ...(apiKey === null ? { defaultHeaders: { Authorization: null } } : {}),
    maxRetries: 0,
    // It logs unreadable data, which may contain people's texts.
    logLevel: "off",
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
  } as const;
  const compatibility = compatibilityOf(model, compat);
  let made: OpenAI | null = null;
  const clientOf = (Sdk: typeof OpenAI): OpenAI => (made ??= new Sdk(settings));
  const asked = new AskedWindow({ usual: null, from: ASKED_FROM }, async (signal) => {
    const told: unknown = await clientOf(await loadSdk()).get("/models", { signal });
    return windowIn(told, model);
  });
  // OpenAI's newer models reject the older name of the limit, and other servers know only that.
  const isOpenAi = baseUrl === null || new URL(baseUrl).hostname === "api.openai.com";
  const limitName = compatibility.tokenLimit ?? (isOpenAi ? "max_completion_tokens" : "max_tokens");
  const limit = maxTokens === null ? {} : { [limitName]: maxTokens };
  const counting = compatibility.streamOptions ? { stream_options: { include_usage: true } } : {};
  const asks = compatibility.shapes ?? (isOpenAi ? "json_schema" : "tool");
  const name = `openai ${model}`;
  return {
    name,
    price,
    window: (inUse) => window ?? asked.tokens(inUse),
    async *stream(request, signal, heard) {
      const Sdk = await loadSdk();
      const client = clientOf(Sdk);
      const requests = new ProviderRequests(heard);
      const shape = shapeOf(request, asks);
      const asked = shape?.tool == null ? request : { ...request, tools: [...request.tools, shape.tool.description] };
      try {
        const response = await client
          .withOptions({ fetch: requests.fetch })
          .chat.completions.create(
            {
              ...chatBody(asked, name, compatibility),
              ...settingParams(own, request, shape),
              ...limit,
              ...counting,
              model,
              stream: true,
            },
            { signal },
          )
          .asResponse();
        const answer = chatAnswer(serverSentEvents(response, signal), {
          thinkTags: compatibility.thinkTags,
          apiKey,
          hasFormat: shape?.format != null,
        });
        yield* inPlainText(answer, shape?.tool ?? null);
      } catch (error) {
        signal.throwIfAborted();
        throw modelError(Sdk, error, requests, apiKey);
      }
    },
  };
}

type Format = OpenAI.ResponseFormatJSONSchema;

/** The way in which a server is asked for a shape: it enforces the schema, or there is a tool for the answer. */
type AskedShape = { readonly format: Format; readonly tool: null } | { readonly format: null; readonly tool: AnswerTool };

/** OpenAI enforces a schema only if no field may be left out; others are followed as well as the model can. */
function shapeOf({ shape, tools }: ModelRequest, asks: "json_schema" | "tool"): AskedShape | null {
  if (shape === null) return null;
  if (asks === "tool") return { format: null, tool: answerTool(shape, tools) };
  const strict = strictSchema(shape);
  const isEnforced = strict !== null && !strict.hasOptional;
  const schema: Record<string, unknown> = isEnforced ? strict.schema : toolSchema(shape);
  return { format: { type: "json_schema", json_schema: { name: "answer", strict: isEnforced, schema } }, tool: null };
}

function settingParams(own: ModelCallSettings, request: ModelRequest, shape: AskedShape | null) {
  const { temperature, stopSequences, effort, toolChoice: chosen } = callSettings(own, request);
  const toolChoice = shape?.tool == null ? chosen : choiceWith(shape.tool, chosen);
  return {
    ...(temperature === null ? {} : { temperature }),
    ...(stopSequences.length === 0 ? {} : { stop: [...stopSequences] }),
    ...(effort === null ? {} : { reasoning_effort: effort }),
    ...(toolChoice === null ? {} : { tool_choice: toolChoiceParam(toolChoice) }),
    ...(shape?.format == null ? {} : { response_format: shape.format }),
  };
}

function toolChoiceParam(choice: NonNullable<ModelCallSettings["toolChoice"]>): OpenAI.ChatCompletionToolChoiceOption {
  return typeof choice === "object" ? { type: "function", function: { name: choice.tool } } : choice;
}

/** The context window in a server's list of models; null if it says none. */
function windowIn(list: unknown, model: string): number | null {
  const entries = itemsIn(objectIn(list)["data"]).map(objectIn);
  const entry = entries.find(({ id }) => id === model);
  const said = WINDOW_FIELDS.map((field) => tokensIn(entry?.[field])).find((tokens) => tokens !== null && tokens > 0);
  return said ?? null;
}

function modelError(Sdk: typeof OpenAI, error: unknown, { refused }: ProviderRequests, apiKey: string | null): ModelError {
  if (error instanceof Sdk.APIConnectionError) return unreachable(error, apiKey);
  if (!(error instanceof Sdk.APIError)) return brokenStream(error);
  return answeredError(error, refused, apiKey);
}
