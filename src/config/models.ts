import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Type } from "typebox";
import { anthropicModel } from "../agent/models/anthropic.ts";
import { COMPATIBILITY_SETTINGS } from "../agent/models/chat-request.ts";
import { CAPABILITY_SETTINGS } from "../agent/models/capabilities.ts";
import { claudeProblem, MODEL_CALL_SETTINGS } from "../agent/models/model-settings.ts";
import type { Model, TokenPrice } from "../agent/models/model.ts";
import { openAiModel } from "../agent/models/openai.ts";
import { parseScript, type Script } from "../agent/models/script.ts";
import { scriptedModel } from "../agent/models/scripted.ts";
import { BRIDGE, isServerTool } from "../agent/tools/tool.ts";
import { closed, complete, COUNT, TEXT, withDefault, type Written } from "../lib/setting.ts";
import { messageOf } from "../lib/text.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import type { Environment } from "./environment.ts";

const DOLLARS = Type.Number({ minimum: 0 });

export const PRICE_SETTINGS = {
  /** The price of input. Must be given. */
  input: DOLLARS,
  /** The price of output. Must be given. */
  output: DOLLARS,
  /** The price of input read from the provider's cache. That of other input if omitted. */
  cacheRead: Type.Optional(DOLLARS),
  /** The price of input written into the provider's cache. That of other input if omitted. */
  cacheWrite: Type.Optional(DOLLARS),
};

/** The smallest budget of the Messages API, in tokens. */
const THINKING_TOKENS = 1_024;

export const HOSTED_SETTINGS = {
  /** The provider's name of the model. Must be given. */
  model: TEXT,
  /** Its price, from which `usage` counts dollars. None if omitted: then `usage` counts tokens only. */
  price: Type.Optional(closed(PRICE_SETTINGS)),
  /**
   * The path of the script that plays without the provider's key, relative to the configuration's folder. None if
   * omitted: the server does not start then.
   */
  withoutKey: Type.Optional(TEXT),
  /**
   * The tokens of its context window (docs/context.md). If omitted, as the provider says; without that, 200,000 for
   * Claude, and unknown for others.
   */
  window: withDefault(COUNT, null),
};

export const ANTHROPIC_SETTINGS = {
  /** A Claude model, by the Messages API. Must be given. */
  provider: Type.Literal("anthropic"),
  ...HOSTED_SETTINGS,
  /** The most tokens of one answer. 8,192 if omitted. */
  maxTokens: withDefault(COUNT, 8_192),
  /** Adaptive, or a budget in tokens, at least 1,024 and less than `maxTokens`. The model's own default if omitted. */
  thinking: withDefault(
    Type.Unsafe<"adaptive" | { readonly budgetTokens: number }>({
      ...Type.Union([Type.Literal("adaptive"), closed({ budgetTokens: Type.Integer({ minimum: THINKING_TOKENS }) })]),
      problem: `must be "adaptive" or { budgetTokens } of at least ${THINKING_TOKENS}`,
    }),
    null,
  ),
  /**
   * Whether the provider is asked why its prompt cache missed (docs/context.md). Only at Anthropic's own address if
   * omitted: other servers may refuse the question.
   */
  cacheDiagnostics: withDefault(Type.Boolean(), null),
  /** The parts of requests that the model accepts or refuses (docs/models.md). The provider is asked if omitted. */
  capabilities: withDefault(CAPABILITY_SETTINGS, null),
  ...MODEL_CALL_SETTINGS,
};

export const OPENAI_SETTINGS = {
  /** A model behind a chat completions API. Must be given. */
  provider: Type.Literal("openai"),
  ...HOSTED_SETTINGS,
  /** The most tokens of one answer. The server's own limit if omitted. */
  maxTokens: withDefault(COUNT, null),
  /** The differences of its server from others. The known ones of its family if omitted. */
  compat: Type.Optional(closed(COMPATIBILITY_SETTINGS)),
  ...MODEL_CALL_SETTINGS,
};

export const SCRIPTED_SETTINGS = {
  /** A script, which plays without a provider. Must be given. */
  provider: Type.Literal("scripted"),
  /** The path of a script, relative to the configuration's folder, or a script. Must be given. */
  script: Type.Unsafe<string | Script>({ type: ["string", "object"] }),
  /**
   * Its price, for trying budgets and usage: about a token for each four characters. None if omitted: then `usage`
   * counts tokens only.
   */
  price: Type.Optional(closed(PRICE_SETTINGS)),
  /** The tokens of its context window, for trying compaction. Unlimited if omitted. */
  window: withDefault(COUNT, null),
  ...MODEL_CALL_SETTINGS,
};

export type ModelConfig =
  Written<typeof ANTHROPIC_SETTINGS> | Written<typeof OPENAI_SETTINGS> | Written<typeof SCRIPTED_SETTINGS>;

export const MODEL = Type.Unsafe<ModelConfig>({
  type: "object",
  required: ["provider"],
  discriminator: { propertyName: "provider" },
  oneOf: [closed(ANTHROPIC_SETTINGS), closed(OPENAI_SETTINGS), closed(SCRIPTED_SETTINGS)],
});

type Models = { readonly models: ReadonlyMap<string, Model>; readonly notes: readonly string[] };

