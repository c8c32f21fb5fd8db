import type { Json } from "../../lib/json.ts";
import { eachProblem, type Actor, type CommandRefusal } from "../actors/actor.ts";
import { explainCall, type CallExplanation } from "../calls/judge.ts";
import { readCall } from "../calls/call.ts";
import { callProblems } from "../calls/refusals/call-problems.ts";
import { folderHung } from "../workspace/answering-folders.ts";
import { allowsSelfApproval, authorityOf, findApproval, type FoundCall } from "./approval.ts";
import { closedProblem, decisionProblem } from "./decision.ts";
import { nobodyElse } from "./decided.ts";
import { checkEdit, deniedEdit, INPUT_STANDS } from "./edited-input.ts";
import { givenValues } from "./input/decided-input.ts";
import type { ApprovalServices } from "./scope.ts";

/** An edited input, or the values of a form. The other one is null. */
export type GivenInput = { readonly input: Json | null; readonly values: Json | null };

/** The answer of `decideApproval` to an ALLOW with an input, without its changes. */
export type InputCheck = {
  readonly problems: readonly CommandRefusal[];
  /** The verdict of the rules on the input; null if it does not fit the tool, or is no input of a call. */
  readonly explanation: CallExplanation | null;
  /** The hash of an input that may be allowed. */
  readonly inputHash: string | null;
  readonly isChanged: boolean;
  /** True if another person is asked about the input. */
  readonly asksAnother: boolean;
};

const REFUSED: Omit<InputCheck, "problems"> = { explanation: null, inputHash: null, isChanged: false, asksAnother: false };

function withProblem(refusal: CommandRefusal): InputCheck {
  return { ...REFUSED, problems: eachProblem(refusal) };
}

/** Checks an edited input as its decision would: the right to decide, the tool's schema, and the agent's permission. */
export async function checkApprovalInput(
  services: ApprovalServices,
  actor: Actor,
  approvalId: string,
  given: GivenInput,
): Promise<InputCheck> {
  const found = await findApproval(services.sql, actor, approvalId);
  if (!found.ok) return withProblem(found.refusal);
  const approval = found.value;
  const held = await services.heldTemplate(approval);
  const template = "missing" in held ? undefined : held;
  const authority = authorityOf(actor, approval, template);
  if (!authority.ok) return withProblem(authority.refusal);
  const { inputHash } = approval;
  const request = { approvalId, decision: "ALLOW", note: null, inputHash, raiseTo: null, result: null, ...given } as const;
  const problem = closedProblem(approval) ?? decisionProblem(request, approval);
  if (problem !== null) return withProblem(problem);
  if (approval.kind === "TOOL_INPUT") {
    const values = givenValues(approval, request);
    return values.ok ? { ...REFUSED, problems: [], isChanged: true } : withProblem(values.refusal);
  }
  if (approval.kind === "NETWORK_HOST" || approval.kind === "BUDGET" || given.input === null)
    return withProblem({ code: "INVALID", field: ["input"], message: "give the input of a call, or the values of a form" });
  if ("missing" in held)
    return withProblem({ code: "NOT_FOUND", field: ["input"], message: `${held.missing} of this agent is not configured` });
  const checked = await checkCall(services, approval, held, given.input);
  const asksAnother = checked.isChanged && !allowsSelfApproval(held);
  const deciders = services.decidersOf(actor.tenant);
  const nobody = asksAnother ? nobodyElse({ approval, actor, authority: authority.value, deciders }) : null;
  if (nobody?.ok === false) return { ...checked, problems: [...checked.problems, nobody.refusal] };
  return { ...checked, asksAnother };
}

async function checkCall(
  services: ApprovalServices,
  { agentId: id, tenant, workspace, permission, toolCallId, inputHash: askedHash }: FoundCall,
  template: Exclude<Awaited<ReturnType<ApprovalServices["heldTemplate"]>>, { readonly missing: string }>,
  input: Json,
): Promise<InputCheck> {
  const agent = { id, tenant, workspace, permission, template };
  if (!(await services.folders.answers(workspace)))
    return withProblem({ code: "INVALID", field: ["input"], message: folderHung(workspace) });
  const call = await readCall(services.sql, toolCallId);
  if (call.startedAt !== null) return withProblem(INPUT_STANDS);
  const explained = await explainCall(services, agent, call.name, input);
  if (!explained.ok) return { ...REFUSED, problems: callProblems(explained.refusal, ["input"]) };
  const explanation = explained.value;
  if (explanation.verdict === "deny") return { ...REFUSED, problems: [deniedEdit(explanation)], explanation, isChanged: true };
  const edit = await checkEdit(services, agent, call, input);
  if (!edit.ok) return { ...withProblem(edit.refusal), explanation };
  const { inputHash } = edit.value;
  return { problems: [], explanation, inputHash, isChanged: inputHash !== askedHash, asksAnother: false };
}
