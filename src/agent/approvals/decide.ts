import canonicalize from "canonicalize";
import { type Json, type JsonObject, mapStrings } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import type { Actor, CommandRefusal } from "../actors/actor.ts";
import { readCall, type CallView } from "../calls/call.ts";
import {
  allowsSelfApproval,
  findApproval,
  type FoundApproval,
  type FoundBudget,
  type FoundCall,
  type FoundHost,
  type FoundInput,
  authorityOf,
  earlierDecision,
  type DecisionRow,
} from "./approval.ts";
import { decided, type Decision, type DecisionCommit, editAsked, nobodyElse } from "./decided.ts";
import { decisionProblem, type Decided, type DecideApproval } from "./decision.ts";
import { decidedBudget } from "./budgets/decided-budget.ts";
import { checkEdit, INPUT_STANDS, type EditedInput } from "./edited-input.ts";
import { expireApproval } from "./expire.ts";
import { decidedInput, givenValues } from "./input/decided-input.ts";
import { decidedHost } from "./hosts/decided-host.ts";
import type { ApprovalServices, ApprovalTemplate } from "./scope.ts";

/** After this many conflicts, a decision is an internal error. */
const TRIES = 50;

/**
 * Decides an approval, once (invariant 7): the approval, the call and the events change in one transaction, from the
 * states that were read. The same decision again gets the same answer; a different one is told the first decision.
 */
export async function decideApproval(
  services: ApprovalServices,
  actor: Actor,
  request: DecideApproval,
): Promise<Result<Decided, CommandRefusal>> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const result = await tryToDecide(services, actor, request);
    if (result !== "somebody was faster") return result;
  }
  throw new Error(`approval ${request.approvalId} could not be decided in ${TRIES} tries`);
}

async function tryToDecide(
  services: ApprovalServices,
  actor: Actor,
  request: DecideApproval,
): Promise<Result<Decided, CommandRefusal> | "somebody was faster"> {
  const found = await findApproval(services.sql, actor, request.approvalId);
  if (!found.ok) return found;
  const approval = found.value;
  const held = await services.heldTemplate(approval);
  const template = "missing" in held ? undefined : held;
  const authority = authorityOf(actor, approval, template);
  if (!authority.ok) return authority;
  const problem = decisionProblem(request, approval);
  if (problem !== null) return refused(problem);

  const asked = await readAsked(services, approval, request);
  if (approval.state !== "PENDING") return answerClosed(asked, request);
  const earlier = earlierDecision(actor, approval, authority.value);
  if (earlier !== undefined) return answerRepeated(approval, request, earlier);
  const at = services.clock.now();
  if (approval.isOverdue) {
    await expireApproval(services, approval, at);
    return "somebody was faster";
  }
  if (!asked.edit.ok) return asked.edit;
  const made = { actor, authority: authority.value, request, at, template };
  const commit = await commitOf(services, asked, made);
  if (commit === "somebody was faster") return commit;
  if (!commit.ok) return commit;
  const { change, events } = commit.value;
  const { agentId, createdBy } = approval;
  const part = { agentId, createdBy, events: events.map((body) => ({ at, body })) };
  const outcome = await services.log.commit(actor.tenant, part, change);
  if (outcome.outcome !== "COMMITTED") return "somebody was faster";
  return accepted({ id: approval.id, position: outcome.position, agentId });
}

type Asked =
  | {
      readonly of: "call";
      readonly approval: FoundCall;
      readonly call: CallView;
      readonly edit: Result<EditedInput | null, CommandRefusal>;
    }
  | {
      readonly of: "input";
      readonly approval: FoundInput;
      readonly call: CallView;
      readonly edit: Result<JsonObject | null, CommandRefusal>;
    }
  | {
      readonly of: "budget";
      readonly approval: FoundBudget;
      readonly call: null;
      readonly edit: Result<JsonObject | null, never>;
    }
  | { readonly of: "host"; readonly approval: FoundHost; readonly call: null; readonly edit: Result<null, never> };

async function readAsked(services: ApprovalServices, approval: FoundApproval, request: DecideApproval): Promise<Asked> {
  if (approval.kind === "NETWORK_HOST") return { of: "host", approval, call: null, edit: accepted(null) };
  if (approval.kind === "BUDGET") return { of: "budget", approval, call: null, edit: accepted(request.raiseTo) };
  const call = await readCall(services.sql, approval.toolCallId);
  if (approval.kind === "TOOL_INPUT") return { of: "input", approval, call, edit: givenValues(approval, request) };
  const edit = await editOf(services, approval, call, request);
  // An input equal to the requested one is no edit.
  const isSame = edit.ok && edit.value?.inputHash === approval.inputHash;
  return { of: "call", approval, call, edit: isSame ? accepted(null) : edit };
}

