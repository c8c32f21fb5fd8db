import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useState, type ReactNode } from "react";
import { Ago, Until } from "../design/clock.tsx";
import { Confirm } from "../design/confirm.tsx";
import { usePages } from "../design/pages.ts";
import { RevokeTokenDocument, TokensDocument } from "../generated/documents.ts";
import { ask, change, refusalText } from "../session/ask.ts";
import { usePresence } from "../session/presence-context.tsx";
import { nameOf, useViewer } from "../session/viewer.tsx";
import { More } from "../design/more.tsx";
import { NewToken } from "./new-token.tsx";

/** Valid access tokens: one's own, or those of the tenant for its administrators. */
export function Tokens({ isOwn }: { readonly isOwn: boolean }): ReactNode {
  const { t } = useLingui();
  const viewer = useViewer();
  const { mode } = usePresence();
  const [isNew, setNew] = useState(false);
  const pages = usePages(
    "active",
    async (after) => (await ask(TokensDocument, { filter: { isActive: true }, after })).accessTokens,
  );
  const rows = isOwn ? pages.rows.filter(({ owner }) => owner.id === viewer.actor.id) : pages.rows;
  const revoke = async (accessTokenId: string): Promise<string | null> => {
    const { revokeAccessToken } = await change(RevokeTokenDocument, { input: { accessTokenId } });
    pages.again();
    return refusalText(revokeAccessToken.userErrors);
  };
  return (
    <section>
      <div className="row">
        <h2>
          <Trans>Access tokens</Trans>
        </h2>
        {isOwn && mode === "token" ? (
          <button type="button" onClick={() => setNew(true)}>
            <Trans>New token</Trans>
          </button>
        ) : null}
      </div>
      {pages.total !== null && rows.length === 0 ? (
        <p className="quiet">
          <Trans>No valid token. Those of the configuration are not listed.</Trans>
        </p>
      ) : (
        <div className="wide" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {isOwn ? null : <th scope="col">{t`Person`}</th>}
                <th scope="col">{t`Name`}</th>
                <th scope="col">{t`Roles`}</th>
                <th scope="col">{t`Created`}</th>
                <th scope="col">{t`Last use`}</th>
                <th scope="col">{t`Expires`}</th>
                <th scope="col">
                  <span className="visually-hidden">{t`Actions`}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, name, owner, roles, createdAt, lastUsedAt, expiresAt }) => (
                <tr key={id}>
                  {isOwn ? null : <td>{nameOf(owner)}</td>}
                  <td>{visible(name)}</td>
                  <td>{roles.map((role) => role.toLowerCase()).join(", ")}</td>
                  <td>
                    <Ago time={createdAt} />
                  </td>
                  <td>{lastUsedAt === null ? t`never` : <Ago time={lastUsedAt} />}</td>
                  <td>
                    <Until time={expiresAt} />
                  </td>
                  <td className="amount">
                    <Confirm label={t`Revoke`} title={t`Revoke the token “${visible(name)}”?`} act={() => revoke(id)}>
                      <Trans>Programs and browsers that use it are refused from then on.</Trans>
                    </Confirm>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More pages={pages} />
      {isNew ? (
        <NewToken
          close={() => {
            setNew(false);
            pages.again();
          }}
        />
      ) : null}
    </section>
  );
}
