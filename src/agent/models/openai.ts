import type OpenAI from "openai";
import { ProviderRequests, serverSentEvents } from "./provider-requests.ts";
import { chatAnswer } from "./chat-answer.ts";
import { chatBody, compatibilityOf, type WrittenCompatibility } from "./chat-request.ts";
import type { Model, ModelError, ModelRequest, TokenPrice } from "./model.ts";
import { callSettings, type ModelCallSettings } from "./model-settings.ts";
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
  readonly compat: WrittenCompatibility;
  readonly settings: ModelCallSettings;
};

/** Loaded by the first call that needs it: a server without one starts sooner, and takes less memory. */
const loadSdk = async (): Promise<typeof OpenAI> => (await import("openai")).default;

/**
 * A model by the streaming chat completions API of OpenAI and compatible servers. The loop retries, not the SDK, which
 * sends the request. Answers are parsed here, since servers differ.
 */
export function openAiModel({ apiKey, baseUrl, model, maxTokens, price, compat, settings: own }: OpenAiOptions): Model {
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
  let client: OpenAI | null = null;
  // OpenAI's newer models reject the older name of the limit, and other servers know only that.
  const isOpenAi = baseUrl === null || new URL(baseUrl).hostname === "api.openai.com";
  const limitName = compatibility.tokenLimit ?? (isOpenAi ? "max_completion_tokens" : "max_tokens");
  const limit = maxTokens === null ? {} : { [limitName]: maxTokens };
  const counting = compatibility.streamOptions ? { stream_options: { include_usage: true } } : {};
  const name = `openai ${model}`;
  return {
    name,
    price,
    async *stream(request, signal, heard) {
      const Sdk = await loadSdk();
      client ??= new Sdk(settings);
      const requests = new ProviderRequests(heard);
      try {
        const response = await client
          .withOptions({ fetch: requests.fetch })
          .chat.completions.create(
            {
              ...chatBody(request, name, compatibility),
              ...settingParams(own, request),
              ...limit,
              ...counting,
              model,
              stream: true,
            },
            { signal },
          )
          .asResponse();
        yield* chatAnswer(serverSentEvents(response, signal), { thinkTags: compatibility.thinkTags, apiKey });
      } catch (error) {
        signal.throwIfAborted();
        throw modelError(Sdk, error, requests, apiKey);
      }
    },
  };
}

function settingParams(own: ModelCallSettings, request: ModelRequest) {
  const { temperature, stopSequences, effort, toolChoice } = callSettings(own, request);
  return {
    ...(temperature === null ? {} : { temperature }),
    ...(stopSequences.length === 0 ? {} : { stop: [...stopSequences] }),
    ...(effort === null ? {} : { reasoning_effort: effort }),
    ...(toolChoice === null ? {} : { tool_choice: toolChoiceParam(toolChoice) }),
  };
}

function toolChoiceParam(choice: NonNullable<ModelCallSettings["toolChoice"]>): OpenAI.ChatCompletionToolChoiceOption {
  return typeof choice === "object" ? { type: "function", function: { name: choice.tool } } : choice;
}

function modelError(Sdk: typeof OpenAI, error: unknown, { refused }: ProviderRequests, apiKey: string | null): ModelError {
  if (error instanceof Sdk.APIConnectionError) return unreachable(error, apiKey);
  if (!(error instanceof Sdk.APIError)) return brokenStream(error);
  return answeredError(error, refused, apiKey);
}
