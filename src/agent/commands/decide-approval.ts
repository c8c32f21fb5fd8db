import type { ApprovalTransition, Change } from "../../db/change.ts";
import type { ApprovalDecision } from "../../db/generated/enums.ts";
import type { EventBody } from "../../events/event.ts";
import type { Json } from "../../lib/json.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { actorRef, type Actor } from "../actor.ts";
import { callStep, endEvents, type CallStep } from "../call-record.ts";
import { expireApproval } from "../expiry.ts";
import { judgeEdit, type EditedInput } from "../gate/edited-input.ts";
import { isFinal, refusalText, toolCallError } from "../gate/refusal.ts";
import { lookAtCall, type ApprovalLook, type CallLook } from "../look.ts";
import type { AgentParts } from "../parts.ts";
import type { Template } from "../template.ts";
import { isOutcomeDecision, RESULT_CHARACTERS, settleOutcome } from "./decide-outcome.ts";
import { authorityOf, findApproval, type Authority, type DecisionRow, type FoundApproval } from "./find-approval.ts";
import { NOTE_CHARACTERS, type CommandRefusal } from "./refusal.ts";

/** What decideApproval is asked for. */
export type DecideApproval = {
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  readonly note: string | null;
  /** The hash of the input that the person saw. */
  readonly inputHash: string | null;
  /** The input that shall run instead of the one that was asked for; null for that one. */
  readonly input: Json | null;
  /** With DONE: what came of the call, as the model shall read it. */
  readonly result: string | null;
};

/** The approval, the position that the decision reached (null where it stood before), and the agent to wake. */
export type Decided = { readonly id: string; readonly position: number | null; readonly agentId: string };

/** A decision that meets other changes of the same rows so often was not meant to be. */
const TRIES = 50;

/**
 * Decides an approval, once (invariant 7): the approval, the call and the events change in one transaction, from the
 * states that they were found in. The same decision again answers the same; another one is told which stands.
 */
export async function decideApproval(
  parts: AgentParts,
  actor: Actor,
  request: DecideApproval,
): Promise<Result<Decided, CommandRefusal>> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const result = await tryToDecide(parts, actor, request);
    if (result !== "somebody was faster") return result;
  }
  throw new Error(`approval ${request.approvalId} could not be decided in ${TRIES} tries`);
}

async function tryToDecide(
  parts: AgentParts,
  actor: Actor,
  request: DecideApproval,
): Promise<Result<Decided, CommandRefusal> | "somebody was faster"> {
  const found = await findApproval(parts.sql, actor, request.approvalId);
  if (!found.ok) return found;
  const approval = found.value;
  const template = parts.templates.get(approval.templateId);
  const authority = authorityOf(actor, approval, template);
  if (!authority.ok) return authority;
  const problem = problemOf(request, approval);
  if (problem !== null) return refused(problem);
  if (approval.state !== "PENDING") {
    const isSameResult =
      request.decision !== "DONE" || (await lookAtCall(parts.sql, approval.toolCallId)).output === storable(request.result ?? "");
    return standing(approval, request, await editOf(parts, approval, request), isSameResult);
  }
  const principal = authority.value.onBehalfOf ?? actor.id;
  const earlier = approval.decisions.find(
    ({ actorId, onBehalfOf }) => actorId === actor.id || (onBehalfOf ?? actorId) === principal,
  );
  if (earlier !== undefined) return repeated(approval, request, earlier);
  const at = parts.clock.now();
  if (approval.expiresAt !== null && new Date(approval.expiresAt) <= at) {
    await expireApproval(parts, approval, at);
    return "somebody was faster";
  }
  const edit = await editOf(parts, approval, request);
  if (!edit.ok) return edit;
  const call = await lookAtCall(parts.sql, approval.toolCallId);
  if (call.state !== "APPROVAL_REQUIRED") return "somebody was faster";
  const { change, events } = decisionOf({
    approval,
    call,
    actor,
    authority: authority.value,
    request,
    edit: edit.value,
    at,
    template,
  });
  const outcome = await parts.log.commit(
    actor.tenant,
    {
      agentId: approval.agentId,
      createdBy: approval.createdBy,
      fence: null,
      events: events.map((body) => ({ at, body })),
    },
    change,
  );
  return outcome.outcome === "COMMITTED"
    ? accepted({ id: approval.id, position: outcome.position, agentId: approval.agentId })
    : "somebody was faster";
}

