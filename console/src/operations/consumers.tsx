import { Trans, useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { Ago } from "../design/clock.tsx";
import type { OperationsQuery } from "../generated/documents.ts";

type Consumer = NonNullable<OperationsQuery["operations"]>["consumers"][number];

/** Listeners and webhooks, with their lag and failed deliveries. */
export function Consumers({ consumers }: { readonly consumers: readonly Consumer[] }): ReactNode {
  const { t } = useLingui();
  return (
    <section>
      <h2>
        <Trans>Deliveries</Trans>
      </h2>
      {consumers.length === 0 ? (
        <p className="quiet">
          <Trans>No listener and no webhook is configured.</Trans>
        </p>
      ) : (
        <div className="wide" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t`Consumer`}</th>
                <th scope="col">{t`Events`}</th>
                <th scope="col" className="amount">{t`Lag`}</th>
                <th scope="col">{t`Behind since`}</th>
                <th scope="col" className="amount">{t`Failed tries`}</th>
                <th scope="col" className="amount">{t`Given up`}</th>
                <th scope="col">{t`Server`}</th>
              </tr>
            </thead>
            <tbody>
              {consumers.map(({ name, kinds, lag, behindSince, failedTries, givenUp, leaseOwner }) => (
                <tr key={name}>
                  <td>
                    <code>{name}</code>
                  </td>
                  <td className="small">{kinds.map((kind) => kind.toLowerCase()).join(", ")}</td>
                  <td className="amount">{lag === 0 ? "0" : <span className="badge waits">{lag}</span>}</td>
                  <td>{behindSince === null ? "–" : <Ago time={behindSince} />}</td>
                  <td className="amount">{failedTries}</td>
                  <td className="amount">{givenUp === 0 ? "0" : <span className="badge bad">{givenUp}</span>}</td>
                  <td>{leaseOwner === null ? <span className="badge waits">{t`none`}</span> : <code>{leaseOwner}</code>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
