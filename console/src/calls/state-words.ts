import { useLingui } from "@lingui/react/macro";
import type { ApprovalDecision, ToolCallState } from "../generated/documents.ts";

export function useCallWords(): Readonly<Record<ToolCallState, string>> {
  const { t } = useLingui();
  return {
    PENDING: t`requested`,
    APPROVAL_REQUIRED: t`asks`,
    APPROVED: t`allowed`,
    EXECUTING: t`running`,
    WAITING: t`waits`,
    COMPLETED: t`completed`,
    DENIED: t`denied`,
    FAILED: t`failed`,
    SEALED: t`turn ended`,
  };
}

/** What a person has said to a question. */
export function useAnswerWords(): Readonly<Record<ApprovalDecision, string>> {
  const { t } = useLingui();
  return { ALLOW: t`allowed`, DENY: t`denied`, DONE: t`it succeeded`, FAIL: t`it failed`, RETRY: t`run again` };
}