function problemOf({ decision, inputHash, input, note, result }: DecideApproval, approval: FoundApproval): CommandRefusal | null {
  if (note !== null && note.length > NOTE_CHARACTERS)
    return { code: "TOO_LARGE", field: ["note"], message: `a note has at most ${NOTE_CHARACTERS} characters` };
  if (approval.kind === "TOOL_CALL" && decision !== "ALLOW" && decision !== "DENY")
    return {
      code: "INVALID",
      field: ["decision"],
      message: "this approval is decided with ALLOW or DENY; DONE, RETRY and FAIL answer an OUTCOME_UNKNOWN",
    };
  if (approval.kind === "OUTCOME_UNKNOWN" && !isOutcomeDecision(decision))
    return {
      code: "INVALID",
      field: ["decision"],
      message: "the call has run, and nobody knows what came of it: say DONE with its result, RETRY to run it again, or FAIL",
    };
  if (decision === "DONE" && (result === null || result.trim() === ""))
    return {
      code: "INVALID",
      field: ["result"],
      message: "DONE needs a result: say in words for the model what came of the call",
    };
  if (result !== null && decision !== "DONE")
    return { code: "INVALID", field: ["result"], message: "a result comes with DONE only" };
  if (result !== null && result.length > RESULT_CHARACTERS)
    return { code: "TOO_LARGE", field: ["result"], message: `a result has at most ${RESULT_CHARACTERS} characters` };
  if ((decision === "ALLOW" || decision === "RETRY") && inputHash === null)
    return {
      code: "INVALID",
      field: ["inputHash"],
      message: `${decision} needs the inputHash of the input that you saw: take it from the approval`,
    };
  if (inputHash !== null && inputHash !== approval.inputHash)
    return {
      code: "HASH_MISMATCH",
      field: ["inputHash"],
      message: "the input is not the one with this hash: look at the approval again and decide on what it shows",
    };
  if (input !== null && decision !== "ALLOW")
    return {
      code: "INVALID",
      field: ["input"],
      message: "another input comes with ALLOW only; say in the note what should be different",
    };
  if (input !== null && approval.quorum > 1)
    return {
      code: "INVALID",
      field: ["input"],
      message: `${approval.quorum} people must allow the same input: deny it and say in the note what should be different`,
    };
  return null;
}

/** The input that the person gives instead, where they give one: validated, and not denied by the agent's policy. */
async function editOf(
  parts: AgentParts,
  approval: FoundApproval,
  { input }: DecideApproval,
): Promise<Result<EditedInput | null, CommandRefusal>> {
  if (input === null) return accepted(null);
  const { agentId: id, tenant, workspace, permission, templateId } = approval;
  const template = parts.templates.get(templateId);
  if (template === undefined)
    return refused({
      code: "NOT_FOUND",
      field: ["input"],
      message: `the template ${templateId} of this agent is not configured`,
    });
  const call = await lookAtCall(parts.sql, approval.toolCallId);
  return judgeEdit(parts, { id, tenant, workspace, permission, template }, call, input);
}

/** The answer to somebody who has decided on an approval that still waits for others. */
function repeated(
  approval: FoundApproval,
  { decision }: DecideApproval,
  { actorId, onBehalfOf, decision: earlier }: DecisionRow,
): Result<Decided, CommandRefusal> {
  if (decision === earlier) return accepted({ id: approval.id, position: null, agentId: approval.agentId });
  const who = onBehalfOf === null ? actorId : `${actorId} on behalf of ${onBehalfOf}`;
  return refused({
    code: "ALREADY_DECIDED",
    field: ["decision"],
    message: `${who} said ${earlier} before, and that stands; the approval waits for others, each of whom may deny it`,
  });
}

/** The answer to a decision on an approval that is closed. */
function standing(
  approval: FoundApproval,
  { decision }: DecideApproval,
  edit: Result<EditedInput | null, CommandRefusal>,
  isSameResult: boolean,
): Result<Decided, CommandRefusal> {
  switch (approval.state) {
    case "ALLOWED":
    case "DENIED":
    case "RESOLVED": {
      const allowedHash = approval.decisions.find(({ inputHash }) => inputHash !== null)?.inputHash ?? null;
      const isSameInput = edit.ok && (edit.value?.inputHash ?? null) === allowedHash;
      const isSame =
        (approval.state === "ALLOWED" && decision === "ALLOW" && isSameInput) ||
        (approval.state === "DENIED" && decision === "DENY") ||
        (approval.state === "RESOLVED" && approval.decisions.at(-1)?.decision === decision && isSameResult);
      if (isSame) return accepted({ id: approval.id, position: null, agentId: approval.agentId });
      return refused({
        code: "ALREADY_DECIDED",
        field: ["decision"],
        message: `this was decided before: ${approval.state}${allowedHash === null ? "" : ", with another input"}. The first decision stands; the approval says whose it is`,
      });
    }
    case "SEALED":
      return refused({
        code: "SEALED",
        field: ["approvalId"],
        message: "the turn ended before anybody decided: nothing waits for this decision any more",
      });
    case "STALE":
      return refused({
        code: "STALE",
        field: ["approvalId"],
        message: "what would run has changed since: look for a newer approval of the same call",
      });
    case "EXPIRED":
      return refused({
        code: "EXPIRED",
        field: ["approvalId"],
        message: "nobody decided in time, and the call was not run: the agent may ask again",
      });
    case "PENDING":
      throw new Error("a pending approval is not closed");
  }
}

