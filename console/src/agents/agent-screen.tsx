import { Trans, useLingui } from "@lingui/react/macro";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { TREE } from "@triplane/client/tree";
import { useTimeline } from "@triplane/client/urql/react";
import { visible } from "@triplane/client/command-lines";
import { useEffect, type ReactNode } from "react";
import { tellConnection } from "../session/connection.ts";
import { useMaySteer } from "../session/viewer.tsx";
import { TreeTimeline } from "../timeline/tree-timeline.tsx";
import { Actions } from "./actions.tsx";
import { AgentBadge } from "./agent-badge.tsx";
import { Composer } from "./composer.tsx";
import { ContextOfAddress } from "./context-shown.tsx";
import { Items } from "./items/items.tsx";
import { Standing } from "./standing.tsx";
import { WaitsFor } from "./waits-for.tsx";
import { useAgentPage } from "./use-agent-page.ts";
import "./agents.css";

/** The views of an agent differ in the search of their address alone. */
const WITH_SEARCH = { exact: true, includeSearch: true, explicitUndefined: true } as const;

/** One agent: its conversation as it is written, and its standing. */
export function AgentScreen(): ReactNode {
  const { agentId } = useParams({ from: "/agents/$agentId" });
  return <AgentView key={agentId} agentId={agentId} />;
}

function AgentView({ agentId }: { readonly agentId: string }): ReactNode {
  const { t } = useLingui();
  const isTimeline = useSearch({ from: "/agents/$agentId" }).view === "timeline";
  const { view, status, error } = useTimeline(agentId);
  const { view: tree } = useTimeline(agentId, TREE);
  useEffect(() => (status === null ? undefined : tellConnection(status)), [status]);
  const version = `${view.items.length} ${view.isInTurn} ${view.todos.length} ${view.usage.totalTokens} ${tree.approvals.length} ${tree.paths.size}`;
  const { agent, problem, again } = useAgentPage(agentId, version);
  if (agent === "none")
    return (
      <main className="empty">
        <h1>
          <Trans>There is no such agent, or you may not see it.</Trans>
        </h1>
      </main>
    );
  const original = agent?.lineage.at(-1) ?? null;
  return (
    <main className="agent">
      <section className="talk" aria-label={t`Conversation`}>
        <header className="talk-head">
          <div className="row">
            <Link to="/agents" search={{}} className="small">
              ← <Trans>Agents</Trans>
            </Link>
            {agent?.parent === null || agent === null ? null : (
              <Link to="/agents/$agentId" params={{ agentId: agent.parent.id }} search={{}} className="small">
                ↑ {agent.parent.template.templateId}
              </Link>
            )}
            {original === null ? null : (
              <Link to="/agents/$agentId" params={{ agentId: original }} search={{}} className="small">
                ⑂ <Trans>forked from this agent</Trans>
              </Link>
            )}
            <nav className="row views small" aria-label={t`Views`}>
              <Link to="/agents/$agentId" params={{ agentId }} search={{}} activeOptions={WITH_SEARCH}>
                <Trans>Conversation</Trans>
              </Link>
              <Link to="/agents/$agentId" params={{ agentId }} search={{ view: "timeline" }} activeOptions={WITH_SEARCH}>
                <Trans>Timeline</Trans>
              </Link>
            </nav>
          </div>
          <h1>
            {agent === null ? "…" : `${agent.template.templateId}${agent.title === null ? "" : ` “${visible(agent.title)}”`}`}{" "}
            <code className="small quiet" title={agentId}>
              {agent?.shortId}
            </code>
          </h1>
          {agent === null ? null : (
            <p className="row small quiet">
              <AgentBadge agent={agent} />
              {agent.waitingFor === null ? null : (
                <span className="waits-for">
                  <WaitsFor agent={agent} />
                </span>
              )}
              <span>{agent.model}</span>
            </p>
          )}
        </header>
        {(problem ?? error?.message ?? null) === null ? null : (
          <p role="alert" className="alert">
            {problem ?? error?.message}
          </p>
        )}
        {isTimeline ? (
          <TreeTimeline agentId={agentId} />
        ) : (
          <Items
            agentId={agentId}
            shared={agent?.forkedAt == null ? 0 : agent.forkedAt + 1}
            items={view.items}
            isLoading={!view.caughtUp && view.items.length === 0}
          />
        )}
        {agent === null ? null : <Foot agent={agent} isWorking={view.isWorking} hasTree={tree.paths.size > 0} again={again} />}
      </section>
      <aside className="standing" aria-label={t`Standing`}>
        {agent === null ? null : <ContextOfAddress agentId={agentId} lastStep={agent.stepCount} />}
        {agent === null ? <div className="skeleton" /> : <Standing agent={agent} view={view} tree={tree} again={again} />}
      </aside>
    </main>
  );
}

/** The commands and the composer, for people who may steer the agent. */
function Foot(given: Parameters<typeof Actions>[0]): ReactNode {
  const { agent } = given;
  const maySteer = useMaySteer(agent.createdBy);
  return (
    <footer className="talk-foot">
      {maySteer ? (
        <>
          <Actions {...given} />
          <Composer agentId={agent.id} isArchived={agent.archivedAt !== null} />
        </>
      ) : (
        <p className="small quiet">
          <Trans>You may watch this agent. Its owner and administrators steer it.</Trans>
        </p>
      )}
    </footer>
  );
}
