import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import { More } from "../design/more.tsx";
import { NextReminder, ScheduleButtons, shortTrigger } from "../calls/schedule.tsx";
import { Ago } from "../design/clock.tsx";
import { usePages } from "../design/pages.ts";
import { SchedulesDocument } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";

/** The schedules of all agents that the viewer may see. */
export function Schedules(): ReactNode {
  const { t } = useLingui();
  const pages = usePages("schedules", async (after) => (await ask(SchedulesDocument, { after })).schedules);
  return (
    <section>
      <h2>
        <Trans>Schedules</Trans> <span className="quiet">{pages.total ?? ""}</span>
      </h2>
      {pages.total === 0 ? (
        <p className="quiet">
          <Trans>No agent has a schedule.</Trans>
        </p>
      ) : pages.rows.length === 0 ? null : (
        <div className="wide" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t`Agent`}</th>
                <th scope="col">{t`Trigger`}</th>
                <th scope="col">{t`Reminder`}</th>
                <th scope="col">{t`Next`}</th>
                <th scope="col">{t`Last`}</th>
                <th scope="col" className="amount">{t`Sent`}</th>
                <th scope="col">{t`Commands`}</th>
              </tr>
            </thead>
            <tbody>
              {pages.rows.map((schedule) => {
                const { id, agent, spec, text, pausedAt, lastTriggeredAt, triggerCount } = schedule;
                return (
                  <tr key={id}>
                    <td>
                      <Link to="/agents/$agentId" params={{ agentId: agent.id }}>
                        {agent.template.templateId}
                        {agent.title === null ? "" : ` · ${visible(agent.title)}`}
                      </Link>
                    </td>
                    <td>
                      <code>{shortTrigger(spec)}</code>
                    </td>
                    <td>{visible(text)}</td>
                    <td>
                      <NextReminder of={schedule} />
                    </td>
                    <td>{lastTriggeredAt === null ? t`never` : <Ago time={lastTriggeredAt} />}</td>
                    <td className="amount">{triggerCount}</td>
                    <td>
                      <ScheduleButtons scheduleId={id} isPaused={pausedAt !== null} owner={agent.createdBy} again={pages.again} />
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      <More pages={pages} />
    </section>
  );
}
