import { useEffect, useRef, useState } from "react";
import { ExportsDocument } from "../../generated/documents.ts";
import { ask } from "../../session/ask.ts";
import { withPage, type ExportRow, type Known } from "./export-list.ts";

/** The exports that were read so far. `total` is null until the first page has come. */
export type ExportList = {
  readonly rows: readonly ExportRow[];
  readonly total: number | null;
  readonly problem: string | null;
  /** The way to the next page; null at the end. */
  readonly more: (() => void) | null;
  readonly again: () => void;
};

/** The list is read again so often while a file is being made, and otherwise; ms. Its addresses are good for an hour. */
const BUSY_MS = 1_000;
const QUIET_MS = 10_000;

/** The rows of a page. The list is read up to the last row that is being made, if that lies further below. */
const PAGE_ROWS = 25;
const MOST_ROWS = 100;

/** The exports of the viewer, for administrators those of the tenant. They are read again while the page is in view. */
export function useExports(): ExportList {
  const [known, setKnown] = useState<Known>({ rows: [], total: null, problem: null, after: null });
  const asked = useRef(0);
  const shown = useRef(0);
  const latest = useRef(known.rows);
  latest.current = known.rows;
  const load = (after: string | null): void => {
    const number = ++asked.current;
    const lastBusy = latest.current.findLastIndex(({ state }) => state === "RUNNING");
    const first = after === null ? Math.min(MOST_ROWS, Math.max(PAGE_ROWS, lastBusy + 1)) : PAGE_ROWS;
    ask(ExportsDocument, { first, after }).then(
      ({ exports }) => {
        // A first page that was overtaken is of an earlier state.
        if (after === null && number < shown.current) return;
        if (after === null) shown.current = number;
        setKnown((now) => withPage(now, after, exports));
      },
      (failure: unknown) =>
        setKnown((now) => ({ ...now, problem: failure instanceof Error ? failure.message : String(failure) })),
    );
  };
  const isBusy = known.rows.some(({ state }) => state === "RUNNING");
  useEffect(() => {
    const readInView = (): void => (document.visibilityState === "visible" ? load(null) : undefined);
    readInView();
    const timer = setInterval(readInView, isBusy ? BUSY_MS : QUIET_MS);
    document.addEventListener("visibilitychange", readInView);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", readInView);
    };
  }, [isBusy]);
  const { after, ...list } = known;
  return { ...list, more: after === null ? null : () => load(after), again: () => load(null) };
}
