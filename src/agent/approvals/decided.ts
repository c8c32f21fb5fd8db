import type { ApprovalTransition, OutsideChange } from "../../db/commit/change.ts";
import type { ApprovalDecision, ApprovalState } from "../../db/generated/enums.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { refused, type Result } from "../../lib/result.ts";
import type { JsonObject } from "../../lib/json.ts";
import { storable } from "../../lib/text.ts";
import { actorRef, type Actor, type CommandRefusal } from "../actors/actor.ts";
import { type ApprovalView, type CallView, explainedBy, isFinal, callStep, sealCall, type CallStep } from "../calls/call.ts";
import { endEvents, confirmationEnded, confirmedStages } from "../calls/events.ts";
import { refusedStep } from "../calls/refusals/refusal-details.ts";
import type { FoundApproval, FoundCall, Authority } from "./approval.ts";
import { type DecideApproval, isOutcomeDecision, settleOutcome } from "./decision.ts";
import type { EditedInput } from "./edited-input.ts";
import { closedEvent, requestApproval } from "./request.ts";
import type { ApprovalTemplate } from "./scope.ts";

export type DecisionMade = {
  readonly approval: FoundApproval;
  readonly actor: Actor;
  readonly authority: Authority;
  readonly request: DecideApproval;
  readonly at: Date;
};

export type Decision = DecisionMade & {
  readonly approval: FoundCall;
  readonly call: CallView;
  readonly edit: EditedInput | null;
  readonly template: Pick<ApprovalTemplate, "trace"> | undefined;
};

export type DecisionCommit = { readonly change: OutsideChange; readonly events: readonly AgentEventBody[] };

/** The commit of a decision on a call. The call changes only with the last decision of its quorum. */
export function decided(made: Decision): DecisionCommit {
  const note = storedNote(made.request);
  const { state } = stateAfter(made);
  const step = state === "PENDING" ? null : stepOf(made, state, note);
  const hasEnded = step !== null && isFinal(step.call.state);
  const isTraced = made.template?.trace === true && step !== null && made.approval.kind === "TOOL_CALL";
  const { change, events } = decisionPart(made, made.edit);
  return {
    change: { ...change, transitions: step === null ? [] : [step.transition] },
    events: [
      ...events,
      ...(isTraced ? confirmationEnded(step.call) : []),
      ...(hasEnded ? endEvents(step.call, made.template) : []),
    ],
  };
}

export function stateAfter({ approval, request: { decision } }: DecisionMade): {
  readonly state: "PENDING" | (typeof STATE_AFTER)[ApprovalDecision];
  readonly missing: number;
} {
  const missing = decision === "ALLOW" || decision === "RETRY" ? approval.quorum - approval.decisions.length - 1 : 0;
  return { state: missing > 0 ? "PENDING" : STATE_AFTER[decision], missing };
}

export function storedNote({ note }: DecideApproval): string | null {
  return note === null ? null : storable(note);
}

type After = { readonly state: Exclude<ApprovalState, "EXPIRED" | "SEALED">; readonly missing: number };

/**
 * The common part of decision commits: its row, the approval's next state, and its event. `edit` is the person's input
 * in place of the requested one, or the values of a form, which have no hash.
 */
export function decisionPart(
  made: DecisionMade,
  edit: { readonly input: JsonObject; readonly inputHash: string | null } | null,
  { state, missing }: After = stateAfter(made),
  allowRuleId: string | null = null,
): DecisionCommit {
  const { approval, actor, authority, request, at } = made;
  const { decision } = request;
  const note = storedNote(request);
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
        onBehalfOf: authority.onBehalfOf?.id ?? null,
        onBehalfOfKind: authority.onBehalfOf?.kind ?? null,
        tenant: actor.tenant,
        decision,
        note,
        input: edit?.input ?? null,
        inputHash: edit?.inputHash ?? null,
        decidedAt: at,
      },
    },
    events: [
      {
        kind: "PERMISSION_DECIDED",
        approvalId: approval.id,
        callId: approval.toolCallId,
        tool: approval.tool,
        decision,
        decidedBy: actorRef(actor),
        onBehalfOf: authority.onBehalfOf,
        note,
        approvalState: state,
        missingDecisions: missing,
        allowedHash: decision === "ALLOW" || decision === "RETRY" ? (edit?.inputHash ?? approval.inputHash) : null,
        allowRuleId,
      },
    ],
  };
}

