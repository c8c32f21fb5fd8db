import { useVirtualizer } from "@tanstack/react-virtual";
import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { memo, useEffect, useRef, type ReactNode } from "react";
import { Ago, Until, useNow } from "../design/clock.tsx";
import { namesOf } from "../session/viewer.tsx";
import { BatchRow } from "./batches/batch-row.tsx";
import type { Entry } from "./batches/entries.ts";
import { isLost, useDeciding, type Deciding } from "./decisions.ts";
import { useKindWords } from "../calls/asked-action.tsx";
import { previewOf, toolOf } from "../calls/asked-words.ts";
import type { Row } from "./queue.ts";
import { RiskBadge } from "./row-badges.tsx";
import type { Snooze } from "./snooze/snooze-times.ts";

const ROW_PX = 62;
/** Rows beyond the visible ones. With a tall window the list has at most 80 rows in the document. */
const OVERSCAN = 6;

/** The open approvals. Only rows near the view are in the document. */
export function QueueList({
  entries,
  snoozes,
  selected,
  select,
  toggle,
}: {
  readonly entries: readonly Entry[];
  /** The viewer's snoozes, also those whose time has come. */
  readonly snoozes: ReadonlyMap<string, Snooze>;
  readonly selected: string | null;
  readonly select: (id: string) => void;
  /** Opens or closes a batch. */
  readonly toggle: (id: string) => void;
}): ReactNode {
  const { t } = useLingui();
  const scroller = useRef<HTMLDivElement>(null);
  const deciding = useDeciding();
  const place = entries.findIndex(({ id }) => id === selected);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    getItemKey: (index) => entries[index]?.id ?? index,
  });
  useEffect(() => {
    if (place >= 0) virtual.scrollToIndex(place, { align: "auto" });
  }, [selected, place < 0]);
  const shown = virtual.getVirtualItems();
  const isShown = shown.some(({ index }) => index === place);
  return (
    <div
      ref={scroller}
      className="queue"
      role="listbox"
      tabIndex={0}
      aria-label={t`Open approvals`}
      {...(!isShown ? {} : { "aria-activedescendant": `row-${entries[place]?.id ?? ""}` })}
      onKeyDown={(event) => {
        const current = entries[place];
        if (current?.kind === "batch" && event.key === (current.isOpen ? "ArrowLeft" : "ArrowRight")) {
          event.preventDefault();
          toggle(current.id);
        }
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const next = step === undefined ? undefined : entries[place + step];
        if (next === undefined) return;
        event.preventDefault();
        select(next.id);
      }}
    >
      <div className="queue-rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start, key }) => {
          const entry = entries[index];
          if (entry === undefined) return null;
          const { id } = entry;
          const line = { top: start, index, count: entries.length, isSelected: id === selected, select };
          return entry.kind === "batch" ? (
            <BatchRow key={key} batch={entry} toggle={toggle} {...line} />
          ) : (
            <QueueRow
              key={key}
              row={entry.row}
              isInBatch={entry.isInBatch}
              returnsAt={snoozes.get(id)?.until ?? null}
              deciding={deciding.get(id) ?? null}
              {...line}
            />
          );
        })}
      </div>
    </div>
  );
}

const QueueRow = memo(function QueueRow({
  row,
  top,
  index,
  count,
  isSelected,
  isInBatch,
  returnsAt,
  deciding,
  select,
}: {
  readonly row: Row;
  readonly top: number;
  readonly index: number;
  readonly count: number;
  readonly isSelected: boolean;
  readonly isInBatch: boolean;
  /** The end of the viewer's snooze. */
  readonly returnsAt: string | null;
  readonly deciding: Deciding | null;
  readonly select: (id: string) => void;
}): ReactNode {
  const { t } = useLingui();
  const kind = useKindWords()[row.kind];
  const now = useNow();
  const isSoon = row.expiresAt !== null && Date.parse(row.expiresAt) - now < 60 * 60_000;
  const isBack = returnsAt !== null && Date.parse(returnsAt) <= now;
  const people = namesOf(row.requestedBy);
  return (
    <div
      id={`row-${row.id}`}
      role="option"
      aria-selected={isSelected}
      aria-posinset={index + 1}
      aria-setsize={count}
      className={`queue-row ${row.risk.toLowerCase()}${isInBatch ? " in-batch" : ""}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => select(row.id)}
    >
      <div className="first">
        <code className="tool">{row.toolCall === null ? kind : toolOf(row)}</code>
        {kind === null || row.toolCall === null ? null : <span className="badge">{kind}</span>}
        <span className="preview">{visible(previewOf(row))}</span>
      </div>
      <div className="second quiet">
        <RiskBadge risk={row.risk} />
        <span className="agent">
          {row.agent.template.templateId} · <bdi>{visible(row.agent.title ?? row.agent.shortId)}</bdi>
          {people === "" ? "" : ` · ${people}`}
        </span>
        {deciding?.kind === "sending" ? (
          <span className="badge works">{t`sending`}</span>
        ) : deciding?.kind === "refused" ? (
          <span className="badge bad">{isLost(deciding) ? t`no answer` : t`refused`}</span>
        ) : row.quorum > 1 ? (
          <span className="badge">
            {row.quorum - row.missingDecisions}/{row.quorum}
          </span>
        ) : null}
        <span className="when">
          {returnsAt === null ? null : isBack ? (
            <span className="badge works">{t`back`}</span>
          ) : (
            <span className="badge">
              <Trans>
                returns <Until time={returnsAt} />
              </Trans>
            </span>
          )}
          {returnsAt !== null && !isBack && !isSoon ? null : isSoon && row.expiresAt !== null ? (
            <span className="badge waits">
              <Until time={row.expiresAt} />
            </span>
          ) : (
            <Ago time={row.requestedAt} />
          )}
        </span>
      </div>
    </div>
  );
});

/** The beginning of the action: the command, the path, or the input. */
