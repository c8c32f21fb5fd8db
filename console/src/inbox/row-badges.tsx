import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { ApprovalState, Risk } from "../generated/documents.ts";

export function RiskBadge({ risk }: { readonly risk: Risk }): ReactNode {
  const { t } = useLingui();
  const words: Readonly<Record<Risk, string>> = { HIGH: t`high risk`, MEDIUM: t`medium risk`, LOW: t`low risk` };
  return <span className={`badge ${risk.toLowerCase()}`}>{words[risk]}</span>;
}

const TONES: Readonly<Record<ApprovalState, string>> = {
  ALLOWED: "good",
  RESOLVED: "good",
  DENIED: "bad",
  EXPIRED: "waits",
  PENDING: "waits",
  SEALED: "",
  STALE: "",
};

export function StateBadge({ state }: { readonly state: ApprovalState }): ReactNode {
  const { t } = useLingui();
  const words: Readonly<Record<ApprovalState, string>> = {
    ALLOWED: t`allowed`,
    DENIED: t`denied`,
    EXPIRED: t`expired`,
    PENDING: t`open`,
    RESOLVED: t`resolved`,
    SEALED: t`turn ended`,
    STALE: t`replaced`,
  };
  return <span className={`badge ${TONES[state]}`}>{words[state]}</span>;
}
