import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useState, type ReactNode } from "react";
import { Ago } from "../design/clock.tsx";
import { HistoryDocument, type HistoryQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { nameOf } from "../session/viewer.tsx";
import { toolOf } from "./queue.ts";
import { StateBadge } from "./row-badges.tsx";
import { useInbox } from "./store.ts";
import "./inbox.css";

type Page = HistoryQuery["approvals"];

const CLOSED = ["ALLOWED", "DENIED", "EXPIRED", "RESOLVED", "SEALED", "STALE"] as const;

/** Closed approvals, the newest request first. */
export function HistoryScreen(): ReactNode {
  const { t } = useLingui();
  const { closed } = useInbox();
  const [pages, setPages] = useState<readonly Page[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const read = (before: string | null, earlier: readonly Page[]): void =>
    void ask(HistoryDocument, { filter: { states: [...CLOSED] }, before }).then(
      ({ approvals }) => setPages([...earlier, approvals]),
      (failure: unknown) => setProblem(failure instanceof Error ? failure.message : String(failure)),
    );
  useEffect(() => read(null, []), [closed.size]);
  const rows = pages.flatMap(({ nodes }) => nodes.toReversed());
  const last = pages.at(-1)?.pageInfo;
  return (
    <main className="page">
      <header className="list-head">
        <h1 className="visually-hidden">
          <Trans>History</Trans>
        </h1>
        <nav className="row" aria-label={t`Inbox views`}>
          <Link to="/inbox" search={{}} className="view">
            <Trans>Open</Trans>
          </Link>
          <Link to="/history" className="view" activeProps={{ "aria-current": "page" }}>
            <Trans>History</Trans> <span className="count">{pages[0]?.totalCount ?? ""}</span>
          </Link>
        </nav>
      </header>
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
      {pages.length > 0 && rows.length === 0 ? (
        <div className="empty">
          <h2>
            <Trans>No decision yet.</Trans>
          </h2>
        </div>
      ) : (
        <div className="table-scroll" tabIndex={0} role="group" aria-label={t`History`}>
          <table>
            <thead>
              <tr>
                <th scope="col">
                  <Trans>Asked</Trans>
                </th>
                <th scope="col">
                  <Trans>Action</Trans>
                </th>
                <th scope="col">
                  <Trans>Agent</Trans>
                </th>
                <th scope="col">
                  <Trans>End</Trans>
                </th>
                <th scope="col">
                  <Trans>By</Trans>
                </th>
                <th scope="col">
                  <Trans>Words</Trans>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.id}>
                  <td>
                    <Ago time={row.requestedAt} />
                  </td>
                  <td className="action">
                    <Link to="/inbox/$approvalId" params={{ approvalId: row.id }} search={{}}>
                      <code>{toolOf(row)}</code>
                    </Link>{" "}
                    <code className="quiet">{visible(row.toolCall?.inputPreview ?? "")}</code>
                  </td>
                  <td>{row.agent.template.templateId}</td>
                  <td>
                    <StateBadge state={row.state} />
                  </td>
                  <td>{row.decidedBy === null ? "–" : nameOf(row.decidedBy)}</td>
                  <td>{row.note ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {last?.hasPreviousPage === true ? (
            <button type="button" onClick={() => read(last.startCursor, pages)}>
              <Trans>Show earlier ones</Trans>
            </button>
          ) : null}
        </div>
      )}
    </main>
  );
}
