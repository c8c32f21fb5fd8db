import { Trans, useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { LongText } from "../../calls/long-text.tsx";
import { More } from "../../design/more.tsx";
import { usePages } from "../../design/pages.ts";
import { SharedMessagesDocument } from "../../generated/documents.ts";
import { ask } from "../../session/ask.ts";
import { nameOf } from "../../session/viewer.tsx";

/** The messages that a fork shares with its original: its own events begin after them. */
export function SharedMessages({ agentId, count }: { readonly agentId: string; readonly count: number }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Trans>Forked: {count} messages are shared with the original</Trans>
      </summary>
      {isOpen ? <Messages agentId={agentId} count={count} /> : null}
    </details>
  );
}

const NONE = { nodes: [], totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null } };

function Messages({ agentId, count }: { readonly agentId: string; readonly count: number }): ReactNode {
  const { t } = useLingui();
  const pages = usePages(
    agentId,
    async (after) => (await ask(SharedMessagesDocument, { id: agentId, after })).agent?.messages ?? NONE,
  );
  return (
    <>
      <ol className="items">
        {pages.rows.slice(0, count).map(({ id, kind, text, sentBy }) => {
          const by = sentBy === null ? kind.toLowerCase().replaceAll("_", " ") : nameOf(sentBy);
          return (
            <li key={id} className="item">
              <p className="by">{by}</p>
              <LongText text={text === "" ? t`(calls or their results alone)` : (text ?? t`(erased)`)} label={by} />
            </li>
          );
        })}
      </ol>
      {pages.rows.length < count || pages.problem !== null ? <More pages={pages} /> : null}
    </>
  );
}
