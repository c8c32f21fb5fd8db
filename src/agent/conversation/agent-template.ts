import type { CallHooks } from "../calls/hooks.ts";
import { complete } from "../../lib/setting.ts";
import type { ApprovalTemplate } from "../approvals/scope.ts";
import { TODO_SETTINGS } from "../calls/todos.ts";
import type { HeldTemplate, Missing, VersionedAgent } from "../policy/held-template.ts";
import type { ModelHooks } from "./model-hooks.ts";

export type Hooks = CallHooks & ModelHooks;

export type Configuration<Template> = {
  readonly heldTemplate: HeldTemplate<Template>;
  readonly agentHooks: ReadonlyMap<string, Hooks>;
};

type HookedTemplate = Pick<ApprovalTemplate, "box" | "sandbox" | "subagents" | "todo" | "approvalQuorum" | "above"> & {
  readonly hooks: Hooks;
};

/**
 * The template of an agent, with the agent's own hooks after the template's. Below other agents, the hooks of those that
 * tighten go first, and programs run in a box if theirs do. The largest quorum holds. The agent directly above may
 * override its reminders of todos.
 */
export async function templateOf<Template extends HookedTemplate>(
  { heldTemplate, agentHooks }: Configuration<Template>,
  agent: VersionedAgent & { readonly hooks: readonly string[] },
): Promise<Template | Missing> {
  const template = await heldTemplate(agent);
  if ("missing" in template) return template;
  const { above } = template;
  let all = template.hooks;
  for (const ancestor of above) all = joinHooks(tightening(ancestor.hooks), all);
  for (const own of agent.hooks) {
    const named = agentHooks.get(own);
    if (named === undefined) return { missing: `the set of hooks ${own} (agentHooks)` };
    all = joinHooks(all, named);
  }
  const boxed = [template, ...above].find(({ box }) => box !== null) ?? template;
  const todo = complete(TODO_SETTINGS, { ...template.todo, ...above.at(-1)?.subagents?.overrides.todo });
  const approvalQuorum = Math.max(...[template, ...above].map((each) => each.approvalQuorum));
  return { ...template, hooks: all, box: boxed.box, sandbox: boxed.sandbox, todo, approvalQuorum };
}

/** The hooks of an ancestor that bind those below it: all before a call, and those after it that withhold what they redact. */
function tightening({ preToolUse, postToolUse }: CallHooks): Hooks {
  const redacts = postToolUse.filter(({ run }) => typeof run !== "function" && run.ifItFails === "withhold");
  return { preToolUse, postToolUse: redacts, around: [], preModel: [], postModel: [], messagesChanged: [] };
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
