import { Type } from "typebox";
import { APPROVAL_SETTINGS } from "../agent/approvals/scope.ts";
import { BUDGET_SETTINGS, MOST_BUDGETS } from "../agent/budgets/budget.ts";
import type { Around } from "../agent/calls/hooks.ts";
import { MEMORY_SETTINGS } from "../agent/calls/memory/memory-rows.ts";
import { CALL_SETTINGS, SUBAGENT_SETTINGS } from "../agent/calls/scope.ts";
import { MOST_SCHEDULES } from "../agent/calls/schedules/schedule.ts";
import { SCHEDULE_SETTINGS } from "../agent/calls/schedules/template-schedules.ts";
import { TODO_SETTINGS } from "../agent/calls/todos.ts";
import type { MessagesChanged, PostModel, PreModel } from "../agent/conversation/model-hooks.ts";
import { CONTEXT_SETTINGS, CONVERSATION_SETTINGS } from "../agent/conversation/scope.ts";
import { PROFILE_SETTINGS, TURN_SETTINGS, VERSION_SETTINGS } from "../agent/loop/scope.ts";
import { PERMISSION_SETTINGS } from "../agent/policy/permission-source.ts";
import { hookList, postHooks, type PreToolUse } from "../agent/tools/tool-hooks.ts";
import { closed, complete, type Written, withDefault } from "../lib/setting.ts";

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

export const PLAIN_SETTINGS = {
  ...PROFILE_SETTINGS,
  ...VERSION_SETTINGS,
  ...CONVERSATION_SETTINGS,
  ...TURN_SETTINGS,
  ...CALL_SETTINGS,
  ...APPROVAL_SETTINGS,
};

export const TEMPLATE_SETTINGS = {
  ...PLAIN_SETTINGS,
  /**
   * The calls that run without a question, after one, or never. If omitted, read-only tools run and all others are
   * asked about.
   */
  permission: Type.Optional(closed(PERMISSION_SETTINGS)),
  /** The operator's code, run after the common hooks. None if omitted. */
  hooks: Type.Optional(closed(HOOK_SETTINGS)),
  /** The agents that its agents may start with `task_run`. None, and no such tool, if omitted. */
  subagents: Type.Optional(closed(SUBAGENT_SETTINGS)),
  /** The memory of its agents (docs/memory.md). None, and no such tool, if omitted. */
  memory: Type.Optional(closed(MEMORY_SETTINGS)),
  /** The spending limits of its agents (docs/budgets.md). None if omitted. */
  budgets: Type.Optional(Type.Immutable(Type.Array(closed(BUDGET_SETTINGS), { maxItems: MOST_BUDGETS }))),
  /** The schedules with which its agents begin, up to 20 (docs/schedules.md). None if omitted. */
  schedules: Type.Optional(Type.Immutable(Type.Array(closed(SCHEDULE_SETTINGS), { maxItems: MOST_SCHEDULES }))),
};

export type TemplateConfig = Written<typeof TEMPLATE_SETTINGS>;

/** The plain settings of a template, with their defaults. */
export function completeTemplate(config: TemplateConfig) {
  const plain = complete(PLAIN_SETTINGS, config);
  return {
    ...plain,
    todo: complete(TODO_SETTINGS, plain.todo),
    context: complete(CONTEXT_SETTINGS, plain.context),
    subagents: config.subagents === undefined ? null : complete(SUBAGENT_SETTINGS, config.subagents),
    memory: config.memory === undefined ? null : complete(MEMORY_SETTINGS, config.memory),
  };
}
