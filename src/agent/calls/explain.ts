import type { Json } from "../../lib/json.ts";
import { accepted, type Result } from "../../lib/result.ts";
import { hooksFor } from "./hooks.ts";
import type { Explanation } from "../policy/permission.ts";
import type { Refusal } from "./refusals/refusal.ts";
import type { RuleValues } from "../policy/rule-values.ts";
import type { JudgeServices } from "./services.ts";
import { dryRun, type DryRunAgent } from "./dry-run.ts";

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