/** A decision that may be made, by whom, and when. */
type Decision = {
  readonly approval: FoundApproval;
  readonly call: CallLook;
  readonly actor: Actor;
  readonly authority: Authority;
  readonly request: DecideApproval;
  readonly edit: EditedInput | null;
  readonly at: Date;
  readonly template: Template | undefined;
};

/** What a decision changes: one that is not the last of its quorum leaves the call as it is. */
function decisionOf(made: Decision): { change: Change; events: readonly EventBody[] } {
  const { approval, call, actor, authority, request, edit, at } = made;
  const { decision } = request;
  const note = request.note === null ? null : storable(request.note);
  const missing = decision === "ALLOW" || decision === "RETRY" ? approval.quorum - approval.decisions.length - 1 : 0;
  const state = missing > 0 ? "PENDING" : STATE_AFTER[decision];
  const step = state === "PENDING" ? null : stepOf(made, state, note);
  const hasEnded = step !== null && isFinal(step.call.state);
  const transition: ApprovalTransition = {
    id: approval.id,
    from: "PENDING",
    to: state,
    closedAt: state === "PENDING" ? null : at,
  };
  return {
    change: {
      ...(state === "PENDING" ? {} : { wake: true }),
      approvalTransitions: [transition],
      expectDecisions: approval.decisions.length,
      decision: {
        approvalId: approval.id,
        actorId: actor.id,
        actorKind: actor.kind,
        onBehalfOf: authority.onBehalfOf,
        tenant: actor.tenant,
        decision,
        note,
        input: edit?.input ?? null,
        inputHash: edit?.inputHash ?? null,
        decidedAt: at,
      },
      transitions: step === null ? [] : [step.transition],
    },
    events: [
      {
        kind: "PERMISSION_DECIDED",
        approvalId: approval.id,
        callId: call.id,
        decision,
        decidedBy: actorRef(actor),
        onBehalfOf: authority.onBehalfOf,
        note,
        approvalState: state,
        missingDecisions: missing,
        allowedHash: decision === "ALLOW" || decision === "RETRY" ? (edit?.inputHash ?? approval.inputHash) : null,
      },
      ...(hasEnded ? endEvents(step.call, made.template) : []),
    ],
  };
}

/** What an approval is after each decision, the last one that it needs. */
const STATE_AFTER = { ALLOW: "ALLOWED", DENY: "DENIED", DONE: "RESOLVED", RETRY: "RESOLVED", FAIL: "RESOLVED" } as const;

/** The step of the call that the last decision makes; null where only its owner takes one. */
function stepOf(
  { approval, call, actor, authority, request, edit, at }: Decision,
  state: (typeof STATE_AFTER)[ApprovalDecision],
  note: string | null,
): CallStep | null {
  const inputHash = edit?.inputHash ?? approval.inputHash;
  const decided: ApprovalLook = {
    id: approval.id,
    kind: approval.kind,
    state,
    inputHash,
    decision: request.decision,
    decidedBy: actorRef(actor),
    decidedAt: at.toISOString(),
    note,
  };
  const who = authority.onBehalfOf === null ? actor.id : `${actor.id} on behalf of ${authority.onBehalfOf}`;
  const trail = `${request.decision} by ${who}${edit === null ? "" : ", with another input"}${note === null ? "" : `: ${note}`}`;
  if (isOutcomeDecision(request.decision))
    return settleOutcome({ ...call, approval: decided }, request.decision, storable(request.result ?? ""), trail, at);
  if (state === "ALLOWED")
    return callStep(
      { ...call, approval: decided },
      "APPROVED",
      at,
      edit === null ? {} : { effectiveInput: edit.input },
      edit === null ? {} : { inputHash, ruleValues: edit.values },
      trail,
    );
  const refusal = { type: "user_rejected", stage: "confirmation", note } as const;
  return callStep(
    { ...call, approval: decided },
    "DENIED",
    at,
    { output: refusalText(refusal), isError: true, error: toolCallError(refusal), completedAt: at.toISOString(), durationMs: 0 },
    {},
    trail,
  );
}