export type ModelSource = {
  readonly folder: string;
  readonly environment: Environment;
  readonly tools: { has(name: string): boolean };
  readonly onRead: (path: string) => void;
};

/** The checked models of `field`. Throws ConfigurationError with the place of a problem. */
export async function modelsOf(
  field: string,
  configs: Readonly<Record<string, ModelConfig>>,
  source: ModelSource,
): Promise<Models> {
  const models = new Map<string, Model>();
  const notes: string[] = [];
  const problems = new Problems();
  for (const [name, config] of Object.entries(configs)) {
    const made = await problems.ofLater(() => modelOf(`${field}.${name}`, config, source));
    if (made === null) continue;
    models.set(name, made.model);
    notes.push(...made.notes);
  }
  problems.none({});
  return { models, notes: [...new Set(notes)] };
}

type Made = { readonly model: Model; readonly notes: readonly string[] };

async function modelOf(field: string, config: ModelConfig, source: ModelSource): Promise<Made> {
  const { environment } = source;
  switch (config.provider) {
    case "scripted":
      return scriptedOf(field, config, source);
    case "anthropic": {
      const { model, maxTokens, thinking, window, cacheDiagnostics, capabilities } = complete(ANTHROPIC_SETTINGS, config);
      const settings = complete(MODEL_CALL_SETTINGS, config);
      const problem = claudeProblem(settings, thinking !== null);
      if (problem !== null) throw new ConfigurationError(`${field}.${problem.field} ${problem.message}`);
      if (thinking !== null && thinking !== "adaptive" && thinking.budgetTokens >= maxTokens)
        throw new ConfigurationError(`${field}.thinking.budgetTokens must be less than maxTokens (${maxTokens})`);
      const price = priceOf(config.price);
      if (environment.anthropic === null) return withoutKey(field, "ANTHROPIC_API_KEY", config, source);
      const options = {
        ...environment.anthropic,
        model,
        maxTokens,
        thinking,
        settings,
        price,
        window,
        cacheDiagnostics,
        capabilities,
      };
      return { model: anthropicModel(options), notes: [] };
    }
    case "openai": {
      const { model, maxTokens, window, compat = {} } = complete(OPENAI_SETTINGS, config);
      const settings = complete(MODEL_CALL_SETTINGS, config);
      if (environment.openai === null) return withoutKey(field, "OPENAI_API_KEY or OPENAI_BASE_URL", config, source);
      const price = priceOf(config.price);
      if (environment.openai.baseUrl === null && settings.stopSequences.length > OPENAI_STOPS)
        throw new ConfigurationError(`${field}.stopSequences may be at most ${OPENAI_STOPS} at OpenAI`);
      return { model: openAiModel({ ...environment.openai, model, maxTokens, price, window, compat, settings }), notes: [] };
    }
  }
}

/** The most stop sequences that OpenAI accepts. */
const OPENAI_STOPS = 4;

async function scriptedOf(field: string, config: Written<typeof SCRIPTED_SETTINGS>, source: ModelSource): Promise<Made> {
  const { model, notes } = await scripted(field, config.script, config, source);
  const ignored = Object.keys(MODEL_CALL_SETTINGS).filter((name) => Object.hasOwn(config, name));
  const note = `${field}: a scripted model ignores ${ignored.join(", ")}`;
  return { model, notes: ignored.length === 0 ? notes : [...notes, note] };
}

async function withoutKey(
  field: string,
  missing: string,
  config: { readonly model: string; readonly withoutKey?: string },
  source: ModelSource,
): Promise<Made> {
  if (config.withoutKey === undefined)
    throw new ConfigurationError(`${field} needs ${missing}: set it, or name a script to play without it in withoutKey`);
  const { model, notes } = await scripted(`${field}.withoutKey`, config.withoutKey, {}, source);
  const standsIn = `${missing} is not set: a scripted model stands in for ${config.model}. It really calls the tools, but knows only a few requests.`;
  return { model, notes: [standsIn, ...notes] };
}

function priceOf(config: Written<typeof PRICE_SETTINGS> | undefined): TokenPrice | null {
  return config === undefined ? null : { cacheRead: config.input, cacheWrite: config.input, ...config };
}

async function scripted(
  field: string,
  script: string | Script,
  { price, window }: Pick<Written<typeof SCRIPTED_SETTINGS>, "price" | "window">,
  { folder, tools, onRead }: ModelSource,
): Promise<Made> {
  const made = (name: string, parsed: Script): Made => ({
    model: scriptedModel(name, parsed, priceOf(price), window ?? null),
    notes: unheard(field, parsed, tools),
  });
  if (typeof script !== "string") return made("inline", parseScript(field, JSON.stringify(script)));
  const path = resolve(folder, script);
  onRead(path);
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new ConfigurationError(`${field}: ${messageOf(error)}`);
  });
  return made(script, parseScript(path, text));
}

/** A note for each result that the script waits for in vain, since no tool has the name. Those of MCP servers come later. */
function unheard(field: string, { replies }: Script, tools: ModelSource["tools"]): readonly string[] {
  const names = new Set(replies.flatMap(({ when, find }) => [when.result ?? [], find?.result ?? []].flat()));
  return [...names]
    .filter((name) => !tools.has(name) && name !== BRIDGE && !isServerTool(name))
    .map((name) => `${field}: the script waits for a result of ${name}, and no tool is named so`);
}
