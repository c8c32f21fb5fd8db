import type { PostToolUse, PreToolUse } from "./agent/hooks.ts";
import type { Script } from "./agent/models/script.ts";
import type { PermissionMode } from "./agent/template.ts";
import type { Tool } from "./agent/tools/tool.ts";
import type { Authenticate, TokenActor } from "./server/authenticate.ts";

/** What tokens cost, in US dollars per million. What is read from and written into the cache costs as other input where omitted. */
export type PriceConfig = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
};

/**
 * A model: a Claude model, one behind a chat completions API, or a script. `withoutKey` names the script that plays
 * where there is no API key.
 */
export type ModelConfig =
  | {
      readonly provider: "anthropic";
      readonly model: string;
      readonly maxTokens?: number;
      /** As much as the model sees fit, or a budget of tokens. The model's default where omitted. */
      readonly thinking?: "adaptive" | { readonly budgetTokens: number };
      readonly stopSequences?: readonly string[];
      readonly price?: PriceConfig;
      readonly withoutKey?: string;
    }
  | {
      readonly provider: "openai";
      readonly model: string;
      readonly maxTokens?: number;
      readonly price?: PriceConfig;
      readonly withoutKey?: string;
    }
  | { readonly provider: "scripted"; readonly script: string | Script };

/** Lists of tool names, and what happens to the rest. */
export type PermissionConfig = {
  readonly mode?: PermissionMode | "ask";
  readonly allowTools?: readonly string[];
  readonly denyTools?: readonly string[];
  readonly autoAllowTools?: readonly string[];
  readonly requireApprovalTools?: readonly string[];
};

/** Code around tool calls. */
export type HooksConfig = { readonly preToolUse?: readonly PreToolUse[]; readonly postToolUse?: readonly PostToolUse[] };

/** What agents are made from. */
export type TemplateConfig = {
  readonly systemPrompt: string;
  /** Name of one of `models`. */
  readonly model: string;
  /** Names of tools; all where omitted. */
  readonly tools?: readonly string[];
  /** Where omitted, read-only tools run and the rest is asked for. */
  readonly permission?: PermissionConfig;
  readonly hooks?: HooksConfig;
  readonly toolTimeoutMs?: number;
  readonly toolConcurrency?: number;
  readonly maxSteps?: number;
  readonly contextMessages?: number;
  readonly modelRetries?: number;
  readonly modelRetryMs?: number;
  readonly modelIdleMs?: number;
  /** Name of the model that answers the rest of a turn where the first one cannot. */
  readonly fallbackModel?: string;
  /** Whether people see what the model thinks. */
  readonly exposeThinking?: boolean;
  /** Whether what the model thinks stays in the conversation: without it, it does not think on after tool calls. */
  readonly retainThinking?: boolean;
  readonly slowStepMs?: number;
  readonly slowToolMs?: number;
  /** Whether people may decide on what they asked for themselves. */
  readonly selfApproval?: boolean;
};

/** The configuration file's content. See docs/configuration.md. */
export type TriplaneConfig = {
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly templates: Readonly<Record<string, TemplateConfig>>;
  readonly tools?: readonly Tool[];
  /** Run before those of the templates. */
  readonly hooks?: HooksConfig;
  /** Folders in which agents may work. Without actors it may be omitted: the local administrator may name any folder. */
  readonly workspaceRoots?: readonly string[];
  /** Origins of web pages that may connect, besides the server's own. */
  readonly allowedOrigins?: readonly string[];
  readonly actors?: readonly TokenActor[];
  /** Instead of `actors`: who asks, or null for nobody. */
  readonly authenticate?: Authenticate;
};

/** Types the configuration file. */
export function defineConfig(config: TriplaneConfig): TriplaneConfig {
  return config;
}
