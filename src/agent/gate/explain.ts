import type { Json } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { hooksFor } from "../hooks.ts";
import type { AgentParts } from "../parts.ts";
import type { Explanation } from "./policy.ts";
import { refusalText } from "./refusal.ts";
import type { RuleValues } from "./rule-values.ts";
import { judgeUnmade, type JudgedAgent } from "./unmade-call.ts";

/** Why a call would be allowed, asked or denied; `hooks` are those that would be asked besides, which only tighten. */
export type CallExplanation = Explanation & { readonly values: RuleValues | null; readonly hooks: readonly string[] };

/**
 * What would become of a call that nobody has made. Refuses with the text that the model would read where the call does
 * not come as far as permission.
 */
export async function explainCall(
  parts: AgentParts,
  agent: JudgedAgent,
  name: string,
  input: Json,
): Promise<Result<CallExplanation, string>> {
  const judged = await judgeUnmade(parts, agent, { callId: "explained", name, input });
  if (!judged.ok) return refused(refusalText(judged.refusal));
  const { call, explanation, values } = judged.value;
  const hooks = hooksFor("preToolUse", call.tool, agent.template.hooks).map(({ place }) => place);
  return accepted({ ...explanation, values, hooks });
}
