import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { ApprovalDecision, ToolCallState } from "../generated/documents.ts";

/** The states of calls in words. */
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

/** The decision of a person in words. */
export function useAnswerWords(): Readonly<Record<ApprovalDecision, string>> {
  const { t } = useLingui();
  return { ALLOW: t`allowed`, DENY: t`denied`, DONE: t`it succeeded`, FAIL: t`it failed`, RETRY: t`run again` };
}

const TONES: Readonly<Record<ToolCallState, string>> = {
  PENDING: "",
  APPROVAL_REQUIRED: "waits",
  APPROVED: "works",
  EXECUTING: "works",
  WAITING: "waits",
  COMPLETED: "good",
  DENIED: "bad",
  FAILED: "bad",
  SEALED: "",
};

export function CallState({ state }: { readonly state: ToolCallState }): ReactNode {
  return <span className={`badge ${TONES[state]}`}>{useCallWords()[state]}</span>;
}
