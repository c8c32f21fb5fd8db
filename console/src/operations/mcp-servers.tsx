import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useState, type ReactNode } from "react";
import { Ago, Until } from "../design/clock.tsx";
import { RetryMcpDocument, type McpServerState, type OperationsQuery } from "../generated/documents.ts";
import { change, refusalText } from "../session/ask.ts";
import { useViewer } from "../session/viewer.tsx";

const TONES: Readonly<Record<McpServerState, string>> = { AWAY: "bad", CONNECTED: "good", DISABLED: "", STARTING: "waits" };

/** The MCP servers with their state. Administrators connect to one anew. */
export function McpServers({
  servers,
  again,
}: {
  readonly servers: OperationsQuery["mcpServers"];
  readonly again: () => void;
}): ReactNode {
  const { t } = useLingui();
  const isAdministrator = useViewer().roles.includes("ADMIN");
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const words: Readonly<Record<McpServerState, string>> = {
    AWAY: t`away`,
    CONNECTED: t`connected`,
    DISABLED: t`disabled`,
    STARTING: t`starting`,
  };
  const retry = async (name: string): Promise<void> => {
    setBusy(name);
    try {
      setProblem(refusalText((await change(RetryMcpDocument, { input: { name } })).retryMcpServer.userErrors));
    } catch (failure) {
      setProblem(failure instanceof Error ? failure.message : String(failure));
    }
    setBusy(null);
    again();
  };
  return (
    <section>
      <h2>
        <Trans>MCP servers</Trans>
      </h2>
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
      {servers.length === 0 ? (
        <p className="quiet">
          <Trans>No MCP server is configured.</Trans>
        </p>
      ) : (
        <div className="wide" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t`Name`}</th>
                <th scope="col">{t`State`}</th>
                <th scope="col">{t`Since`}</th>
                <th scope="col" className="amount">{t`Tools`}</th>
                <th scope="col">{t`Reason`}</th>
                <th scope="col">{t`Next try`}</th>
                <th scope="col">
                  <span className="visually-hidden">{t`Actions`}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {servers.map(({ name, state, since, toolCount, reason, nextTryAt }) => (
                <tr key={name}>
                  <td>
                    <code>{name}</code>
                  </td>
                  <td>
                    <span className={`badge ${TONES[state]}`}>{words[state]}</span>
                  </td>
                  <td>{since === null ? "–" : <Ago time={since} />}</td>
                  <td className="amount">{toolCount}</td>
                  <td>{visible(reason ?? "")}</td>
                  <td>{nextTryAt === null ? "–" : <Until time={nextTryAt} />}</td>
                  <td className="amount">
                    {isAdministrator && state === "AWAY" ? (
                      <button type="button" disabled={busy === name} onClick={() => void retry(name)}>
                        <Trans>Try again</Trans>
                      </button>
                    ) : null}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
