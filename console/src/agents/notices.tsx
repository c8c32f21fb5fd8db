import { Trans, useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { LongText } from "../calls/long-text.tsx";
import { Ago } from "../design/clock.tsx";
import { More } from "../design/more.tsx";
import { usePages, type Page } from "../design/pages.ts";
import { NoticesDocument, type NoticesQuery, type NoticeSource } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";

type Notice = NonNullable<NoticesQuery["agent"]>["notices"]["nodes"][number];

/** The texts of the server for the model, newest first. They are read again when `version` changes. */
export function Notices({
  agentId,
  count,
  version,
}: {
  readonly agentId: string;
  readonly count: number;
  readonly version: string;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (count === 0) return null;
  return (
    <section>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <h2>
            <Trans>Notices</Trans> <span className="quiet">{count}</span>
          </h2>
        </summary>
        {isOpen ? <List agentId={agentId} version={version} /> : null}
      </details>
    </section>
  );
}

const NONE: Page<Notice> = { nodes: [], totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null } };

function List({ agentId, version }: { readonly agentId: string; readonly version: string }): ReactNode {
  const { t } = useLingui();
  const pages = usePages(
    `${agentId} ${version}`,
    async (after) => (await ask(NoticesDocument, { id: agentId, after })).agent?.notices ?? NONE,
  );
  const subjects: Readonly<Record<NoticeSource, string>> = {
    CHILD: t`agent below it`,
    INTERRUPTED_CHILD: t`interrupted agent`,
    SHELL: t`shell`,
    FILE: t`file`,
    HOST: t`host`,
    TODO: t`todos`,
    TOOL: t`tools`,
    MEMORY: t`memory`,
  };
  return (
    <>
      <ul className="notices">
        {pages.rows.map(({ noticeId, source, text, at, toldAtStep }) => (
          <li key={noticeId}>
            <p className="row">
              <span className="badge">{source === null ? t`other` : subjects[source]}</span>
              {toldAtStep === null ? (
                <span className="badge waits">{t`told at the next step`}</span>
              ) : (
                <span className="quiet">{t`told at step ${toldAtStep}`}</span>
              )}
              <Ago time={at} />
            </p>
            <LongText text={text} label={t`Notice`} />
          </li>
        ))}
      </ul>
      <More pages={pages} />
    </>
  );
}
