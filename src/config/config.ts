import type { PermissionSource } from "../agent/policy/permission-source.ts";
import type { CustomMode } from "../agent/policy/permission.ts";
import type { Around } from "../agent/calls/hooks.ts";
import type { MessagesChanged, PostModel, PreModel } from "../agent/conversation/model-hooks.ts";
import type { PostToolUse, PreToolUse } from "../agent/tools/tool-hooks.ts";
import type { Listeners } from "../deliveries/listeners.ts";
import type { Script } from "../agent/models/script.ts";
import type { ToolLimits } from "../agent/calls/slots.ts";
import type { Tool } from "../agent/tools/tool.ts";
import type { EventKind } from "../events/event.ts";
import type { Authenticate, TokenActor } from "../server/authenticate.ts";

/** The price of tokens, in US dollars per million. Input from and into the cache costs as other input if omitted. */
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
      /** As much as the model sees fit, or a budget of tokens. The model's default if omitted. */
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

/** A template: agents are made from it. */
export type TemplateConfig = {
  /** The instructions that the model reads before every conversation. */
  readonly systemPrompt: string;
  /** Name of one of `models`. */
  readonly model: string;
  /** Names of the tools that its agents have. All if omitted. */
  readonly tools?: readonly string[];
  /** A permission: the things that agents may do without asking, after asking, and not at all. If omitted, read-only tools run and the rest is asked for. */
  readonly permission?: PermissionSource;
  /** The operator's own code, run after the hooks of the whole configuration. */
  readonly hooks?: HooksConfig;
  /** After so long a call fails, unless its tool or its agent says otherwise; in ms, up to an hour. 60,000 if omitted. */
  readonly toolTimeoutMs?: number;
  /** The number of read-only calls of one step that run together. 3 if omitted. */
  readonly toolConcurrency?: number;
  /** The number of model calls after which a turn ends with MAX_STEPS. 50 if omitted. */
  readonly maxSteps?: number;
  /** The number of messages that the model is given, the newest ones. 200 if omitted. */
  readonly contextMessages?: number;
  /** The number of times that a model call that failed is made again. 3 if omitted. */
  readonly modelRetries?: number;
  /** The wait before a model call is made again for the first time, in ms; doubled each time, up to a minute. 1,000 if omitted. */
  readonly modelRetryMs?: number;
  /** After so long without a word from the provider a model call is given up, in ms. 60,000 if omitted. */
  readonly modelIdleMs?: number;
  /** Name of the model that answers the rest of a turn if the first one cannot. None if omitted. */
  readonly fallbackModel?: string;
  /** True if people see what the model thinks, as THINK_CHUNK events and in messages. False if omitted. */
  readonly exposeThinking?: boolean;
  /** True if what the model thinks stays in the conversation: without it, it does not think on after tool calls. False if omitted. */
  readonly retainThinking?: boolean;
  /** A model call that takes longer, in ms, is reported as an ERROR of severity WARN. 60,000 if omitted. */
  readonly slowStepMs?: number;
  /** A tool that runs longer, in ms, is reported likewise. 30,000 if omitted. */
  readonly slowToolMs?: number;
  /** True if people may decide on what they asked for themselves. False if omitted. */
  readonly selfApproval?: boolean;
  /** The number of people who must allow a call. 1 if omitted. */
  readonly approvalQuorum?: number;
  /** After so long, in ms, an approval that nobody decided expires, and its call is denied. Never if omitted. */
  readonly approvalExpiresMs?: number;
  /**
   * The fate of a call that was running when its server died. `seal` (the default) closes it, and the model is told
   * that its outcome is unknown; `ask` asks a person first: done (with a result), retry, or fail.
   */
  readonly unknownOutcome?: "seal" | "ask";
  /** True if the pipeline's events (EXECUTION_STARTED, STAGE_STARTED …) are emitted for each call. False if omitted. */
  readonly trace?: boolean;
};

/** The times for which things are kept: for ever, if omitted. */
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
  /** PERMISSION_REQUIRED, PERMISSION_DECIDED and PERMISSION_CLOSED if omitted. */
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
  /** The times for which things are kept. Everything, for ever, if omitted; `npm run retention` says what would go. */
  readonly retention?: RetentionConfig;
  /** The places where approvals are announced, by name. */
  readonly webhooks?: Readonly<Record<string, WebhookConfig>>;
  /** The number of agents that one server advances at a time; others wait, or are another server's. 2,000 if omitted. */
  readonly agentLimit?: number;
  /** The tool calls that all agents of one server together may run: 32 tools at once, 256 calls waiting, for 3 minutes if omitted. */
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
