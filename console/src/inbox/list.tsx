import { useVirtualizer } from "@tanstack/react-virtual";
import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { memo, useEffect, useRef, type ReactNode } from "react";
import { Ago, Until, useNow } from "../design/clock.tsx";
import { namesOf } from "../session/viewer.tsx";
import { useDeciding, type Deciding } from "./decisions.ts";
import { toolOf, type Row } from "./queue.ts";
import { RiskBadge, useKindWords } from "./row-badges.tsx";
import type { Snooze } from "./snooze/snooze-times.ts";

const ROW_PX = 62;
/** Rows beyond the visible ones. With a tall window the list has at most 80 rows in the document. */
const OVERSCAN = 6;

/** The open approvals. Only rows near the view are in the document. */
export function QueueList({
  rows,
  snoozes,
  selected,
  select,
}: {
  readonly rows: readonly Row[];
  /** The snoozes of the rows, in their view; null elsewhere. */
  readonly snoozes: ReadonlyMap<string, Snooze> | null;
  readonly selected: string | null;
  readonly select: (id: string) => void;
}): ReactNode {
  const { t } = useLingui();
  const scroller = useRef<HTMLDivElement>(null);
  const deciding = useDeciding();
  const place = rows.findIndex(({ id }) => id === selected);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    getItemKey: (index) => rows[index]?.id ?? index,
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
      {...(!isShown ? {} : { "aria-activedescendant": `row-${rows[place]?.id ?? ""}` })}
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const next = step === undefined ? undefined : rows[place + step];
        if (next === undefined) return;
        event.preventDefault();
        select(next.id);
      }}
    >
      <div className="queue-rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start, key }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <QueueRow
              key={key}
              row={row}
              top={start}
              index={index}
              count={rows.length}
              isSelected={row.id === selected}
              returnsAt={snoozes?.get(row.id)?.until ?? null}
              deciding={deciding.get(row.id) ?? null}
              select={select}
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
  returnsAt,
  deciding,
  select,
}: {
  readonly row: Row;
  readonly top: number;
  readonly index: number;
  readonly count: number;
  readonly isSelected: boolean;
  /** The end of the viewer's snooze. */
  readonly returnsAt: string | null;
  readonly deciding: Deciding | null;
  readonly select: (id: string) => void;
}): ReactNode {
  const { t } = useLingui();
  const kind = useKindWords()[row.kind];
  const isSoon = row.expiresAt !== null && Date.parse(row.expiresAt) - useNow() < 60 * 60_000;
  const people = namesOf(row.requestedBy);
  return (
    <div
      id={`row-${row.id}`}
      role="option"
      aria-selected={isSelected}
      aria-posinset={index + 1}
      aria-setsize={count}
      className={`queue-row ${row.risk.toLowerCase()}`}
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
          {row.agent.template.templateId} · {row.agent.title ?? row.agent.shortId}
          {people === "" ? "" : ` · ${people}`}
        </span>
        {deciding?.kind === "sending" ? (
          <span className="badge works">{t`sending`}</span>
        ) : deciding?.kind === "refused" ? (
          <span className="badge bad">{t`refused`}</span>
        ) : row.quorum > 1 ? (
          <span className="badge">
            {row.quorum - row.missingDecisions}/{row.quorum}
          </span>
        ) : null}
        <span className="when">
          {returnsAt === null ? null : (
            <span className="badge">
              <Trans>
                returns <Until time={returnsAt} />
              </Trans>
            </span>
          )}
          {returnsAt !== null && !isSoon ? null : isSoon && row.expiresAt !== null ? (
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
function previewOf({ toolCall, subject }: Row): string {
  if (subject !== null && "host" in subject) return `${subject.host}:${subject.port}`;
  if (subject !== null && "message" in subject) return subject.message;
  if (subject !== null && "per" in subject) return subject.per.toLowerCase();
  const preview = toolCall?.inputPreview ?? "";
  const [, first] = /^\{"(?:command|path)":"((?:[^"\\]|\\.)*)/.exec(preview) ?? [];
  return first ?? preview;
}
