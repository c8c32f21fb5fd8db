import type { Json, JsonObject } from "../lib/json.ts";
import { accepted, refused, type Result } from "../lib/result.ts";
import { messageOf } from "../lib/text.ts";
import type { Validated } from "./gate/validation.ts";
import type { ContentBlock, ModelMessage, StopReason, TokenUsage } from "./models/model.ts";
import type { ToolResult } from "./tools/tool.ts";

/** A call as hooks see it: with a copy of the input that would run, or ran. */
export type HookCall = { readonly agentId: string; readonly callId: string; readonly name: string; readonly input: Json };

/** The call as hooks see it: with a copy of the input, so that they cannot change what runs. */
export function hookCall({ request, tool, bound }: Validated): HookCall {
  return { agentId: request.agentId, callId: request.callId, name: tool.name, input: structuredClone(bound.input) };
}

/**
 * What a hook says of a call before it runs: it may ask, deny, answer in the tool's place, or give another input, which
 * is validated and judged anew. Undefined says nothing.
 */
export type PreToolUseAnswer =
  | { readonly decision: "ask"; readonly reason?: string }
  | { readonly decision: "deny"; readonly reason?: string }
  | { readonly result: ToolResult }
  | { readonly input: JsonObject }
  | undefined;

/** Looks at a call after the permission lists. It may only tighten; a hook that throws denies the call. */
export type PreToolUse = (call: HookCall) => PreToolUseAnswer | Promise<PreToolUseAnswer>;

/** Looks at a result before it is recorded, and may replace it. A hook that throws is reported, and the result stays. */
export type PostToolUse = (call: HookCall, result: ToolResult) => ToolResult | undefined | Promise<ToolResult | undefined>;

/**
 * Goes round an execution: `next` runs the tool, at most once. What it answers is the tool's answer; what it throws
 * fails the call. The call's time limit holds for all of it.
 */
export type Around = (call: HookCall & { readonly signal: AbortSignal }, next: () => Promise<ToolResult>) => Promise<ToolResult>;

/** A model call as hooks see it. */
export type HookStep = { readonly agentId: string; readonly step: number; readonly model: string };

/**
 * Looks at the messages that the model will read, and may give others, for this call only: the conversation itself is
 * never rewritten. One that throws ends the turn with an error.
 */
export type PreModel = (
  step: HookStep,
  messages: readonly ModelMessage[],
) => readonly ModelMessage[] | undefined | Promise<readonly ModelMessage[] | undefined>;

/** What a model answered. */
export type HookAnswer = {
  readonly content: readonly ContentBlock[];
  readonly stopReason: StopReason;
  readonly usage: TokenUsage;
};

/** Looks at a model's answer after it is stored. One that throws is reported. */
export type PostModel = (step: HookStep, answer: HookAnswer) => void | Promise<void>;

/** Is shown the conversation, as far as the model reads it, each time it has grown. One that throws is reported. */
export type MessagesChanged = (agentId: string, messages: readonly ModelMessage[]) => void | Promise<void>;

/** How long one hook may take, in ms. */
const HOOK_MS = 10_000;

/** The answer of a hook. Rejects where the hook throws, takes too long, or `signal` aborts. */
export async function hookAnswer<Answer>(hook: () => Answer | Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(HOOK_MS)]);
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new Error(signal.aborted ? "it was stopped" : `it did not answer within ${HOOK_MS} ms`));
    if (limit.aborted) stop();
    else limit.addEventListener("abort", stop, { once: true });
  });
  stopped.catch(() => {});
  return Promise.race([stopped, (async () => hook())()]);
}

/** What the model will read after the hooks have looked at it, or what is wrong with one of them. */
export async function beforeModel(
  hooks: readonly Placed<PreModel>[],
  step: HookStep,
  messages: readonly ModelMessage[],
  signal: AbortSignal,
): Promise<Result<readonly ModelMessage[], string>> {
  let current = messages;
  for (const { place, run } of hooks) {
    try {
      const given = structuredClone(current);
      current = (await hookAnswer(() => run(step, given), signal)) ?? current;
      if (!Array.isArray(current)) return refused(`the hook ${place} answered no list of messages`);
    } catch (error) {
      return refused(`the hook ${place} failed: ${messageOf(error)}`);
    }
  }
  return accepted(current);
}

/** A hook, and where it stands in the configuration: `templates.assistant.hooks.preToolUse.0`. */
export type Placed<Hook> = { readonly place: string; readonly run: Hook };

/** The hooks that a tool brings along. They run before all others. */
export type ToolHooks = { readonly preToolUse: readonly PreToolUse[]; readonly postToolUse: readonly PostToolUse[] };

/** The operator's own code, in the order in which it runs. */
export type Hooks = {
  readonly preToolUse: readonly Placed<PreToolUse>[];
  readonly postToolUse: readonly Placed<PostToolUse>[];
  readonly around: readonly Placed<Around>[];
  readonly preModel: readonly Placed<PreModel>[];
  readonly postModel: readonly Placed<PostModel>[];
  readonly messagesChanged: readonly Placed<MessagesChanged>[];
};

/** The hooks of one kind for calls of a tool: the tool's own come first. */
export function hooksFor<Kind extends keyof ToolHooks>(
  kind: Kind,
  tool: { readonly name: string; readonly hooks: ToolHooks },
  hooks: Pick<Hooks, Kind>,
): readonly Placed<ToolHooks[Kind][number]>[] {
  const own = tool.hooks[kind].map((run, index) => ({ place: `tools.${tool.name}.hooks.${kind}.${index}`, run }));
  return [...own, ...hooks[kind]];
}
