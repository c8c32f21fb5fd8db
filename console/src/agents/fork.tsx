import { Trans, useLingui } from "@lingui/react/macro";
import { useNavigate } from "@tanstack/react-router";
import { visible } from "@triplane/client/command-lines";
import { useState, type ReactNode } from "react";
import { Ago } from "../design/clock.tsx";
import { Dialog } from "../design/dialog.tsx";
import { More } from "../design/more.tsx";
import { usePages } from "../design/pages.ts";
import {
  ForkDocument,
  ForkPointsDocument,
  MessagesOfForkPointsDocument,
  type MessagesOfForkPointsQuery,
} from "../generated/documents.ts";
import { ask, change, refusalText } from "../session/ask.ts";
import { nameOf } from "../session/viewer.tsx";

/** The longest part of a message in the list, in characters. */
const SHOWN_CHARACTERS = 200;

/** Opens the messages after which the agent can be forked. A choice leads to the new agent. */
export function Fork({ agentId, isBusy }: { readonly agentId: string; readonly isBusy: boolean }): ReactNode {
  const { t } = useLingui();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" disabled={isBusy} onClick={() => setOpen(true)}>
        <Trans>Fork …</Trans>
      </button>
      {isOpen ? (
        <Dialog title={t`Fork after which message?`} isOpen close={() => setOpen(false)}>
          <Points agentId={agentId} />
        </Dialog>
      ) : null}
    </>
  );
}

type Message = Extract<NonNullable<FoundNode>, { readonly sentBy: unknown }>;
type FoundNode = MessagesOfForkPointsQuery["nodes"][number];

function isMessage(node: FoundNode): node is Message {
  return node !== null && "kind" in node;
}

type Point = { readonly messageId: string; readonly createdAt: string; readonly message: Message | null };

async function pointsOf(agentId: string, after: string | null) {
  const { agent } = await ask(ForkPointsDocument, { id: agentId, after });
  const page = agent?.forkPoints ?? { nodes: [], totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null } };
  const ids = page.nodes.map(({ messageId }) => messageId);
  const { nodes } = ids.length === 0 ? { nodes: [] } : await ask(MessagesOfForkPointsDocument, { ids });
  const messages = new Map(nodes.filter(isMessage).map((message) => [message.id, message] as const));
  const points = page.nodes.map(({ messageId, createdAt }): Point => ({
    messageId,
    createdAt,
    message: messages.get(messageId) ?? null,
  }));
  return { ...page, nodes: points };
}

function Points({ agentId }: { readonly agentId: string }): ReactNode {
  const { t } = useLingui();
  const navigate = useNavigate();
  const pages = usePages(agentId, (after) => pointsOf(agentId, after));
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  // A repeated press after a lost answer makes no second agent.
  const [key] = useState(() => crypto.randomUUID());
  const fork = async (messageId: string): Promise<string | null> => {
    const { forkAgent } = await change(ForkDocument, { input: { agentId, messageId, idempotencyKey: `${key} ${messageId}` } });
    const refusal = refusalText(forkAgent.userErrors);
    if (refusal !== null || forkAgent.agent === null) return refusal;
    await navigate({ to: "/agents/$agentId", params: { agentId: forkAgent.agent.id } });
    return null;
  };
  const press = async (messageId: string): Promise<void> => {
    setBusy(messageId);
    setProblem(await fork(messageId).catch((failure: unknown) => (failure instanceof Error ? failure.message : String(failure))));
    setBusy(null);
  };
  return (
    <>
      {pages.total === 0 ? (
        <p className="empty">
          <Trans>There is no message yet after which it can be forked.</Trans>
        </p>
      ) : null}
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
      <ol className="fork-points">
        {pages.rows.map(({ messageId, createdAt, message }) => (
          <li key={messageId}>
            <button type="button" disabled={busy !== null} onClick={() => void press(messageId)}>
              <Trans>Fork here</Trans>
            </button>
            <span className="quiet small">
              {message?.sentBy == null ? t`agent` : nameOf(message.sentBy)} · <Ago time={createdAt} />
            </span>
            <span>{wordsOf(message?.text ?? "")}</span>
          </li>
        ))}
      </ol>
      <More pages={pages} />
    </>
  );
}

function wordsOf(text: string): string {
  return visible(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)} …` : text);
}
