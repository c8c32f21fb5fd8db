import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import { Ago, Until } from "../design/clock.tsx";
import { Confirm } from "../design/confirm.tsx";
import { usePages } from "../design/pages.ts";
import { EndSessionDocument, SessionsDocument } from "../generated/documents.ts";
import { ask, change, refusalText } from "../session/ask.ts";
import { browserOf } from "./browser.ts";
import { nameOf, useViewer } from "../session/viewer.tsx";
import { More } from "../design/more.tsx";

/** Active sessions: one's own, or those of the tenant for its administrators. */
export function Sessions({ isOwn }: { readonly isOwn: boolean }): ReactNode {
  const { t } = useLingui();
  const viewer = useViewer();
  const pages = usePages(
    "active",
    async (after) => (await ask(SessionsDocument, { filter: { isActive: true }, after })).sessions,
  );
  const rows = isOwn ? pages.rows.filter(({ owner }) => owner.id === viewer.actor.id) : pages.rows;
  const end = async (sessionId: string, isHere: boolean): Promise<string | null> => {
    const { endSession } = await change(EndSessionDocument, { input: { sessionId } });
    if (isHere && endSession.userErrors.length === 0) location.replace("/console/sign-in");
    pages.again();
    return refusalText(endSession.userErrors);
  };
  return (
    <section>
      <h2>
        <Trans>Sessions</Trans>
      </h2>
      {pages.total !== null && rows.length === 0 ? (
        <p className="quiet">
          <Trans>No browser is signed in.</Trans>
        </p>
      ) : (
        <div className="wide" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {isOwn ? null : <th scope="col">{t`Person`}</th>}
                <th scope="col">{t`Browser`}</th>
                <th scope="col">{t`Begun`}</th>
                <th scope="col">{t`Last use`}</th>
                <th scope="col">{t`Ends`}</th>
                <th scope="col">
                  <span className="visually-hidden">{t`Actions`}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, owner, userAgent, createdAt, lastUsedAt, expiresAt, viewerIsHere }) => (
                <tr key={id}>
                  {isOwn ? null : <td>{nameOf(owner)}</td>}
                  <td className="agent-text">
                    {viewerIsHere ? <span className="badge good">{t`this browser`}</span> : null}{" "}
                    <span title={userAgent === null ? undefined : visible(userAgent)}>
                      {userAgent === null ? "–" : visible(browserOf(userAgent))}
                    </span>
                  </td>
                  <td>
                    <Ago time={createdAt} />
                  </td>
                  <td>
                    <Ago time={lastUsedAt} />
                  </td>
                  <td>
                    <Until time={expiresAt} />
                  </td>
                  <td className="amount">
                    <Confirm label={t`End`} title={t`End the session of ${nameOf(owner)}?`} act={() => end(id, viewerIsHere)}>
                      <Trans>Its open pages show the sign-in form within 5 seconds.</Trans>
                    </Confirm>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More pages={pages} />
    </section>
  );
}
