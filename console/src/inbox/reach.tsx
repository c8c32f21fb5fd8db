import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import type { ReactNode } from "react";
import type { Asked } from "./asked.ts";

/** The things that the action reaches, and whether it can be repeated. */
export function Reach({ asked }: { readonly asked: Asked }): ReactNode {
  const { t } = useLingui();
  const { paths, outsidePaths, hosts, agent, toolCall, meta, commandParts } = asked;
  const tool = toolCall?.tool ?? null;
  const names = [...new Set(paths.flatMap((path) => path.names))];
  return (
    <section aria-label={t`Reach`}>
      <h3>
        <Trans>Reach</Trans>
      </h3>
      <dl className="facts">
        <dt>
          <Trans>Folder</Trans>
        </dt>
        <dd>
          <code>{visible(agent.workspace)}</code>
        </dd>
        <Named title={<Trans>Files</Trans>} names={names} />
        <Named title={<Trans>Known paths outside the folder</Trans>} names={outsidePaths} />
        <Named title={<Trans>Hosts</Trans>} names={hosts} />
        {commandParts.length === 0 ? null : (
          <>
            <dt>
              <Trans>More</Trans>
            </dt>
            <dd>
              <Trans>The programs of the command may reach other files and hosts.</Trans>
            </dd>
          </>
        )}
        {tool === null ? null : (
          <>
            <dt>
              <Trans>Tool</Trans>
            </dt>
            <dd>
              <code>{tool.name}</code>
              {tool.server === null ? "" : ` (${tool.server})`} ·{" "}
              {tool.isReadOnly ? (
                <Trans>only reads</Trans>
              ) : tool.isIdempotent ? (
                <Trans>changes things; a repetition changes nothing more</Trans>
              ) : (
                <Trans>changes things; each run counts</Trans>
              )}
            </dd>
          </>
        )}
        {meta === null ? null : (
          <>
            <dt>
              <Trans>Noted by hooks</Trans>
            </dt>
            <dd>
              <code>{visible(JSON.stringify(meta))}</code>
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Named({ title, names }: { readonly title: ReactNode; readonly names: readonly string[] }): ReactNode {
  if (names.length === 0) return null;
  return (
    <>
      <dt>{title}</dt>
      <dd>
        {names.map((name) => (
          <code key={name} className="block">
            {visible(name)}
          </code>
        ))}
      </dd>
    </>
  );
}
