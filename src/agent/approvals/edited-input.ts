import type { Json, JsonObject } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import type { CommandRefusal } from "../actors/actor.ts";
import type { ApprovalServices } from "./scope.ts";
import { inputHash } from "../calls/stages/confirmation.ts";
import { issueLines, refusalText } from "../calls/refusals/refusal.ts";
import type { Explanation } from "../policy/permission.ts";
import { storedValues, type RuleValues } from "../policy/rule-values.ts";
import { dryRun, type DryRunAgent } from "../calls/judge.ts";
import { riskOf } from "../calls/risk.ts";
import type { Risk } from "../tools/tool.ts";
import { folderHung } from "../workspace/answering-folders.ts";

/** An allowed input with its hash, normalised values and explanation. */
export type EditedInput = {
  readonly input: JsonObject;
  readonly inputHash: string;
  readonly values: RuleValues;
  readonly explanation: Explanation;
  readonly risk: Risk;
};

/**
 * Validates an edited input, with defaults applied and its hash. An input that the person may not let run is refused
 * with the reason. Hooks run when the call starts, as for every call.
 */
export async function checkEdit(
  services: ApprovalServices,
  agent: DryRunAgent,
  call: { readonly id: string; readonly name: string },
  input: Json,
): Promise<Result<EditedInput, CommandRefusal>> {
  if (!(await services.folders.answers(agent.workspace)))
    return refused({ code: "INVALID", field: ["input"], message: folderHung(agent.workspace) });
  const judged = await dryRun(services, agent, { callId: call.id, name: call.name, input });
  if (!judged.ok) {
    const { refusal } = judged;
    const message = refusal.type === "invalid_params" ? issueLines(refusal.issues).join("\n") : refusalText(refusal);
    return refused({ code: "INVALID", field: ["input"], message });
  }
  const { call: edited, explanation, values } = judged.value;
  if (explanation.verdict === "deny") return refused(deniedEdit(explanation));
  return accepted({
    input: edited.bound.input,
    inputHash: inputHash(edited, agent.workspace),
    values: storedValues(values ?? {}),
    explanation,
    risk: riskOf(edited.tool, values, null),
  });
}

/** The refusal of an edit of a call that has begun. */
export const INPUT_STANDS: CommandRefusal = {
  code: "INVALID",
  field: ["input"],
  message: "the call has begun, and its input stands: deny it, and describe the change in the note",
};

export function deniedEdit({ reason }: Pick<Explanation, "reason">): CommandRefusal {
  return { code: "DENIED_BY_POLICY", field: ["input"], message: `the permission denies this, whoever allows it: ${reason}` };
}
