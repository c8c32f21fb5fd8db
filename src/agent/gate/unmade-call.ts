import type { Json } from "../../lib/json.ts";
import { accepted, type Result } from "../../lib/result.ts";
import { agentWorkspace } from "../agent-workspace.ts";
import { standingRules } from "../allow-rules.ts";
import type { AgentParts } from "../parts.ts";
import type { Template } from "../template.ts";
import { toolboxOf } from "../toolbox.ts";
import { agentPolicy, type OwnPermission } from "./agent-policy.ts";
import { discover } from "./discovery.ts";
import { judgeCall, type Judged } from "./permission.ts";
import type { Refusal } from "./refusal.ts";
import { validate } from "./validation.ts";

/** What an agent is judged by, as its row and its template say. */
export type JudgedAgent = {
  readonly id: string;
  readonly tenant: string;
  readonly workspace: string;
  readonly permission: OwnPermission | null;
  readonly template: Template;
};

/** A call that the model has not made: what a person asks about, or would let run instead. */
export type UnmadeCall = { readonly callId: string; readonly name: string; readonly input: Json };

/** Takes an unmade call through discovery, validation, rules, lists and modes. Hooks are not asked: they may have effects. */
export async function judgeUnmade(
  parts: AgentParts,
  { id: agentId, tenant, workspace, permission, template }: JudgedAgent,
  call: UnmadeCall,
): Promise<Result<Judged, Refusal>> {
  const discovered = discover({ tenant, agentId, form: "json", ...call }, toolboxOf(parts.tools, template));
  if (!discovered.ok) return discovered;
  const validated = validate(discovered.value);
  if (!validated.ok) return validated;
  const standing = await standingRules(parts.sql, parts.tools, { tenant, templateId: template.id });
  const policy = agentPolicy(template, permission, standing, parts);
  return accepted(judgeCall(validated.value, { policy, workspace: agentWorkspace(parts, workspace) }));
}
