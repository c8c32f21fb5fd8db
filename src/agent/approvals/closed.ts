import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import type { CommandRefusal } from "../actors/refusal.ts";
import type { CallView } from "../calls/call.ts";
import type { DecisionRow, FoundApproval } from "./approval.ts";
import type { Decided, DecideApproval } from "./decision.ts";
import type { EditedInput } from "./edited-input.ts";

export function answerRepeated(
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

export function answerClosed(
  approval: FoundApproval,
  { decision, result }: DecideApproval,
  edit: Result<EditedInput | null, CommandRefusal>,
  output: CallView["output"],
): Result<Decided, CommandRefusal> {
  switch (approval.state) {
    case "ALLOWED":
    case "DENIED":
    case "RESOLVED": {
      const allowedHash = approval.decisions.find(({ inputHash }) => inputHash !== null)?.inputHash ?? null;
      const isSameInput = edit.ok && (edit.value?.inputHash ?? null) === allowedHash;
      const isSameResult = decision !== "DONE" || output === storable(result ?? "");
      const isSame =
        (approval.state === "ALLOWED" && decision === "ALLOW" && isSameInput) ||
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
      if (edit.ok && edit.value !== null && approval.decisions.at(-1)?.inputHash === edit.value.inputHash)
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
        message: `the approval has expired, and ${approval.kind === "NETWORK_HOST" ? "the host stays closed" : "the call did not run"}: the agent may ask again`,
      });
    case "PENDING":
      throw new Error("a pending approval is not closed");
  }
}
