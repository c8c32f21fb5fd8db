import { useEffect, useRef, useState } from "react";

/** One page of a list of the server. */
export type Page<Row> = {
  readonly nodes: readonly Row[];
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
};

/** The pages of a list that were read so far. `total` is null until the first has come. */
export type Pages<Row> = {
  readonly rows: readonly Row[];
  readonly total: number | null;
  readonly hasMore: boolean;
  readonly isReading: boolean;
  readonly problem: string | null;
  readonly more: () => void;
  readonly again: () => void;
};

type Known<Row> = Omit<Pages<Row>, "more" | "again"> & { readonly after: string | null };

/** Reads a list page by page, anew for each `key`: the filters as a text. */
export function usePages<Row>(key: string, read: (after: string | null) => Promise<Page<Row>>): Pages<Row> {
  const [known, setKnown] = useState<Known<Row>>({
    rows: [],
    total: null,
    hasMore: false,
    isReading: true,
    problem: null,
    after: null,
  });
  const [tries, setTries] = useState(0);
  /** A page of earlier filters, or of an earlier try, is of no list any more. */
  const present = useRef(0);
  const load = (after: string | null): void => {
    const ofRequest = present.current;
    setKnown((now) => ({ ...now, isReading: true, problem: null }));
    read(after).then(
      ({ nodes, totalCount, pageInfo }) => {
        if (present.current !== ofRequest) return;
        setKnown((now) => ({
          rows: after === null ? nodes : [...now.rows, ...nodes],
          total: totalCount,
          hasMore: pageInfo.hasNextPage,
          isReading: false,
          problem: null,
          after: pageInfo.endCursor,
        }));
      },
      (failure: unknown) => {
        if (present.current !== ofRequest) return;
        const problem = failure instanceof Error ? failure.message : String(failure);
        setKnown((now) => ({ ...now, isReading: false, problem }));
      },
    );
  };
  useEffect(() => {
    load(null);
    return () => {
      present.current += 1;
    };
  }, [key, tries]);
  return {
    ...known,
    more: () => (known.isReading ? undefined : load(known.after)),
    again: () => setTries((count) => count + 1),
  };
}
