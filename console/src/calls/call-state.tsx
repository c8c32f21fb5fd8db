import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { ToolCallState } from "../generated/documents.ts";

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
