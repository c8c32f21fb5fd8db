import type { ApprovalDecision, ApprovalKind, ApprovalState } from "../../db/generated/enums.ts";
import type { Statement } from "../../db/sql.ts";
import type { EventBody } from "../../events/event.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { actorRef, maySee, mayDecide, type Actor } from "../actor.ts";
import { callStep, endEvents } from "../call-record.ts";
import { refusalText, toolCallError } from "../gate/refusal.ts";
import { lookAtCall, type ApprovalLook, type CallLook } from "../look.ts";
import type { AgentParts } from "../parts.ts";
import { NOTE_CHARACTERS, type CommandRefusal } from "./refusal.ts";

/** What decideApproval is asked for. `inputHash` is the hash of the input that the person saw. */
export type DecideApproval = {
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  readonly note: string | null;
  readonly inputHash: string | null;
};

/** The approval, the position that the decision reached (null where it stood before), and the agent to wake. */
export type Decided = { readonly id: string; readonly position: number | null; readonly agentId: string };

type ApprovalRow = {
  readonly id: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly createdBy: string;
  readonly templateId: string;
  readonly toolCallId: string;
  readonly kind: ApprovalKind;
  readonly state: ApprovalState;
  readonly inputHash: string;
  /** Whether the actor sent one of the messages that the call's turn answers. */
  readonly isOwnRequest: boolean;
};

/** A decision that meets other changes of the same rows so often was not meant to be. */
const TRIES = 10;

const FIND: Statement = {
  name: "find_approval",
  text: `SELECT p.id, p.tenant, p.agent_id AS "agentId", a.created_by AS "createdBy", a.template_id AS "templateId", p.tool_call_id AS "toolCallId", p.kind, p.state, p.input_hash AS "inputHash",
      EXISTS (SELECT FROM tool_call t JOIN message m ON m.agent_id = t.agent_id AND m.turn = t.turn AND m.kind = 'USER' WHERE t.id = p.tool_call_id AND m.created_by = $2) AS "isOwnRequest"
    FROM approval p JOIN agent a ON a.id = p.agent_id WHERE p.id = $1`,
};

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
  const [approval] = await parts.sql.query<ApprovalRow>(FIND, [request.approvalId, actor.id]);
  if (approval === undefined || !maySee(actor, approval))
    return refused({
      code: "NOT_FOUND",
      field: ["approvalId"],
      message: "there is no such approval: list the open ones with `approvals(state: PENDING)`",
    });
  if (!mayDecide(actor)) return refused({ code: "FORBIDDEN", field: null, message: "deciding needs the role approver or admin" });
  if (approval.isOwnRequest && parts.templates.get(approval.templateId)?.selfApproval !== true) {
    return refused({
      code: "SELF_APPROVAL",
      field: null,
      message: "you asked for this yourself, and the template does not allow deciding on it: another approver must",
    });
  }
  const problem = problemOf(request, approval);
  if (problem !== null) return refused(problem);
  if (approval.state !== "PENDING") return standing(approval, request);

  const at = parts.clock.now();
  const note = request.note === null ? null : storable(request.note);
  const call = await lookAtCall(parts.sql, approval.toolCallId);
  const decided: ApprovalLook = {
    id: approval.id,
    state: request.decision === "ALLOW" ? "ALLOWED" : "DENIED",
    inputHash: approval.inputHash,
    decision: request.decision,
    decidedBy: actorRef(actor),
    decidedAt: at.toISOString(),
    note,
  };
  if (call.state !== "APPROVAL_REQUIRED") return "somebody was faster";
  const { transition, events } = stepOf({ ...call, approval: decided }, request.decision, note, at, actor.id);
  const outcome = await parts.log.commit(
    actor.tenant,
    {
      agentId: approval.agentId,
      createdBy: approval.createdBy,
      epoch: null,
      events: [
        {
          kind: "PERMISSION_DECIDED",
          approvalId: approval.id,
          callId: call.id,
          decision: request.decision,
          decidedBy: actorRef(actor),
          note,
        } as const,
        ...events,
      ].map((body) => ({ at, body })),
    },
    {
      wake: true,
      approvalTransitions: [
        { id: approval.id, from: "PENDING", to: request.decision === "ALLOW" ? "ALLOWED" : "DENIED", closedAt: at },
      ],
      decision: {
        approvalId: approval.id,
        actorId: actor.id,
        actorKind: actor.kind,
        onBehalfOf: null,
        tenant: actor.tenant,
        decision: request.decision,
        note,
        input: null,
        inputHash: null,
        decidedAt: at,
      },
      transitions: [transition],
    },
  );
  return outcome.outcome === "COMMITTED"
    ? accepted({ id: approval.id, position: outcome.position, agentId: approval.agentId })
    : "somebody was faster";
}

