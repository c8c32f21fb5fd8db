import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { Conversation } from "@triplane/client/conversation";
import { childState, type Tree } from "@triplane/client/tree";
import type { ReactNode } from "react";
import { dollars, percent, shortCount } from "../design/amounts.ts";
import { NextReminder, ScheduleButtons, shortTrigger } from "../calls/schedule.tsx";
import { Ago } from "../design/clock.tsx";
import { ContextShown } from "./context-shown.tsx";
import { Files } from "./files.tsx";
import { Notices } from "./notices.tsx";
import type { AgentPage } from "./use-agent-page.ts";

const TODO_SIGNS = { PENDING: "○", IN_PROGRESS: "◐", COMPLETED: "●" } as const;
const CHILD_TONES = { working: "works", asks: "waits", ok: "good", error: "bad", interrupted: "" } as const;

function useChildWords(): Readonly<Record<keyof typeof CHILD_TONES, string>> {
  const { t } = useLingui();
  return { working: t`working`, asks: t`asks`, ok: t`completed`, error: t`failed`, interrupted: t`interrupted` };
}

/** The standing of an agent: context, cost, budgets, the agents below it, todos, files and shells. */
export function Standing({
  agent,
  view,
  tree,
  again,
}: {
  readonly agent: AgentPage;
  readonly view: Conversation;
  readonly tree: Tree;
  readonly again: () => void;
}): ReactNode {
  const childWords = useChildWords();
  const { t, i18n } = useLingui();
  const { tokens, window } = agent.context;
  const usd = (amount: number): string => dollars(amount, i18n.locale);
  const count = (amount: number): string => shortCount(amount, i18n.locale);
  return (
    <>
      <section>
        <h2>
          <Trans>Standing</Trans>
        </h2>
        <dl className="facts">
          <dt>
            <Trans>Context</Trans>
          </dt>
          <dd>
            {tokens === null ? "–" : window === null ? count(tokens) : `${percent(tokens, window)} % (${count(window)})`}{" "}
            {tokens === null || window === null ? null : (
              <meter aria-label={t`Context`} min={0} max={100} high={80} optimum={0} value={percent(tokens, window)} />
            )}
          </dd>
          <dt>
            <Trans>Tokens</Trans>
          </dt>
          <dd>{count(view.usage.totalTokens)}</dd>
          <dt>
            <Trans>Cost</Trans>
          </dt>
          <dd>
            {agent.usage.costUsd === null ? "–" : usd(agent.usage.costUsd)}
            {agent.treeUsage.costUsd === null || agent.treeUsage.costUsd === agent.usage.costUsd ? null : (
              <span className="quiet">
                {" "}
                <Trans>(tree {usd(agent.treeUsage.costUsd)})</Trans>
              </span>
            )}
          </dd>
          <dt>
            <Trans>Turns, steps</Trans>
          </dt>
          <dd>
            {agent.turn}, {agent.stepCount}{" "}
            {agent.stepCount === 0 ? null : <ContextShown agentId={agent.id} step={agent.stepCount} />}
          </dd>
          <dt>
            <Trans>Folder</Trans>
          </dt>
          <dd>
            <code>{visible(agent.workspace)}</code>
          </dd>
          {agent.budgets.map(({ budget, limitUsd, spentUsd, limitTokens, spentTokens }) => (
            <Budget key={budget.id} name={budget.per}>
              {limitUsd !== null
                ? `${usd(spentUsd)} / ${usd(limitUsd)}`
                : `${count(spentTokens)} / ${limitTokens === null ? "–" : count(limitTokens)}`}{" "}
              <meter
                aria-label={t`Budget`}
                min={0}
                max={100}
                high={80}
                optimum={0}
                value={limitUsd !== null ? percent(spentUsd, limitUsd) : percent(spentTokens, limitTokens ?? 0)}
              />
            </Budget>
          ))}
        </dl>
      </section>
      {agent.pendingApprovals.length === 0 ? null : (
        <section>
          <h2>
            <Trans>Asks</Trans>
          </h2>
          {agent.pendingApprovals.map(({ id }) => (
            <Link key={id} to="/inbox/$approvalId" params={{ approvalId: id }} search={{}}>
              <Trans>Open the question</Trans>
            </Link>
          ))}
        </section>
      )}
      {tree.paths.size === 0 ? null : (
        <section>
          <h2>
            <Trans>Agents below it</Trans>
          </h2>
          <ul className="below">
            {[...tree.paths].map(([id, path]) => {
              const child = path.at(-1);
              if (child === undefined) return null;
              const state = childState(child, tree);
              return (
                <li key={id}>
                  <span className={`indent depth-${Math.min(path.length - 1, 8)}`} />
                  <span className={`badge ${CHILD_TONES[state]}`}>{childWords[state]}</span>{" "}
                  <Link to="/agents/$agentId" params={{ agentId: id }}>
                    {child.templateId}
                  </Link>{" "}
                  <span className="quiet">{visible(child.description)}</span>
                </li>
              );
            })}
          </ul>
        </section>
      )}
      {view.todos.length === 0 ? null : (
        <section>
          <h2>
            <Trans>Todos</Trans>
          </h2>
          <ul className="todos">
            {view.todos.map(({ todoId, title, status }) => (
              <li key={todoId} className={status.toLowerCase()}>
                <span aria-label={status.toLowerCase().replaceAll("_", " ")} role="img">
                  {TODO_SIGNS[status]}
                </span>{" "}
                {visible(title ?? t`(erased)`)}
              </li>
            ))}
          </ul>
        </section>
      )}
      {agent.schedules.length === 0 ? null : (
        <section>
          <h2>
            <Trans>Schedules</Trans>
          </h2>
          <ul className="schedules">
            {agent.schedules.map((schedule) => {
              const { id, spec, text, pausedAt, lastTriggeredAt, triggerCount } = schedule;
              return (
                <li key={id}>
                  <span>
                    <code>{visible(shortTrigger(spec))}</code> {visible(text)}
                  </span>
                  <span className="quiet small">
                    <NextReminder of={schedule} />
                    {" · "}
                    {lastTriggeredAt === null ? (
                      t`never sent`
                    ) : (
                      <>
                        <Trans>{triggerCount} sent, the last</Trans> <Ago time={lastTriggeredAt} />
                      </>
                    )}
                  </span>
                  <ScheduleButtons scheduleId={id} isPaused={pausedAt !== null} owner={agent.createdBy} again={again} />
                </li>
              );
            })}
          </ul>
        </section>
      )}
      <Files agent={agent} />
      <Notices agentId={agent.id} count={agent.notices.totalCount} version={`${agent.notices.totalCount} ${agent.stepCount}`} />
      {agent.shells.length === 0 ? null : (
        <section>
          <h2>
            <Trans>Shells</Trans>
          </h2>
          <ul className="files">
            {agent.shells.map(({ shellId, command, state, exitCode }) => (
              <li key={shellId}>
                <code>{visible(command ?? t`(erased)`)}</code>
                <span className={`badge ${state === "RUNNING" ? "works" : ""}`}>
                  {state === "RUNNING" ? t`runs` : exitCode === null ? t`ended` : t`ended with ${exitCode}`}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Budget({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <>
      <dt>
        <Trans>Budget per {name.toLowerCase()}</Trans>
      </dt>
      <dd>{children}</dd>
    </>
  );
}
