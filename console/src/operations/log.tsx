import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { zonedText } from "../design/time.ts";
import type { OperationsQuery } from "../generated/documents.ts";

const DAY_MS = 86_400_000;

/** The log's end and floor, and the times after which rows are removed. */
export function Log({ state }: { readonly state: NonNullable<OperationsQuery["operations"]> }): ReactNode {
  const { t, i18n } = useLingui();
  const { log, retention } = state;
  const at = (time: string | null): string => (time === null ? "–" : zonedText(time, i18n.locale));
  const kept = (ms: number | null): string => {
    const days = Math.round((ms ?? 0) / DAY_MS);
    return ms === null ? t`for ever` : t`${days} days`;
  };
  const facts: readonly (readonly [string, string])[] = [
    [t`End of the log`, `${log.head} · ${at(log.newestAt)}`],
    [t`Floor`, `${log.floor} · ${at(log.oldestAt)}`],
    [t`Positions`, log.positions.toLocaleString(i18n.locale)],
    [t`Lag of the audit`, log.auditLag === null ? t`being filled` : String(log.auditLag)],
    [t`Overdue waits`, String(log.overdueWaits)],
    [t`Events are kept`, kept(retention.eventsMs)],
    [t`Deltas are kept`, kept(retention.deltasMs)],
    [t`Outputs are kept`, kept(retention.outputsMs)],
    [t`Contents of tool calls are kept`, kept(retention.toolCallsMs)],
    [t`Contents of messages are kept`, kept(retention.messagesMs)],
    [t`Contents of approvals are kept`, kept(retention.approvalsMs)],
  ];
  return (
    <section>
      <h2>
        <Trans>Log and retention</Trans>
      </h2>
      <dl className="look-facts">
        {facts.map(([name, value]) => (
          <div key={name} className="key-line">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
