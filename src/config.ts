import type { PermissionSource } from "./agent/gate/permission-source.ts";
import type { CustomMode } from "./agent/gate/policy.ts";
import type { Around, MessagesChanged, PostModel, PostToolUse, PreModel, PreToolUse } from "./agent/hooks.ts";
import type { Listeners } from "./agent/listeners.ts";
import type { Script } from "./agent/models/script.ts";
import type { ToolLimits } from "./agent/tool-slots.ts";
import type { Tool } from "./agent/tools/tool.ts";
import type { EventKind } from "./events/event.ts";
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

/** The operator's own code around tool calls and model calls. See docs/configuration.md. */
export type HooksConfig = {
  readonly preToolUse?: readonly PreToolUse[];
  readonly postToolUse?: readonly PostToolUse[];
  readonly around?: readonly Around[];
  readonly preModel?: readonly PreModel[];
  readonly postModel?: readonly PostModel[];
  readonly messagesChanged?: readonly MessagesChanged[];
};

/** What agents are made from. */
export type TemplateConfig = {
  readonly systemPrompt: string;
  /** Name of one of `models`. */
  readonly model: string;
  /** Names of tools; all where omitted. */
  readonly tools?: readonly string[];
  /** Where omitted, read-only tools run and the rest is asked for. */
  readonly permission?: PermissionSource;
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
  /** How many people must allow a call (1). */
  readonly approvalQuorum?: number;
  /** After so long, in ms, an approval that nobody decided expires, and its call is denied. Never where omitted. */
  readonly approvalExpiresMs?: number;
  /**
   * What becomes of a call that was running when its server died. `seal` (the default) closes it, and the model is told
   * that its outcome is unknown; `ask` asks a person first: done (with a result), retry, or fail.
   */
  readonly unknownOutcome?: "seal" | "ask";
  /** Whether the pipeline's events (EXECUTION_STARTED, STAGE_STARTED …) are emitted for each call. */
  readonly trace?: boolean;
};

/** How long things are kept. What is omitted is kept for ever. */
export type RetentionConfig = {
  /** Days after which events are removed; cursors of before expire. */
  readonly eventsDays?: number;
  /** Days after which the deltas of complete texts are left to the text of their TEXT_CHUNK_END. */
  readonly deltasDays?: number;
  /** Days after which whole outputs of which models read a part are removed. */
  readonly outputsDays?: number;
};

/** A target of webhooks. */
export type WebhookConfig = {
  readonly url: string;
  /** `whsec_` and at least 24 bytes in base64: `echo whsec_$(openssl rand -base64 32)`. */
  readonly secret: string;
  /** PERMISSION_REQUIRED, PERMISSION_DECIDED and PERMISSION_CLOSED where omitted. */
  readonly kinds?: readonly EventKind[];
  /** Only events of this tenant. */
  readonly tenant?: string;
  /** Targets in private networks and on this machine are refused unless this says that they are meant. */
  readonly allowPrivateTarget?: boolean;
};

/** The configuration file's content. See docs/configuration.md. */
export type TriplaneConfig = {
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly templates: Readonly<Record<string, TemplateConfig>>;
  readonly tools?: readonly Tool[];
  /** Permission modes of one's own, by name: what they answer holds for calls that no rule and no list decides. */
  readonly permissionModes?: Readonly<Record<string, CustomMode>>;
  /** Run before those of the templates. */
  readonly hooks?: HooksConfig;
  /** Own code that is given each event of a kind after its commit, at least once. See docs/approvals.md. */
  readonly on?: Listeners;
  /** How long things are kept. Everything, for ever, where omitted; `npm run retention` says what would go. */
  readonly retention?: RetentionConfig;
  /** The places where approvals are announced, by name. */
  readonly webhooks?: Readonly<Record<string, WebhookConfig>>;
  /** The number of agents that one server advances at a time; others wait, or are another server's. 2,000 where omitted. */
  readonly agentLimit?: number;
  /** What all agents of one server together may run: 32 tools at once, 256 calls waiting, for 3 minutes where omitted. */
  readonly toolLimits?: Partial<ToolLimits>;
  /** Folders in which agents may work. Without actors it may be omitted: the local administrator may name any folder. */
  readonly workspaceRoots?: readonly string[];
  /** The folder in which agents work for whom none is named. Each has an empty one of its own where this is omitted. */
  readonly defaultWorkspace?: string;
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
