import type { ExportRowFragment } from "../../generated/documents.ts";

export type ExportRow = ExportRowFragment;

/** The exports that were read so far. `total` is null until the first page has come, `after` at the end of the list. */
export type Known = {
  readonly rows: readonly ExportRow[];
  readonly total: number | null;
  readonly problem: string | null;
  readonly after: string | null;
};

type Page = {
  readonly nodes: readonly ExportRow[];
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
};

/** The list with a page: the first one brings news of the newest rows, a later one older rows. */
export function withPage(known: Known, after: string | null, { nodes, totalCount: total, pageInfo }: Page): Known {
  const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  if (after !== null) return { rows: [...known.rows, ...without(nodes, known.rows)], total, problem: null, after: next };
  if (known.total === null || next === null) return { rows: nodes, total, problem: null, after: next };
  return { rows: [...nodes, ...without(known.rows, nodes)], total, problem: null, after: known.after };
}

function without(rows: readonly ExportRow[], others: readonly ExportRow[]): readonly ExportRow[] {
  const ids = new Set(others.map(({ id }) => id));
  return rows.filter(({ id }) => !ids.has(id));
}
