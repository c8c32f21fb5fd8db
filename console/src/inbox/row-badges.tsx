import { useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import type { ApprovalKind, ApprovalState, Risk } from "../generated/documents.ts";
import { previewOf, toolOf, type Row } from "./queue.ts";

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

/** The kind of a question in the list; null for calls, which show their tool. */
export function useKindWords(): Readonly<Record<ApprovalKind, string | null>> {
  const { t } = useLingui();
  return {
    TOOL_CALL: null,
    NETWORK_HOST: t`host`,
    BUDGET: t`budget`,
    TOOL_INPUT: t`values`,
    OUTCOME_UNKNOWN: t`outcome?`,
  };
}

/** The action of a closed question in a table, which leads to the question. */
export function ActionLink({ row }: { readonly row: Row }): ReactNode {
  const kind = useKindWords()[row.kind];
  return (
    <>
      <Link to="/inbox/$approvalId" params={{ approvalId: row.id }} search={{}}>
        <code>{row.toolCall === null && kind !== null ? kind : toolOf(row)}</code>
      </Link>{" "}
      {kind === null || row.toolCall === null ? null : <span className="badge">{kind}</span>}{" "}
      <code className="quiet">{visible(previewOf(row))}</code>
    </>
  );
}
