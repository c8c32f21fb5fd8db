import type { Around } from "../agent/calls/hooks.ts";
import type { MessagesChanged, PostModel, PreModel } from "../agent/conversation/model-hooks.ts";
import type { Hooks } from "../agent/loop/scope.ts";
import { type Placed, hookList, listOf, postHooks, type HookList, type PreToolUse } from "../agent/tools/tool-hooks.ts";
import { withDefault, type Written } from "../lib/setting.ts";

/** The operator's code around tool calls and model calls: one function or a list of each kind. See docs/hooks.md. */
export const HOOK_SETTINGS = {
  /** Hooks before a call runs: each may ask, deny, answer in the tool's place, or give another input. None if omitted. */
  preToolUse: withDefault(hookList<PreToolUse>(), []),
  /**
   * Hooks before a result is recorded: each may replace it. `{ run, ifItFails: "withhold" }` keeps the result from the
   * model if the hook fails. None if omitted.
   */
  postToolUse: withDefault(postHooks(), []),
  /** Hooks around the execution of a call. None if omitted. */
  around: withDefault(hookList<Around>(), []),
  /** Hooks that receive the messages for the model: each may replace them for this model call. None if omitted. */
  preModel: withDefault(hookList<PreModel>(), []),
  /** Hooks that receive each answer of a model after it is stored. None if omitted. */
  postModel: withDefault(hookList<PostModel>(), []),
  /** Hooks that receive the conversation each time it has grown. None if omitted. */
  messagesChanged: withDefault(hookList<MessagesChanged>(), []),
};

export type HooksConfig = Written<typeof HOOK_SETTINGS>;

export function hooksOf(all: HooksConfig, place: string, own: HooksConfig): Hooks {
  const placed = <Hook>(kind: keyof HooksConfig, ofAll: HookList<Hook> | undefined, ofOwn: HookList<Hook> | undefined) => [
    ...placedHooks(`hooks.${kind}`, listOf(ofAll)),
    ...placedHooks(`${place}.${kind}`, listOf(ofOwn)),
  ];
  return {
    preToolUse: placed("preToolUse", all.preToolUse, own.preToolUse),
    postToolUse: placed("postToolUse", all.postToolUse, own.postToolUse),
    around: placed("around", all.around, own.around),
    preModel: placed("preModel", all.preModel, own.preModel),
    postModel: placed("postModel", all.postModel, own.postModel),
    messagesChanged: placed("messagesChanged", all.messagesChanged, own.messagesChanged),
  };
}

export function agentHooksOf(written: Readonly<Record<string, HooksConfig>>): ReadonlyMap<string, Hooks> {
  return new Map(Object.entries(written).map(([name, hooks]) => [name, hooksOf({}, `agentHooks.${name}`, hooks)]));
}

function placedHooks<Hook>(place: string, hooks: readonly Hook[]): readonly Placed<Hook>[] {
  return hooks.map((run, index) => ({ place: `${place}.${index}`, run }));
}
