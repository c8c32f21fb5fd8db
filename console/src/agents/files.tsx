import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { diffLines, diffSize } from "../calls/diff-lines.ts";
import { Diff } from "../calls/diff.tsx";
import { Ago } from "../design/clock.tsx";
import { Dialog } from "../design/dialog.tsx";
import { More } from "../design/more.tsx";
import { usePages, type Page } from "../design/pages.ts";
import { FileEditsDocument, type FileEditsQuery } from "../generated/documents.ts";
import { ask } from "../session/ask.ts";
import { togetherIn } from "./combined-diff.ts";
import { diffIn, ofTurn } from "./file-edits.ts";
import type { AgentPage } from "./use-agent-page.ts";

type Edit = NonNullable<FileEditsQuery["agent"]>["fileEdits"]["nodes"][number];

/** The files that the agent has read or written. A written one opens to its changes. */
export function Files({ agent }: { readonly agent: AgentPage }): ReactNode {
  const { t } = useLingui();
  const [opened, setOpened] = useState<string | null>(null);
  const files = agent.knownFiles.nodes;
  if (files.length === 0) return null;
  return (
    <section>
      <h2>
        <Trans>Files</Trans>
      </h2>
      <ul className="files">
        {files.map(({ path, access, change, at }) => (
          <li key={`${path ?? ""} ${at}`}>
            {path !== null && access === "WRITTEN" ? (
              <button type="button" className="plain file" title={t`Its changes`} onClick={() => setOpened(path)}>
                <code>{visible(path)}</code>
              </button>
            ) : (
              <code>{visible(path ?? t`(erased)`)}</code>
            )}
            <span className="quiet small">
              {access === "WRITTEN" ? t`written` : t`read`}
              {change === null ? "" : `, ${t`changed since`}`} · <Ago time={at} />
            </span>
          </li>
        ))}
      </ul>
      {opened === null ? null : (
        <Dialog title={t`Changes of ${visible(opened)}`} isOpen close={() => setOpened(null)}>
          <Changes
            agent={agent}
            path={opened}
            isChangedSince={files.some(({ path, change }) => path === opened && change !== null)}
          />
        </Dialog>
      )}
    </section>
  );
}

/** So many edits are read for one diff by themselves, in pages of 10. Further ones are read by a button. */
const MOST_TOGETHER = 100;

const NONE: Page<Edit> = { nodes: [], totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null } };

function Changes({
  agent: { id, turn },
  path,
  isChangedSince,
}: {
  readonly agent: AgentPage;
  readonly path: string;
  readonly isChangedSince: boolean;
}): ReactNode {
  const { t } = useLingui();
  const [since, setSince] = useState<"turn" | "start">("turn");
  const pages = usePages(path, async (after) => (await ask(FileEditsDocument, { id, path, after })).agent?.fileEdits ?? NONE);
  const edits = since === "turn" ? ofTurn(pages.rows, turn) : pages.rows;
  const diffs = useMemo(() => edits.map(({ details }) => diffIn(details, path)), [pages.rows, since, turn, path]);
  const { added, removed } = useMemo(() => sizeOf(diffs), [diffs]);
  // The turn's edits come first: an older one ends them.
  const isPart = pages.hasMore && edits.length === pages.rows.length;
  const isTooMuch = edits.length >= MOST_TOGETHER;
  useEffect(() => {
    if (isPart && !isTooMuch && !pages.isReading && pages.problem === null) pages.more();
  }, [isPart, isTooMuch, pages.isReading, pages.problem]);
  return (
    <div className="changes">
      <div className="row">
        <label className="check">
          <input type="radio" name="since" checked={since === "turn"} onChange={() => setSince("turn")} />
          <Trans>Since the turn began</Trans>
        </label>
        <label className="check">
          <input type="radio" name="since" checked={since === "start"} onChange={() => setSince("start")} />
          <Trans>Since the agent began</Trans>
        </label>
        {pages.total === null ? null : (
          <span className="quiet small" role="status">
            {isPart ? t`changes: ${edits.length} of ${pages.total}` : t`changes: ${edits.length}`}
            {" · "}
            <span className="added">+{added}</span> <span className="removed">−{removed}</span>
          </span>
        )}
      </div>
      {isChangedSince ? (
        <p className="note small">
          <Trans>Something else has changed the file since: its changes are not shown.</Trans>
        </p>
      ) : null}
      {pages.total !== null && edits.length === 0 ? (
        <p className="empty">
          <Trans>The agent has not changed it in this turn.</Trans>
        </p>
      ) : null}
      {edits.length > 1 ? <Together path={path} diffs={diffs} isPart={isPart} /> : null}
      {edits.length > 1 ? (
        <h3>
          <Trans>One by one, the newest first</Trans>
        </h3>
      ) : null}
      <ol className="items">
        {edits.map((edit, index) => (
          <li key={edit.id}>
            <p className="row small quiet">
              <code>{visible(edit.name)}</code>
              <span>{t`turn ${edit.turn}, step ${edit.step}`}</span>
              {edit.completedAt === null ? null : <Ago time={edit.completedAt} />}
            </p>
            <Diff path={visible(path)} diff={diffs[index] ?? null} />
          </li>
        ))}
      </ol>
      {isPart || pages.problem !== null || pages.total === null ? <More pages={pages} /> : null}
    </div>
  );
}

/** All edits as one diff, if they are known and follow on each other. */
function Together({
  path,
  diffs,
  isPart,
}: {
  readonly path: string;
  /** The newest comes first. */
  readonly diffs: readonly (string | null)[];
  readonly isPart: boolean;
}): ReactNode {
  const { t } = useLingui();
  const together = useMemo(() => (isPart ? null : togetherIn(diffs)), [diffs, isPart]);
  const reasons = {
    missing: t`They are not shown as one: the change of one is too large, or was erased.`,
    apart: t`They are not shown as one: something else has changed the file between them.`,
  };
  return (
    <section>
      <h3>
        <Trans>All together</Trans>
      </h3>
      {together === null ? (
        <p className="quiet small">
          <Trans>They are not shown as one until all are read.</Trans>
        </p>
      ) : together.kind !== "diff" ? (
        <p className="quiet small">{reasons[together.kind]}</p>
      ) : together.diff === "" ? (
        <p className="quiet small">
          <Trans>The file is as it was before: the changes undo each other.</Trans>
        </p>
      ) : (
        <Diff path={visible(path)} diff={together.diff} />
      )}
    </section>
  );
}

function sizeOf(diffs: readonly (string | null)[]): { readonly added: number; readonly removed: number } {
  const sizes = diffs.map((diff) => diffSize(diffLines(diff ?? "")));
  const sum = (part: "added" | "removed"): number => sizes.reduce((total, size) => total + size[part], 0);
  return { added: sum("added"), removed: sum("removed") };
}
