import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useState, type ReactNode } from "react";
import { ServerWords } from "../design/server-words.tsx";
import { ProposalDocument, type ProposalQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import type { Asked } from "./asked.ts";

export type Proposal = ProposalQuery["allowRuleProposal"];

/** The reason of the question: the rule with its place, and the narrowest rule that would have let it pass. */
export function Why({ asked, proposal }: { readonly asked: Asked; readonly proposal: Proposal | null }): ReactNode {
  const { t } = useLingui();
  // The verdict on the call explains no other kind of question.
  const explanation = asked.kind === "TOOL_CALL" ? (asked.toolCall?.explanation ?? null) : null;
  const reasons = [...new Set(asked.commandParts.map(({ reason }) => reason))];
  const decidedBy = <code>{visible(explanation?.rule ?? "")}</code>;
  const allowing = <code>{visible(proposal?.proposal?.rule ?? "")}</code>;
  const near = (explanation?.considered ?? []).filter(({ verdict }) => verdict !== null);
  return (
    <section aria-label={t`Why it asks`}>
      <h3>
        <Trans>Why it asks</Trans>
      </h3>
      {reasons.length > 0 ? (
        <ul className="lines">
          {reasons.map((reason) => (
            <li key={reason}>
              <ServerWords text={reason} />
            </li>
          ))}
        </ul>
      ) : (
        <p>
          {asked.kind === "OUTCOME_UNKNOWN" ? (
            <Trans>The server stopped while the call ran. Nobody knows whether it had effects.</Trans>
          ) : asked.reason === null ? (
            <Trans>The reason is no longer known.</Trans>
          ) : (
            <ServerWords text={asked.reason} />
          )}
        </p>
      )}
      {explanation === null ? null : (
        <p className="small quiet">
          <Trans>
            Decided by {decidedBy} at <code>{explanation.place}</code>
          </Trans>
        </p>
      )}
      {near.length < 2 ? null : (
        <details className="small">
          <summary>
            <Trans>All rules that were looked at</Trans>
          </summary>
          <ul className="lines">
            {near.map(({ place, rule, verdict }) => (
              <li key={place}>
                <code>{place}</code> <code>{visible(rule)}</code> <span className="badge">{verdict}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {proposal?.proposal === null || proposal === null ? null : (
        <p className="small">
          <Trans>This rule would have let it run: {allowing}</Trans>
        </p>
      )}
    </section>
  );
}

/** The proposed rule for an approval; null while it is unknown, or if the kind of question has none. */
export function useProposal(asked: Asked | null, mayStore: boolean): Proposal | null {
  const [found, setFound] = useState<{ readonly of: string; readonly proposal: Proposal } | null>(null);
  const id = asked !== null && mayStore && (asked.kind === "TOOL_CALL" || asked.kind === "NETWORK_HOST") ? asked.id : null;
  useEffect(() => {
    if (id === null) return;
    let isCurrent = true;
    ask(ProposalDocument, { approvalId: id, rule: null }).then(
      ({ allowRuleProposal }) => (isCurrent ? setFound({ of: id, proposal: allowRuleProposal }) : null),
      // Without a proposal everything else of the question is still shown.
      () => null,
    );
    return () => {
      isCurrent = false;
    };
  }, [id]);
  return found !== null && found.of === id ? found.proposal : null;
}
