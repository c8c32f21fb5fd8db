import { Type } from "typebox";
import { closed, TEXT, withDefault, type Complete, type Written } from "../../lib/setting.ts";

/** The words of all providers, the least first. */
export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

const TOOL_CHOICE = Type.Unsafe<"auto" | "none" | "required" | { readonly tool: string }>({
  ...Type.Union([Type.Enum(["auto", "none", "required"]), closed({ tool: TEXT })]),
  problem: 'must be "auto", "none", "required" or { tool }',
});

const STOP_SEQUENCES = Type.Immutable(Type.Array(TEXT, { maxItems: 16 }));

export const MODEL_CALL_SETTINGS = {
  /** The randomness of answers, from 0 to 2, for Claude to 1. The provider's default if omitted. */
  temperature: withDefault(Type.Number({ minimum: 0, maximum: 2 }), null),
  /** Texts at which the model stops, up to 16; up to 4 at OpenAI. None if omitted. */
  stopSequences: withDefault(STOP_SEQUENCES, []),
  /** The amount of thought and of tokens for an answer. The provider's default if omitted. */
  effort: withDefault(Type.Enum([...EFFORTS]), null),
  /**
   * `required` or a tool's name: the first answer of each turn calls a tool, or that one. `none`: no answer calls one.
   * Free (`auto`) if omitted.
   */
  toolChoice: withDefault(TOOL_CHOICE, null),
};

export type ModelCallSettings = Complete<typeof MODEL_CALL_SETTINGS>;

/** The values that all providers accept. */
export const TEMPLATE_MODEL_SETTINGS = {
  /** In the place of the model's, from 0 to 1. Not sent to a Claude model with `thinking`. The model's if omitted. */
  temperature: withDefault(Type.Number({ minimum: 0, maximum: 1 }), null),
  /** In the place of the model's, up to 4. The model's if omitted. */
  stopSequences: withDefault(Type.Immutable(Type.Array(TEXT, { maxItems: 4 })), null),
  /** In the place of the model's. The model's if omitted. */
  effort: withDefault(Type.Enum(["low", "medium", "high"]), null),
  /** In the place of the model's. A Claude model with `thinking` is not forced. The model's if omitted. */
  toolChoice: withDefault(TOOL_CHOICE, null),
};

export type TemplateModelSettings = Written<typeof TEMPLATE_MODEL_SETTINGS>;

/** The part of a request that decides about its settings. */
type SettingRequest = {
  readonly settings: TemplateModelSettings;
  readonly isFirstOfTurn: boolean;
  readonly tools: readonly { readonly name: string }[];
};

/** The settings of one call: those of the template, then those of the model. A tool is forced where it is there, once a turn. */
export function callSettings(own: ModelCallSettings, { settings, isFirstOfTurn, tools }: SettingRequest): ModelCallSettings {
  const toolChoice = settings.toolChoice ?? own.toolChoice;
  const isForced = toolChoice !== null && toolChoice !== "auto" && toolChoice !== "none";
  const isThere = tools.some(({ name }) => toolChoice === null || typeof toolChoice !== "object" || name === toolChoice.tool);
  return {
    temperature: settings.temperature ?? own.temperature,
    stopSequences: settings.stopSequences ?? own.stopSequences,
    effort: settings.effort ?? own.effort,
    toolChoice: toolChoice === "auto" || !isThere || (isForced && !isFirstOfTurn) ? null : toolChoice,
  };
}

/** The words for `effort` of the Messages API. */
const CLAUDE_EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
export type ClaudeEffort = (typeof CLAUDE_EFFORTS)[number];

export function claudeEffort(effort: Effort | null): ClaudeEffort | null {
  return CLAUDE_EFFORTS.find((known) => known === effort) ?? null;
}

/** The field of a Claude model's settings that the provider would refuse, and why; null for none. */
export function claudeProblem(
  { temperature, effort, toolChoice }: ModelCallSettings,
  thinks: boolean,
): { readonly field: "temperature" | "effort" | "toolChoice"; readonly message: string } | null {
  if (temperature !== null && temperature > 1) return { field: "temperature", message: "must be at most 1 for Claude" };
  if (temperature !== null && thinks)
    return { field: "temperature", message: "is refused by the provider with thinking: leave one of them out" };
  if (effort !== null && claudeEffort(effort) === null)
    return { field: "effort", message: `must be one of ${CLAUDE_EFFORTS.join(", ")} for Claude` };
  if (thinks && toolChoice !== null && toolChoice !== "auto" && toolChoice !== "none")
    return { field: "toolChoice", message: "can force no tool with thinking: leave one of them out" };
  return null;
}
