import { Type } from "typebox";
import type { Around } from "../agent/calls/hooks.ts";
import type { MessagesChanged, PostModel, PreModel } from "../agent/conversation/model-hooks.ts";
import type { Hooks } from "../agent/loop/template.ts";
import type { Placed } from "../agent/tools/hook.ts";
import { POST_HOOKS } from "../agent/tools/tool.ts";
import type { PreToolUse } from "../agent/tools/tool-hooks.ts";
import { withDefault, type Written } from "../lib/setting.ts";

function hookList<Hook>() {
  return withDefault(Type.Unsafe<readonly Hook[]>({ type: "array", items: { isFunction: true } }), []);
}

/** The operator's own code around tool calls and model calls. See docs/hooks.md. */
export const HOOK_SETTINGS = {
  /** Hooks that look at a call before it runs: each may ask, deny, answer in the tool's place, or give another input. None if omitted. */
  preToolUse: hookList<PreToolUse>(),
  /** Hooks that look at a result before it is recorded: each may replace it. `{ run, ifItFails: "withhold" }` keeps the result from the model if the hook fails. None if omitted. */
  postToolUse: withDefault(POST_HOOKS, []),
  /** Hooks that go round the execution of a call. None if omitted. */
  around: hookList<Around>(),
  /** Hooks that look at the messages that the model will read: each may give others, for this model call. None if omitted. */
  preModel: hookList<PreModel>(),
  /** Hooks that look at each answer of a model after it is stored. None if omitted. */
  postModel: hookList<PostModel>(),
  /** Hooks that are shown the conversation each time it has grown. None if omitted. */
  messagesChanged: hookList<MessagesChanged>(),
};

export type HooksConfig = Written<typeof HOOK_SETTINGS>;

/** The hooks of the configuration, then those of the template. */
export function hooksOf(all: HooksConfig, place: string, own: HooksConfig): Hooks {
  const placed = <Kind extends keyof HooksConfig>(kind: Kind) => [
    ...placedHooks<NonNullable<HooksConfig[Kind]>[number]>(`hooks.${kind}`, all[kind] ?? []),
    ...placedHooks<NonNullable<HooksConfig[Kind]>[number]>(`${place}.${kind}`, own[kind] ?? []),
  ];
  return {
    preToolUse: placed("preToolUse"),
    postToolUse: placed("postToolUse"),
    around: placed("around"),
    preModel: placed("preModel"),
    postModel: placed("postModel"),
    messagesChanged: placed("messagesChanged"),
  };
}

/** The hooks that agents may be created with, by name. */
export function agentHooksOf(written: Readonly<Record<string, HooksConfig>>): ReadonlyMap<string, Hooks> {
  return new Map(Object.entries(written).map(([name, hooks]) => [name, hooksOf({}, `agentHooks.${name}`, hooks)]));
}

function placedHooks<Hook>(place: string, hooks: readonly Hook[]): readonly Placed<Hook>[] {
  return hooks.map((run, index) => ({ place: `${place}.${index}`, run }));
}
