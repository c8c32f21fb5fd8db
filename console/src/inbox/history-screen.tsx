import { Trans, useLingui } from "@lingui/react/macro";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Ago } from "../design/clock.tsx";
import { More } from "../design/more.tsx";
import { usePages, type Page } from "../design/pages.ts";
import { useRowKeys } from "../design/row-keys.ts";
import { TextFilter } from "../design/text-filter.tsx";
import { HistoryDocument, type ApprovalFilter, type HistoryQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { nameOf } from "../session/viewer.tsx";
import { FILTERS, type HistorySearch } from "./queue.ts";
import { ActionLink } from "../calls/asked-action.tsx";
import { useAnswerWords } from "../calls/call-state.tsx";
import { StateBadge } from "./row-badges.tsx";
import { useInbox } from "./store.ts";
import "./inbox.css";

type HistoryRow = HistoryQuery["approvals"]["nodes"][number];

/** The rows of a page of the list. */
const PAGE_ROWS = 50;

const CLOSED = ["ALLOWED", "DENIED", "EXPIRED", "RESOLVED", "SEALED", "STALE"] as const;

/** Closed approvals, the newest request first. The filters are those of the inbox. */
export function HistoryScreen(): ReactNode {
  const { t } = useLingui();
  const { closed } = useInbox();
  const filters = useSearch({ from: "/history" });
  const navigate = useNavigate({ from: "/history" });
  const filter = historyFilter(filters);
  // News read the list again only while its first page is shown: a person who reads further keeps their place.
  const [news, setNews] = useState(closed.size);
  const pages = usePages(JSON.stringify([filter, news]), async (before) =>
    pageOf(await ask(HistoryDocument, { filter, before })),
  );
  const isFirstPage = pages.rows.length <= PAGE_ROWS;
  useEffect(() => (isFirstPage ? setNews(closed.size) : undefined), [closed.size, isFirstPage]);
  const set = (part: HistorySearch): void => {
    const search = (before: HistorySearch): HistorySearch =>
      Object.fromEntries(Object.entries({ ...before, ...part }).filter(([, value]) => value !== ""));
    void navigate({ search, replace: true });
  };
  const { rows } = pages;
  const table = useRef<HTMLDivElement>(null);
  useRowKeys(table);
  const words = { template: t`Template`, tool: t`Tool`, requester: t`For`, agent: t`Agent` };
  const names = FILTERS.filter((name) => name !== "agent" || filters.agent !== undefined);
  return (
    <main className="page">
      <header className="list-head">
        <h1 className="visually-hidden">
          <Trans>History</Trans>
        </h1>
        <nav className="row" aria-label={t`Inbox views`}>
          <Link to="/inbox" search={filters} className="view">
            <Trans>Open</Trans>
          </Link>
          <Link to="/history" search={filters} className="view" activeProps={{ "aria-current": "page" }}>
            <Trans>History</Trans> <span className="count">{pages.total ?? ""}</span>
          </Link>
        </nav>
        <div className="filters" role="group" aria-label={t`Filters`}>
          {names.map((name) => (
            <TextFilter key={name} label={words[name]} value={filters[name]} set={(value) => set({ [name]: value })} />
          ))}
        </div>
      </header>
      {news === closed.size ? null : (
        <p className="note row" role="status">
          <Trans>More questions have been closed.</Trans>
          <button type="button" onClick={() => setNews(closed.size)}>
            <Trans>Read again</Trans>
          </button>
        </p>
      )}
      {pages.total !== null && rows.length === 0 ? (
        <div className="empty">
          <h2>{names.some((name) => filters[name] !== undefined) ? t`No decision passes the filters.` : t`No decision yet.`}</h2>
        </div>
      ) : (
        <div className="table-scroll" ref={table} tabIndex={0} role="group" aria-label={t`History`}>
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
                    <ActionLink row={row} />
                  </td>
                  <td>{row.agent.template.templateId}</td>
                  <td>
                    <StateBadge state={row.state} />
                  </td>
                  <td>
                    <Deciders votes={row.decisions} />
                  </td>
                  <td>
                    {row.decisions.map(({ decidedBy, decidedAt, note }) =>
                      note === null ? null : <div key={decidedBy.id + decidedAt}>{visible(note)}</div>,
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {pages.problem !== null || pages.total === null || pages.hasMore ? <More pages={pages} /> : null}
    </main>
  );
}

/** The people who decided. Several of them have their decisions beside their names. */
function Deciders({ votes }: { readonly votes: HistoryRow["decisions"] }): ReactNode {
  const words = useAnswerWords();
  if (votes.length === 0) return "–";
  return votes.map(({ decidedBy, decidedAt, decision, onBehalfOf }) => (
    <div key={decidedBy.id + decidedAt}>
      {nameOf(decidedBy)}
      {onBehalfOf === null ? null : (
        <>
          {" "}
          <Trans>for {nameOf(onBehalfOf)}</Trans>
        </>
      )}
      {votes.length === 1 ? null : `: ${words[decision]}`}
    </div>
  ));
}

/** The filters of the history, as the server knows them. */
export function historyFilter({ template, tool, agent, requester }: HistorySearch): ApprovalFilter {
  const list = (value: string | undefined): string[] | null => (value === undefined ? null : [value]);
  return {
    states: [...CLOSED],
    templateIds: list(template),
    tools: list(tool),
    agentIds: list(agent),
    requestedBy: list(requester),
  };
}

/** A page from the end of the list, with its newest request first. */
function pageOf({ approvals: { nodes, totalCount, pageInfo } }: HistoryQuery): Page<HistoryRow> {
  const { hasPreviousPage, startCursor } = pageInfo;
  return { nodes: nodes.toReversed(), totalCount, pageInfo: { hasNextPage: hasPreviousPage, endCursor: startCursor } };
}
