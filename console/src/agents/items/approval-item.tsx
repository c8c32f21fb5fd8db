import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { ApprovalEnd, Conversation } from "@triplane/client/conversation";
import type { ReactNode } from "react";
import { ServerWords } from "../../design/server-words.tsx";

type Item = Extract<Conversation["items"][number], { readonly kind: "approval" }>;

/** A question to a person, with its end. */
export function ApprovalItem({ item: { key, request, end } }: { readonly item: Item }): ReactNode {
  const endWords = useEndWords();
  return (
    <p className="row small">
      <span className={`badge ${end === null ? "waits" : ""}`}>{end === null ? <Trans>asks</Trans> : <Trans>asked</Trans>}</span>
      <Link to="/inbox/$approvalId" params={{ approvalId: key }} search={{}}>
        {request.call?.name ?? (request.host === null ? request.kind : `${request.host}:${request.port}`)}
      </Link>
      <span className="quiet">{end === null ? <ServerWords text={request.reason ?? ""} /> : endWords(end)}</span>
    </p>
  );
}

function useEndWords(): (end: ApprovalEnd) => string {
  const { t } = useLingui();
  return (end) => {
    if (end.kind === "closed") {
      const closed: Readonly<Record<string, string>> = {
        EXPIRED: t`expired`,
        SEALED: t`turn ended`,
        STALE: t`replaced`,
      };
      return closed[end.state] ?? end.state;
    }
    const by = visible(end.by);
    const decided: Readonly<Record<string, string>> = {
      ALLOW: t`Allowed by ${by}`,
      DENY: t`Denied by ${by}`,
      DONE: t`Reported as done by ${by}`,
      RETRY: t`Run again by ${by}`,
      FAIL: t`Reported as failed by ${by}`,
    };
    const words = decided[end.decision] ?? end.decision;
    const note = visible(end.note ?? "");
    return note === "" ? words : t`${words}: ${note}`;
  };
}