async function commitOf(
  services: ApprovalServices,
  asked: Asked,
  made: Omit<Decision, "approval" | "call" | "edit" | "template"> & { readonly template: ApprovalTemplate | undefined },
): Promise<Result<DecisionCommit, CommandRefusal> | "somebody was faster"> {
  if (asked.of === "host") return decidedHost(services, { ...made, approval: asked.approval });
  if (asked.of === "budget") return accepted(await decidedBudget(services.sql, { ...made, approval: asked.approval }));
  if (!asked.edit.ok) return asked.edit;
  if (asked.of === "input") {
    const commit = decidedInput({ ...made, approval: asked.approval }, asked.call, asked.edit.value);
    return commit === null ? "somebody was faster" : accepted(commit);
  }
  const { approval, call } = asked;
  const edit = asked.edit.value;
  if (call.state !== "APPROVAL_REQUIRED") return "somebody was faster";
  const { actor, request, template } = made;
  if (request.input !== null && edit !== null && template !== undefined && !allowsSelfApproval(template)) {
    const asking = { ...made, approval, call, edit, template, deciders: services.decidersOf(actor.tenant) };
    return nobodyElse(asking) ?? accepted(editAsked(asking));
  }
  return accepted(decided({ ...made, approval, call, edit }));
}

/** The edited input; null if none is given. It is validated, and not denied by the agent's policy. */
async function editOf(
  services: ApprovalServices,
  approval: FoundCall,
  call: CallView,
  { input }: DecideApproval,
): Promise<Result<EditedInput | null, CommandRefusal>> {
  if (input === null) return accepted(null);
  if (approval.state === "PENDING" && call.startedAt !== null) return refused(INPUT_STANDS);
  const { agentId: id, tenant, workspace, permission } = approval;
  const template = await services.heldTemplate(approval);
  if ("missing" in template) {
    const message = `${template.missing} of this agent is not configured`;
    return refused({ code: "NOT_FOUND", field: ["input"], message });
  }
  return checkEdit(services, { id, tenant, workspace, permission, template }, call, input);
}

function answerRepeated(
  approval: FoundApproval,
  { decision }: DecideApproval,
  { actorId, onBehalfOf, decision: earlier }: DecisionRow,
): Result<Decided, CommandRefusal> {
  if (decision === earlier) return accepted({ id: approval.id, position: null, agentId: approval.agentId });
  const who = onBehalfOf === null ? actorId : `${actorId} on behalf of ${onBehalfOf}`;
  return refused({
    code: "ALREADY_DECIDED",
    field: ["decision"],
    message: `already decided: ${who} decided ${earlier}, and that stands; the approval waits for other people, who may still deny it`,
  });
}

/** True if the decision gives the input, or the values, that were allowed. */
function isAllowedInput({ of, edit, approval: { decisions } }: Asked): boolean {
  if (!edit.ok) return false;
  if (of === "input" || of === "budget") return storedForm(edit.value) === storedForm(decisions.at(-1)?.values ?? null);
  const allowed = decisions.find(({ inputHash }) => inputHash !== null)?.inputHash ?? null;
  return (of === "call" ? (edit.value?.inputHash ?? null) : null) === allowed;
}

/** The canonical text of values as they are stored. */
function storedForm(values: Json): string {
  return canonicalize(mapStrings(values, storable)) ?? "";
}

function answerClosed(asked: Asked, { decision, result }: DecideApproval): Result<Decided, CommandRefusal> {
  const { approval, call } = asked;
  switch (approval.state) {
    case "ALLOWED":
    case "DENIED":
    case "RESOLVED": {
      const allowedHash = approval.decisions.find(({ inputHash }) => inputHash !== null)?.inputHash ?? null;
      const isSameResult = decision !== "DONE" || call?.output === storable(result ?? "");
      const isSame =
        (approval.state === "ALLOWED" && decision === "ALLOW" && isAllowedInput(asked)) ||
        (approval.state === "DENIED" && decision === "DENY") ||
        (approval.state === "RESOLVED" && approval.decisions.at(-1)?.decision === decision && isSameResult);
      if (isSame) return accepted({ id: approval.id, position: null, agentId: approval.agentId });
      return refused({
        code: "ALREADY_DECIDED",
        field: ["decision"],
        message: `already decided: ${approval.state}${allowedHash === null ? "" : ", with another input"}; see \`decidedBy\` of the approval`,
      });
    }
    case "SEALED":
      return refused({
        code: "SEALED",
        field: ["approvalId"],
        message: `${approval.kind === "NETWORK_HOST" ? "the turn, or the program that asked," : "the turn"} ended before a decision: this decision is no longer needed`,
      });
    case "STALE":
      // A repeated decision by the person whose edited input the newer approval is about.
      if (
        asked.of === "call" &&
        asked.edit.ok &&
        asked.edit.value !== null &&
        approval.decisions.at(-1)?.inputHash === asked.edit.value.inputHash
      )
        return accepted({ id: approval.id, position: null, agentId: approval.agentId });
      return refused({
        code: "STALE",
        field: ["approvalId"],
        message: "the action has changed: decide the newer approval of the same call",
      });
    case "EXPIRED":
      return refused({
        code: "EXPIRED",
        field: ["approvalId"],
        message: `the approval has expired, and ${AFTER_EXPIRY[asked.of]}: the agent may ask again`,
      });
    case "PENDING":
      throw new Error("a pending approval is not closed");
  }
}

const AFTER_EXPIRY = {
  call: "the call did not run",
  input: "the call went on without an answer",
  budget: "the turn ended",
  host: "the host stays closed",
} as const;