/** The state of an approval after its last decision. */
const STATE_AFTER = { ALLOW: "ALLOWED", DENY: "DENIED", DONE: "RESOLVED", RETRY: "RESOLVED", FAIL: "RESOLVED" } as const;

/** The call's step after the last decision; null if only its owner takes one. */
function stepOf(
  { approval, call, actor, authority, request, edit, at }: Decision,
  state: (typeof STATE_AFTER)[ApprovalDecision],
  note: string | null,
): CallStep | null {
  const inputHash = edit?.inputHash ?? approval.inputHash;
  const decided: ApprovalView = {
    id: approval.id,
    kind: approval.kind,
    state,
    inputHash,
    isEdited: edit !== null,
    decision: request.decision,
    decidedBy: actorRef(actor),
    decidedAt: at.toISOString(),
    note,
  };
  const who = authority.onBehalfOf === null ? actor.id : `${actor.id} on behalf of ${authority.onBehalfOf.id}`;
  const words = `${request.decision} by ${who}${edit === null ? "" : ", with another input"}${note === null ? "" : `: ${note}`}`;
  const trail = { note: words, by: actorRef(actor) };
  if (isOutcomeDecision(request.decision))
    return settleOutcome({ ...call, approval: decided }, request.decision, storable(request.result ?? ""), trail, at);
  const stages = confirmedStages(call.stages, at);
  if (state === "ALLOWED")
    return callStep(
      { ...call, approval: decided },
      "APPROVED",
      at,
      edit === null ? { stages } : { stages, effectiveInput: edit.input },
      edit === null ? {} : { inputHash, ruleValues: edit.values, ...explainedBy(edit.explanation) },
      trail,
    );
  // It may have had effects before its tool asked a person.
  if (call.startedAt !== null) return sealCall({ ...call, approval: decided }, trail, at);
  const refusal = { type: "user_rejected", stage: "confirmation", note } as const;
  return refusedStep({ ...call, approval: decided }, refusal, at, { facts: { durationMs: 0, stages }, trail });
}

/** An edit of the input by a person, which makes the call their own request. */
export type EditAsked = Omit<Decision, "edit" | "template"> & {
  readonly edit: EditedInput;
  readonly template: ApprovalTemplate;
  /** The ids of all who may decide in the tenant; null if unknown. */
  readonly deciders: readonly string[] | null;
};

/** Why an edit would leave no decider: all who may decide have become requesters. Null if somebody can decide. */
export function nobodyElse({
  approval: { requesters },
  actor,
  authority,
  deciders,
}: Pick<EditAsked, "approval" | "actor" | "authority" | "deciders">): Result<never, CommandRefusal> | null {
  const asked = new Set([actor.id, ...requesters.map(({ id }) => id)]);
  if (authority.onBehalfOf !== null) asked.add(authority.onBehalfOf.id);
  if (deciders === null || deciders.some((id) => !asked.has(id))) return null;
  return refused({
    code: "SELF_APPROVAL",
    field: ["input"],
    message:
      "an edited input needs the approval of another person, and there is none: deny it, and describe the change in the note",
  });
}

/**
 * The commit of an edit under a template without self-approval. The approval is closed as superseded, and a newer one
 * asks another person about the edited input.
 */
export function editAsked(made: EditAsked): DecisionCommit {
  const { approval, call, edit, actor, at, template } = made;
  const { change, events } = decisionPart(made, edit, { state: "STALE", missing: 1 });
  const { inputHash, values: ruleValues } = edit;
  const trail = { note: `input edited by ${actor.id}; another person is asked`, by: actorRef(actor) };
  const facts = { effectiveInput: edit.input, inputHash, ruleValues };
  const step = callStep(call, "APPROVAL_REQUIRED", at, facts, explainedBy(edit.explanation), trail);
  const reason = `${actor.id} edited the input, so another person must decide`;
  const request = requestApproval(
    { id: approval.agentId, tenant: approval.tenant },
    {
      kind: "TOOL_CALL",
      call: step.call,
      input: edit.input,
      inputHash,
      reason,
      risk: edit.risk,
      meta: null,
      preview: null,
      quorum: approval.quorum,
      question: null,
      continuation: null,
      at,
    },
    template,
  );
  return {
    change: { ...change, transitions: [step.transition], approvals: [request.row], waits: [request.wait] },
    events: [...events, closedEvent(approval.id, call.id, "STALE", "replaced by an approval of the edited input"), request.event],
  };
}
