import { Trans, useLingui } from "@lingui/react/macro";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import { useRef, useState, type ReactNode } from "react";
import { useQuery } from "urql";
import { FoundById } from "../calls/found-by-id.tsx";
import { useRowKeys } from "../design/row-keys.ts";
import { SearchField } from "../design/search-field.tsx";
import { dollars, shortCount } from "../design/amounts.ts";
import { Ago } from "../design/clock.tsx";
import { TemplatesDocument } from "../generated/documents.ts";
import { nameOf, useMay } from "../session/viewer.tsx";
import { AgentBadge } from "./agent-badge.tsx";
import { NewAgent } from "./new-agent.tsx";
import { agentFilters, type AgentRow } from "./roster.ts";
import { WaitsFor } from "./waits-for.tsx";
import { useChildren, useRoster } from "./use-roster.ts";
import "./agents.css";

/** All agents that the viewer may see, the latest activity first. */
export function AgentsScreen(): ReactNode {
  const { t } = useLingui();
  const search = useSearch({ from: "/agents" });
  const navigate = useNavigate();
  const filters = agentFilters(search);
  const { rows, total, hasMore, problem, more } = useRoster(filters);
  const [{ data }] = useQuery({ query: TemplatesDocument });
  const [isNew, setNew] = useState(false);
  const table = useRef<HTMLDivElement>(null);
  useRowKeys(table);
  const may = useMay("CREATE_AGENTS");
  const set = (part: Readonly<Record<string, string>>): void => {
    const next = Object.fromEntries(Object.entries({ ...search, ...part }).filter(([, value]) => value !== ""));
    void navigate({ to: "/agents", search: next, replace: true });
  };
  return (
    <main className="page">
      <header className="list-head agents-head">
        <h1>
          <Trans>Agents</Trans> <span className="quiet">{total ?? ""}</span>
        </h1>
        <div className="row" role="group" aria-label={t`Filters`}>
          <select aria-label={t`State`} value={search.state ?? ""} onChange={({ target }) => set({ state: target.value })}>
            <option value="">{t`All states`}</option>
            <option value="WORKING">{t`working`}</option>
            <option value="PAUSED">{t`waits`}</option>
            <option value="READY">{t`ready`}</option>
          </select>
          <select
            aria-label={t`Template`}
            value={search.template ?? ""}
            onChange={({ target }) => set({ template: target.value })}
          >
            <option value="">{t`All templates`}</option>
            {(data?.templates ?? []).map(({ id, templateId }) => (
              <option key={id} value={templateId}>
                {templateId}
              </option>
            ))}
          </select>
          <SearchField label={t`Title contains, or id`} value={search.title ?? ""} search={(title) => set({ title })} />
          <label className="check">
            <input
              type="checkbox"
              checked={filters.isArchived}
              onChange={({ target }) => set({ archived: target.checked ? "yes" : "" })}
            />{" "}
            <Trans>Archived</Trans>
          </label>
          {may.isAllowed ? (
            <button type="button" className="primary" onClick={() => setNew(true)}>
              <Trans>New agent</Trans>
            </button>
          ) : null}
        </div>
      </header>
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
      {search.title === undefined ? null : <FoundById text={search.title} />}
      {total !== null && rows.length === 0 ? (
        <div className="empty">
          <h2>{Object.keys(search).length === 0 ? <Trans>No agent yet.</Trans> : <Trans>No agent passes the filters.</Trans>}</h2>
        </div>
      ) : (
        <div className="table-scroll" ref={table} tabIndex={0} role="group" aria-label={t`Agents`}>
          <table className="agents">
            <thead>
              <tr>
                <th scope="col">
                  <Trans>Agent</Trans>
                </th>
                <th scope="col">
                  <Trans>State</Trans>
                </th>
                <th scope="col">
                  <Trans>Waits for</Trans>
                </th>
                <th scope="col">
                  <Trans>Of</Trans>
                </th>
                <th scope="col" className="amount">
                  <Trans>Cost</Trans>
                </th>
                <th scope="col" className="amount">
                  <Trans>Last event</Trans>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <AgentLines key={row.id} row={row} depth={0} />
              ))}
            </tbody>
          </table>
          {hasMore ? (
            <button type="button" onClick={more}>
              <Trans>Show more</Trans>
            </button>
          ) : null}
        </div>
      )}
      <NewAgent isOpen={isNew} close={() => setNew(false)} templates={data?.templates ?? []} />
    </main>
  );
}

/** An agent, and those below it once they are opened. */
function AgentLines({ row, depth }: { readonly row: AgentRow; readonly depth: number }): ReactNode {
  const { t, i18n } = useLingui();
  const [isOpen, setOpen] = useState(false);
  const children = useChildren(isOpen ? row.id : null, row.lastActivityAt);
  const { costUsd, totalTokens } = row.treeUsage;
  return (
    <>
      <tr>
        <td className="agent-cell">
          <span className={`indent depth-${Math.min(depth, 8)}`} />
          {row.childCount === 0 ? (
            <span className="no-fold" />
          ) : (
            <button
              type="button"
              className="plain fold"
              aria-expanded={isOpen}
              aria-label={t`Agents below it`}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? "▾" : "▸"}
            </button>
          )}
          <Link to="/agents/$agentId" params={{ agentId: row.id }}>
            {row.template.templateId}
            {row.title === null ? "" : ` “${visible(row.title)}”`}
          </Link>
          {row.title === null ? <code className="quiet small">{row.shortId}</code> : null}
        </td>
        <td>
          <AgentBadge agent={row} />
        </td>
        <td className="waits-cell">
          <WaitsFor agent={row} />
        </td>
        <td>{nameOf(row.createdBy)}</td>
        <td className="amount">
          {costUsd === null ? t`${shortCount(totalTokens, i18n.locale)} tokens` : dollars(costUsd, i18n.locale)}
        </td>
        <td className="amount">
          <Ago time={row.lastActivityAt} />
        </td>
      </tr>
      {isOpen ? children.map((child) => <AgentLines key={child.id} row={child} depth={depth + 1} />) : null}
    </>
  );
}
