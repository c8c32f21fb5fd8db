import type { Json, JsonObject } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { standingRules } from "../allow-rules.ts";
import type { CommandRefusal } from "../commands/refusal.ts";
import type { AgentParts } from "../parts.ts";
import { toolboxOf } from "../toolbox.ts";
import { agentWorkspace } from "../agent-workspace.ts";
import { agentPolicy, type OwnPermission } from "./agent-policy.ts";
import { discover } from "./discovery.ts";
import { inputHash } from "./input-hash.ts";
import { judgeCall } from "./permission.ts";
import { issueLines } from "./refusal.ts";
import { keptValues, type RuleValues } from "./rule-values.ts";
import { validate } from "./validation.ts";

/** Where an edited call would run. */
type EditedAgent = {
  readonly tenant: string;
  readonly agentId: string;
  readonly templateId: string;
  readonly workspace: string;
  readonly permission: OwnPermission | null;
};

/** An input that may run, with its hash and its normalised values. */
export type EditedInput = { readonly input: JsonObject; readonly inputHash: string; readonly values: RuleValues };

/**
 * The input that a person gives in the place of the one that was asked for, with defaults applied and its hash: what
 * they may not let run is refused now, with the reason. Hooks are asked when the call starts, as for every call.
 */
export async function judgeEdit(
  parts: AgentParts,
  agent: EditedAgent,
  call: { readonly id: string; readonly name: string },
  input: Json,
): Promise<Result<EditedInput, CommandRefusal>> {
  const invalid = (code: CommandRefusal["code"], message: string): Result<never, CommandRefusal> =>
    refused({ code, field: ["input"], message });
  const template = parts.templates.get(agent.templateId);
  if (template === undefined) return invalid("NOT_FOUND", `the template ${agent.templateId} of this agent is not configured`);
  const { tenant, agentId, templateId } = agent;
  const request = { tenant, agentId, callId: call.id, name: call.name, form: "json", input } as const;
  const discovered = discover(request, toolboxOf(parts.tools, template));
  if (!discovered.ok) return invalid("NOT_FOUND", `the agent has no tool ${call.name} any more`);
  const validated = validate(discovered.value);
  if (!validated.ok)
    return invalid(
      "INVALID",
      validated.refusal.type === "invalid_params" ? issueLines(validated.refusal.issues).join("\n") : validated.refusal.type,
    );
  const standing = await standingRules(parts.sql, parts.tools, { tenant, templateId });
  const policy = agentPolicy(template, agent.permission, standing, parts);
  const { explanation, values } = judgeCall(validated.value, { policy, workspace: agentWorkspace(parts, agent.workspace) });
  if (explanation.verdict === "deny") return invalid("DENIED_BY_POLICY", `nobody may allow this: ${explanation.reason}`);
  return accepted({
    input: validated.value.bound.input,
    inputHash: inputHash(validated.value, agent.workspace),
    values: keptValues(values ?? {}),
  });
}
