import { Type } from "typebox";
import { COUNT, TEXT, withDefault, type Complete } from "../../lib/setting.ts";
import type { ApprovalTemplate } from "../approvals/template.ts";
import type { CallHooks } from "../calls/hooks.ts";
import type { CallTemplate } from "../calls/template.ts";
import type { ModelHooks } from "../conversation/model-hooks.ts";
import type { ConversationTemplate } from "../conversation/template.ts";

export type Hooks = CallHooks & ModelHooks;

export const TURN_SETTINGS = {
  /** Name of one of the configured models. Must be given. */
  model: TEXT,
  /** Name of the model that answers the rest of a turn if the first one cannot. None if omitted. */
  fallbackModel: withDefault(TEXT, null),
  /** The number of read-only calls of one step that run together. 3 if omitted. */
  toolConcurrency: withDefault(COUNT, 3),
  /** The number of model calls after which a turn ends with MAX_STEPS. 50 if omitted. */
  maxSteps: withDefault(COUNT, 50),
  /**
   * The handling of a call that was running when its server stopped. `seal` closes it, and tells the model that its
   * outcome is unknown; `ask` asks a person first: done (with a result), retry, or fail. `seal` if omitted.
   */
  unknownOutcome: withDefault(Type.Enum(["seal", "ask"]), "seal"),
};

export type Missing = { readonly missing: string };

export type Configuration = {
  readonly templates: ReadonlyMap<string, Template>;
  readonly agentHooks: ReadonlyMap<string, Hooks>;
};

/** The template of an agent, with the agent's own hooks after the template's. */
export function templateOf(
  { templates, agentHooks }: Configuration,
  { templateId, hooks }: { readonly templateId: string; readonly hooks: readonly string[] },
): Template | Missing {
  const template = templates.get(templateId);
  if (template === undefined) return { missing: `the template ${templateId}` };
  let all = template.hooks;
  for (const own of hooks) {
    const named = agentHooks.get(own);
    if (named === undefined) return { missing: `the set of hooks ${own} (agentHooks)` };
    all = joinHooks(all, named);
  }
  return { ...template, hooks: all };
}

function joinHooks(one: Hooks, other: Hooks): Hooks {
  return {
    preToolUse: [...one.preToolUse, ...other.preToolUse],
    postToolUse: [...one.postToolUse, ...other.postToolUse],
    around: [...one.around, ...other.around],
    preModel: [...one.preModel, ...other.preModel],
    postModel: [...one.postModel, ...other.postModel],
    messagesChanged: [...one.messagesChanged, ...other.messagesChanged],
  };
}

export type Template = CallTemplate &
  ApprovalTemplate &
  ConversationTemplate &
  Complete<typeof TURN_SETTINGS> & { readonly hooks: Hooks };
