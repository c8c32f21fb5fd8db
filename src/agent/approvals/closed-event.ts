import type { ApprovalState } from "../../db/generated/enums.ts";
import type { AgentEventBody } from "../../events/event.ts";

export function closedEvent(
  approvalId: string,
  callId: string | null,
  approvalState: ApprovalState,
  note: string,
): AgentEventBody {
  return { kind: "PERMISSION_CLOSED", approvalId, callId, approvalState, note };
}
