import { Trans, useLingui } from "@lingui/react/macro";
import { useState, type ReactNode } from "react";
import { ArchiveDocument, CompactDocument, InterruptDocument, RenameDocument, RetryDocument } from "../generated/documents.ts";
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
  // A press after a lost answer repeats the command with its key: the server does it once. Each answer ends its key.
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID());
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
  const canRetry = agent.doneReason === "ERROR" || agent.doneReason === "INTERRUPTED";
  return (
    <div className="actions">
      <div className="row">
        <button type="button" className="danger" disabled={!isWorking || busy !== null} onClick={() => interrupt(false)}>
          <Trans>Interrupt</Trans>
        </button>
        {hasTree ? (
          <button type="button" className="danger" disabled={busy !== null} onClick={() => interrupt(true)}>
            <Trans>Interrupt the tree</Trans>
          </button>
        ) : null}
        <button
          type="button"
          disabled={!canRetry || isWorking || busy !== null}
          title={canRetry ? undefined : t`Only a failed or interrupted turn is tried again.`}
          onClick={() =>
            run("retry", async () => (await change(RetryDocument, { input: { agentId, idempotencyKey } })).retryTurn.userErrors)
          }
        >
          <Trans>Retry</Trans>
        </button>
        <button
          type="button"
          disabled={busy !== null}
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
        <button
          type="button"
          disabled={busy !== null || agent.archivedAt !== null}
          onClick={() =>
            run("archive", async () => (await change(ArchiveDocument, { input: { agentId } })).archiveAgent.userErrors)
          }
        >
          <Trans>Archive</Trans>
        </button>
        {agent.archivedAt === null ? null : <Delete agentId={agentId} />}
      </div>
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
