import { Trans, useLingui } from "@lingui/react/macro";
import { visible } from "@triplane/client/command-lines";
import { memo, type ReactNode } from "react";
import { Ago } from "../../design/clock.tsx";
import { namesOf } from "../../session/viewer.tsx";
import { toolOf } from "../../calls/asked-words.ts";
import { RiskBadge } from "../row-badges.tsx";
import type { Batch } from "./entries.ts";
import { compared, wholeInput } from "./shape.ts";
import "./batches.css";

/** The row of alike questions. Its sign opens it: then they stand below it. */
export const BatchRow = memo(function BatchRow({
  batch,
  top,
  index,
  count,
  isSelected,
  select,
  toggle,
}: {
  readonly batch: Batch;
  readonly top: number;
  readonly index: number;
  readonly count: number;
  readonly isSelected: boolean;
  readonly select: (id: string) => void;
  readonly toggle: (id: string) => void;
}): ReactNode {
  const { t } = useLingui();
  const { id, rows, isOpen } = batch;
  const [first] = rows;
  if (first === undefined) return null;
  const many = rows.length;
  const oldest = rows.reduce((before, row) => (row.requestedAt < before.requestedAt ? row : before), first);
  return (
    <div
      id={`row-${id}`}
      role="option"
      aria-selected={isSelected}
      aria-posinset={index + 1}
      aria-setsize={count}
      className={`queue-row batch-row ${first.risk.toLowerCase()}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => select(id)}
    >
      <div className="first">
        <span
          className="fold"
          title={isOpen ? t`Close the batch` : t`Open the batch`}
          onClick={(event) => {
            event.stopPropagation();
            toggle(id);
          }}
        >
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
          <span className="visually-hidden">{isOpen ? t`opened` : t`closed`}</span>
        </span>
        <code className="tool">{toolOf(first)}</code>
        <span className="badge">
          <Trans>{many} alike</Trans>
        </span>
        <span className="preview">{visible(commonLine(batch))}</span>
      </div>
      <div className="second quiet">
        <RiskBadge risk={first.risk} />
        <span className="agent">
          {first.agent.template.templateId} · {namesOf(rows.flatMap(({ requestedBy }) => requestedBy))}
        </span>
        <span className="when">
          <Ago time={oldest.requestedAt} />
        </span>
      </div>
    </div>
  );
});

/** The first parameter of the batch, with a sign for the parts that differ. */
function commonLine({ rows }: Batch): string {
  const [first] = compared(rows.map((row) => wholeInput(row) ?? {}));
  if (first === undefined) return "";
  return first.parts === null ? first.before : `${first.before}…${first.after}`;
}