function problemOf({ decision, inputHash, note }: DecideApproval, approval: ApprovalRow): CommandRefusal | null {
  if (note !== null && note.length > NOTE_CHARACTERS)
    return { code: "TOO_LARGE", field: ["note"], message: `a note has at most ${NOTE_CHARACTERS} characters` };
  if (approval.kind === "TOOL_CALL" && decision !== "ALLOW" && decision !== "DENY")
    return {
      code: "INVALID",
      field: ["decision"],
      message: "this approval is decided with ALLOW or DENY; DONE, RETRY and FAIL answer an OUTCOME_UNKNOWN",
    };
  if (decision === "ALLOW" && inputHash === null)
    return {
      code: "INVALID",
      field: ["inputHash"],
      message: "ALLOW needs the inputHash of the input that you saw: take it from the approval",
    };
  if (inputHash !== null && inputHash !== approval.inputHash)
    return {
      code: "HASH_MISMATCH",
      field: ["inputHash"],
      message: "the input is not the one with this hash: look at the approval again and decide on what it shows",
    };
  return null;
}

/** The answer to a decision on an approval that is closed. */
function standing(approval: ApprovalRow, { decision }: DecideApproval): Result<Decided, CommandRefusal> {
  switch (approval.state) {
    case "ALLOWED":
    case "DENIED":
    case "RESOLVED": {
      const isSame =
        (approval.state === "ALLOWED" && decision === "ALLOW") || (approval.state === "DENIED" && decision === "DENY");
      if (isSame) return accepted({ id: approval.id, position: null, agentId: approval.agentId });
      return refused({
        code: "ALREADY_DECIDED",
        field: ["decision"],
        message: `this was decided before: ${approval.state}. The first decision stands; the approval says whose it is`,
      });
    }
    case "SEALED":
      return refused({
        code: "SEALED",
        field: ["approvalId"],
        message: "the turn ended before anybody decided: nothing waits for this decision any more",
      });
    case "STALE":
    case "EXPIRED":
      return refused({
        code: "STALE",
        field: ["approvalId"],
        message: `this approval is ${approval.state} and cannot be decided any more: look for a newer one of the same call`,
      });
    case "PENDING":
      throw new Error("a pending approval is not closed");
  }
}

function stepOf(
  call: CallLook,
  decision: ApprovalDecision,
  note: string | null,
  at: Date,
  actorId: string,
): { transition: ReturnType<typeof callStep>["transition"]; events: readonly EventBody[] } {
  const trail = `${decision} by ${actorId}${note === null ? "" : `: ${note}`}`;
  if (decision === "ALLOW") return { transition: callStep(call, "APPROVED", at, {}, {}, trail).transition, events: [] };
  const refusal = { type: "user_rejected", stage: "confirmation", note } as const;
  const step = callStep(
    call,
    "DENIED",
    at,
    { output: refusalText(refusal), isError: true, error: toolCallError(refusal), completedAt: at.toISOString(), durationMs: 0 },
    {},
    trail,
  );
  return { transition: step.transition, events: endEvents(step.call) };
}
