import { useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import type { ApprovalKind, InboxRowFragment } from "../generated/documents.ts";
import { previewOf, toolOf } from "./asked-words.ts";

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
export function ActionLink({ row }: { readonly row: InboxRowFragment }): ReactNode {
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
