import { Trans, useLingui } from "@lingui/react/macro";
import { useId, useState, type ReactNode } from "react";
import {
  ArchiveDocument,
  CompactDocument,
  InterruptDocument,
  RenameDocument,
  RetryDocument,
  UnarchiveDocument,
} from "../generated/documents.ts";
import { useFocusKept } from "../design/focus-kept.ts";
import { WhyDisabled } from "../design/why-disabled.tsx";
import { change, refusalText } from "../session/ask.ts";
import { Delete } from "./delete.tsx";
import { Fork } from "./fork.tsx";
import type { AgentPage } from "./use-agent-page.ts";

type Refusals = readonly { readonly message: string }[];

/** The commands that change the course of an agent. */
export function Actions({
  agent,
  isWorking,
  hasTree,
  again,
}: {
  readonly agent: AgentPage;
  readonly isWorking: boolean;
  readonly hasTree: boolean;
  readonly again: () => void;
}): ReactNode {
  const { t } = useLingui();
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const [title, setTitle] = useState<string | null>(null);
  const [haveChildrenWork, setChildrenWork] = useState(false);
  // A press after a lost answer repeats the command with its key: the server does it once. Each answer ends its key.
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
  const id = useId();
  const box = useFocusKept<HTMLDivElement>(busy !== null);
  const agentId = agent.id;
  const run = (name: string, work: () => Promise<Refusals>): void => {
    setBusy(name);
    void work()
      .then((refusals) => {
        setKey(crypto.randomUUID());
        return refusalText(refusals);
      })
      .catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
      .then((refusal) => {
        setProblem(refusal);
        setBusy(null);
        again();
      });
  };
  const interrupt = (tree: boolean): void =>
    run(
      tree ? "tree" : "turn",
      async () => (await change(InterruptDocument, { input: { agentId, tree } })).interruptAgent.userErrors,
    );
  const archive = (tree: boolean): void =>
    run("archive", async () => {
      const { userErrors } = (await change(ArchiveDocument, { input: { agentId, tree } })).archiveAgent;
      setChildrenWork(userErrors.some(({ code }) => code === "CHILDREN_WORK"));
      return userErrors;
    });
  const isArchived = agent.archivedAt !== null;
  const canRetry = agent.doneReason === "ERROR" || agent.doneReason === "INTERRUPTED";
  return (
    <div className="actions" ref={box} tabIndex={-1}>
      <div className="row">
        <button
          type="button"
          className="danger"
          disabled={!isWorking || busy !== null}
          aria-describedby={isArchived ? `${id}-archived` : isWorking ? undefined : `${id}-interrupt`}
          onClick={() => interrupt(false)}
        >
          <Trans>Interrupt</Trans>
        </button>
        {hasTree ? (
          <button type="button" className="danger" disabled={busy !== null} onClick={() => interrupt(true)}>
            <Trans>Interrupt the tree</Trans>
          </button>
        ) : null}
        <button
          type="button"
          disabled={!canRetry || isWorking || isArchived || busy !== null}
          aria-describedby={isArchived ? `${id}-archived` : canRetry && !isWorking ? undefined : `${id}-retry`}
          onClick={() =>
            run("retry", async () => (await change(RetryDocument, { input: { agentId, idempotencyKey } })).retryTurn.userErrors)
          }
        >
          <Trans>Retry</Trans>
        </button>
        <button
          type="button"
          disabled={isArchived || busy !== null}
          aria-describedby={isArchived ? `${id}-archived` : undefined}
          onClick={() =>
            run(
              "compact",
              async () => (await change(CompactDocument, { input: { agentId, idempotencyKey } })).compactAgent.userErrors,
            )
          }
        >
          <Trans>Compact</Trans>
        </button>
        <Fork agentId={agentId} isBusy={busy !== null} />
        <button type="button" disabled={busy !== null} onClick={() => setTitle(title === null ? (agent.title ?? "") : null)}>
          <Trans>Rename</Trans>
        </button>
        {isArchived ? (
          <button
            type="button"
            disabled={busy !== null}
            onClick={() =>
              run("restore", async () => (await change(UnarchiveDocument, { input: { agentId } })).unarchiveAgent.userErrors)
            }
          >
            <Trans>Restore</Trans>
          </button>
        ) : (
          <button type="button" disabled={busy !== null} onClick={() => archive(false)}>
            <Trans>Archive</Trans>
          </button>
        )}
        {haveChildrenWork && !isArchived ? (
          <button type="button" className="danger" disabled={busy !== null} onClick={() => archive(true)}>
            <Trans>Archive, and interrupt those below it</Trans>
          </button>
        ) : null}
        {isArchived ? <Delete agentId={agentId} /> : null}
      </div>
      <WhyDisabled
        of={[
          { id: `${id}-archived`, words: isArchived ? <Trans>The agent is archived.</Trans> : null },
          { id: `${id}-interrupt`, words: isWorking || isArchived ? null : <Trans>Interrupt: no turn runs.</Trans> },
          {
            id: `${id}-retry`,
            words:
              isArchived || (canRetry && !isWorking) ? null : isWorking ? (
                <Trans>Retry: the turn has not ended.</Trans>
              ) : (
                <Trans>Retry: no turn failed.</Trans>
              ),
          },
        ]}
      />
      {title === null ? null : (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            setTitle(null);
            const input = { agentId, title: title.trim() === "" ? null : title };
            run("rename", async () => (await change(RenameDocument, { input })).renameAgent.userErrors);
          }}
        >
          <input aria-label={t`Title`} autoFocus value={title} onChange={({ target }) => setTitle(target.value)} />
          <button type="submit">
            <Trans>Save</Trans>
          </button>
        </form>
      )}
      {problem === null ? null : (
        <p role="alert" className="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
