import { refused, type Result } from "../../lib/result.ts";
import type { CommandRefusal } from "../actors/refusal.ts";
import { actorRef } from "../actors/actor.ts";
import { callStep, explainedBy } from "../calls/states.ts";
import { closedEvent } from "./closed-event.ts";
import { decisionPart, type Decision, type DecisionCommit } from "./decided.ts";
import type { EditedInput } from "./edited-input.ts";
import { requestApproval } from "./request.ts";
import type { ApprovalTemplate } from "./template.ts";

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
}: EditAsked): Result<never, CommandRefusal> | null {
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
      at,
    },
    template,
  );
  return {
    change: { ...change, transitions: [step.transition], approvals: [request.row] },
    events: [...events, closedEvent(approval.id, call.id, "STALE", "replaced by an approval of the edited input"), request.event],
  };
}
