import { useEffect, useRef, useState } from "react";
import { ExportsDocument, type ExportRowFragment } from "../../generated/documents.ts";
import { ask } from "../../session/ask.ts";

export type ExportRow = ExportRowFragment;

/** The exports that were read so far. `total` is null until the first page has come. */
export type ExportList = {
  readonly rows: readonly ExportRow[];
  readonly total: number | null;
  readonly problem: string | null;
  /** The way to the next page; null at the end. */
  readonly more: (() => void) | null;
  readonly again: () => void;
};

type Known = Pick<ExportList, "rows" | "total" | "problem"> & { readonly after: string | null };

/** The list is read again so often while a file is being made, and otherwise; ms. Its addresses are good for an hour. */
const BUSY_MS = 1_000;
const QUIET_MS = 10_000;

/** The exports of the viewer, for administrators those of the tenant. They are read again while the page is in view. */
export function useExports(): ExportList {
  const [known, setKnown] = useState<Known>({ rows: [], total: null, problem: null, after: null });
  const asked = useRef(0);
  const shown = useRef(0);
  const load = (after: string | null): void => {
    const number = ++asked.current;
    ask(ExportsDocument, { after }).then(
      ({ exports }) => {
        // An answer that was overtaken is of an earlier state.
        if (number < shown.current) return;
        shown.current = number;
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

type Page = {
  readonly nodes: readonly ExportRow[];
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
};

/** The list with a page: the first one brings news of the newest rows, a later one older rows. */
function withPage(known: Known, after: string | null, { nodes, totalCount: total, pageInfo }: Page): Known {
  const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  if (after !== null) return { rows: [...known.rows, ...nodes], total, problem: null, after: next };
  if (known.total === null || next === null) return { rows: nodes, total, problem: null, after: next };
  const news = new Set(nodes.map(({ id }) => id));
  return { rows: [...nodes, ...known.rows.filter(({ id }) => !news.has(id))], total, problem: null, after: known.after };
}
