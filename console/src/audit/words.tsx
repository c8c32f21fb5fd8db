import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { ApprovalState, ToolCallState } from "../generated/documents.ts";

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

export function useDecisionWords(): Readonly<Record<ApprovalState, string>> {
  const { t } = useLingui();
  return {
    ALLOWED: t`allowed`,
    DENIED: t`denied`,
    EXPIRED: t`expired`,
    PENDING: t`open`,
    RESOLVED: t`resolved`,
    SEALED: t`turn ended`,
    STALE: t`replaced`,
  };
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
