import { useVirtualizer } from "@tanstack/react-virtual";
import { Trans } from "@lingui/react/macro";
import { useRef, type ReactNode } from "react";
import type { Pages } from "./pages.ts";
import { useRowKeys } from "./row-keys.ts";
import "./grid-table.css";

const ROW_PX = 36;
const OVERSCAN = 8;

/** A column: its width is a track of a CSS grid. */
export type Column<Row> = {
  readonly name: string;
  readonly width: string;
  readonly cell: (row: Row) => ReactNode;
  readonly isAmount?: boolean;
};

/** A table of many rows. Only rows near the view are in the document. */
export function GridTable<Row extends { readonly id: string }>({
  label,
  columns,
  pages,
  empty,
  opened = null,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly pages: Pages<Row>;
  /** The words for a list without rows. */
  readonly empty: string;
  readonly opened?: string | null;
}): ReactNode {
  const { rows, total, hasMore, isReading, problem, more, again } = pages;
  const scroller = useRef<HTMLDivElement>(null);
  useRowKeys(scroller);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    getItemKey: (index) => rows[index]?.id ?? index,
  });
  const tracks = { gridTemplateColumns: columns.map(({ width }) => width).join(" ") };
  return (
    <div className="grid-scroll" ref={scroller} tabIndex={0} role="group" aria-label={label}>
      {problem === null ? null : (
        <p role="alert" className="alert row">
          {problem}
          <button type="button" onClick={again}>
            <Trans>Try again</Trans>
          </button>
        </p>
      )}
      {total === null && isReading ? (
        <div className="grid-skeleton" aria-hidden="true">
          {[1, 2, 3, 4, 5].map((line) => (
            <div key={line} className="skeleton" />
          ))}
        </div>
      ) : null}
      {total !== null && rows.length === 0 ? (
        <div className="empty">
          <p>{empty}</p>
        </div>
      ) : null}
      {rows.length === 0 ? null : (
        <div className="grid-table" role="table" aria-label={label} aria-rowcount={(total ?? rows.length) + 1}>
          <div className="grid-row grid-head" role="row" aria-rowindex={1} style={tracks}>
            {columns.map(({ name, isAmount }) => (
              <span key={name} role="columnheader" className={isAmount === true ? "amount" : ""}>
                {name}
              </span>
            ))}
          </div>
          <div role="rowgroup" className="grid-body" style={{ height: virtual.getTotalSize() }}>
            {virtual.getVirtualItems().map(({ index, start, key }) => {
              const row = rows[index];
              return row === undefined ? null : (
                <div
                  key={key}
                  role="row"
                  aria-rowindex={index + 2}
                  className={`grid-row${row.id === opened ? " opened" : ""}`}
                  style={{ ...tracks, transform: `translateY(${start}px)` }}
                >
                  {columns.map(({ name, cell, isAmount }) => (
                    <span key={name} role="cell" className={isAmount === true ? "amount" : ""}>
                      {cell(row)}
                    </span>
                  ))}
                </div>
              );
            })}
          </div>
        </div>
      )}
      {hasMore ? (
        <button type="button" className="grid-more" disabled={isReading} onClick={more}>
          <Trans>Show more</Trans>
        </button>
      ) : null}
    </div>
  );
}
