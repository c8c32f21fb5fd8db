import type { Json } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { standingRules } from "../allow-rules.ts";
import { hooksFor } from "../hooks.ts";
import type { AgentParts } from "../parts.ts";
import type { Template } from "../template.ts";
import { toolboxOf } from "../toolbox.ts";
import { agentWorkspace } from "../agent-workspace.ts";
import { agentPolicy, type OwnPermission } from "./agent-policy.ts";
import { discover } from "./discovery.ts";
import { judgeCall } from "./permission.ts";
import type { Explanation } from "./policy.ts";
import { refusalText } from "./refusal.ts";
import type { RuleValues } from "./rule-values.ts";
import { validate } from "./validation.ts";

/** What an agent is judged by, as its row and its template say. */
export type JudgedAgent = {
  readonly id: string;
  readonly tenant: string;
  readonly workspace: string;
  readonly permission: OwnPermission | null;
  readonly template: Template;
};

/** Why a call would be allowed, asked or denied; `hooks` are those that would be asked besides, which only tighten. */
export type CallExplanation = Explanation & { readonly values: RuleValues | null; readonly hooks: readonly string[] };

/**
 * Takes a call that nobody has made through discovery, validation, rules, lists and modes. Hooks are named and not run:
 * they may have effects. Refuses with the text that the model would read where the call does not come so far.
 */
export async function explainCall(
  parts: AgentParts,
  agent: JudgedAgent,
  name: string,
  input: Json,
): Promise<Result<CallExplanation, string>> {
  const { template, tenant } = agent;
  const request = { tenant, agentId: agent.id, callId: "explained", name, form: "json", input } as const;
  const discovered = discover(request, toolboxOf(parts.tools, template));
  if (!discovered.ok) return refused(refusalText(discovered.refusal));
  const validated = validate(discovered.value);
  if (!validated.ok) return refused(refusalText(validated.refusal));
  const standing = await standingRules(parts.sql, parts.tools, { tenant, templateId: template.id });
  const policy = agentPolicy(template, agent.permission, standing, parts);
  const { explanation, values } = judgeCall(validated.value, { policy, workspace: agentWorkspace(parts, agent.workspace) });
  const hooks = hooksFor("preToolUse", validated.value.tool, template.hooks).map(({ place }) => place);
  return accepted({ ...explanation, values, hooks });
}
