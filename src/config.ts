import type { PostToolUse, PreToolUse } from "./agent/hooks.ts";
import type { Script } from "./agent/models/script.ts";
import type { PermissionMode } from "./agent/template.ts";
import type { Tool } from "./agent/tools/tool.ts";
import type { Authenticate, TokenActor } from "./server/authenticate.ts";

/** A model: a Claude model, or a script. `withoutKey` names the script that plays where there is no API key. */
export type ModelConfig =
  | { readonly provider: "anthropic"; readonly model: string; readonly maxTokens?: number; readonly withoutKey?: string }
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
  readonly modelIdleMs?: number;
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
