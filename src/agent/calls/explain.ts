import type { Json } from "../../lib/json.ts";
import { accepted, type Result } from "../../lib/result.ts";
import { agentWorkspace, agentPolicy, type OwnPermission } from "../policy/agent-policy.ts";
import type { Explanation } from "../policy/permission.ts";
import type { RuleValues } from "../policy/rule-values.ts";
import { storedRules } from "../policy/stored-rules.ts";
import { hooksFor } from "./hooks.ts";
import type { Refusal } from "./refusals/refusal.ts";
import type { JudgeServices, CallTemplate } from "./scope.ts";
import { judgeByPolicy, type Judged } from "./stages/permission.ts";
import { toolboxOf, discover, validate } from "./stages/validation.ts";

export type CallExplanation = Explanation & { readonly values: RuleValues | null; readonly hooks: readonly string[] };

export async function explainCall(
  services: JudgeServices,
  agent: DryRunAgent,
  name: string,
  input: Json,
): Promise<Result<CallExplanation, Refusal>> {
  const judged = await dryRun(services, agent, { callId: "explained", name, input });
  if (!judged.ok) return judged;
  const { call, explanation, values } = judged.value;
  const hooks = hooksFor("preToolUse", call.tool, agent.template.hooks).map(({ place }) => place);
  return accepted({ ...explanation, values, hooks });
}

export type DryRunAgent = {
  readonly id: string;
  readonly tenant: string;
  readonly workspace: string;
  readonly permission: OwnPermission | null;
  readonly template: CallTemplate;
};

export type UnmadeCall = { readonly callId: string; readonly name: string; readonly input: Json };

/**
 * Takes a hypothetical call through discovery, validation, rules, lists and modes, for an agent whose folder answers.
 * Hooks are not run: they may have effects.
 */
export async function dryRun(
  services: JudgeServices,
  { id: agentId, tenant, workspace, permission, template }: DryRunAgent,
  call: UnmadeCall,
): Promise<Result<Judged, Refusal>> {
  const discovered = discover({ tenant, agentId, form: "json", ...call }, toolboxOf(services.tools, template));
  if (!discovered.ok) return discovered;
  const validated = validate(discovered.value);
  if (!validated.ok) return validated;
  const { rules } = await storedRules(services.sql, services.tools, { tenant, templateId: template.id, id: agentId });
  const policy = agentPolicy(template, permission, rules, services);
  return accepted(await judgeByPolicy(validated.value, { policy, workspace: agentWorkspace(services, workspace) }));
}
