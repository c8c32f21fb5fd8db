import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { Ago, Until } from "../design/clock.tsx";
import { durationText } from "../design/time.ts";
import type { OperationsQuery } from "../generated/documents.ts";

type State = NonNullable<OperationsQuery["operations"]>;

/** The servers with work of the tenant and their leases, and an outage of the database. */
export function Servers({ state }: { readonly state: State }): ReactNode {
  const { t } = useLingui();
  const { servers, outage, clockSkewMs } = state;
  return (
    <section>
      <h2>
        <Trans>Servers</Trans>
      </h2>
      {outage === null ? null : (
        <p role="alert" className="alert">
          <Trans>
            The database does not answer since <Ago time={outage.since} />. {outage.bufferedEvents} events wait to be committed.
          </Trans>
        </p>
      )}
      <div className="wide" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t`Server`}</th>
              <th scope="col">{t`State`}</th>
              <th scope="col">{t`Version`}</th>
              <th scope="col">{t`Started`}</th>
              <th scope="col">{t`Lease until`}</th>
              <th scope="col" className="amount">{t`Agents`}</th>
              <th scope="col" className="amount">{t`Shells`}</th>
              <th scope="col" className="amount">{t`Consumers`}</th>
            </tr>
          </thead>
          <tbody>
            {servers.map((server) => (
              <tr key={server.serverId}>
                <td>
                  <code>{server.serverId}</code>
                </td>
                <td>
                  {server.isLost ? (
                    <span className="badge bad">{t`lost`}</span>
                  ) : (
                    <span className="badge good">{server.isAnswering ? t`answers you` : t`works`}</span>
                  )}
                </td>
                <td>{server.version ?? "–"}</td>
                <td>{server.startedAt === null ? "–" : <Ago time={server.startedAt} />}</td>
                <td>{server.leaseUntil === null ? "–" : <Until time={server.leaseUntil} />}</td>
                <td className="amount">{server.agents}</td>
                <td className="amount">{server.shells}</td>
                <td className="amount">{server.consumers}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="quiet small">
        <Trans>Difference between the clocks of this server and the database: {durationText(Math.abs(clockSkewMs))}</Trans>
      </p>
    </section>
  );
}
