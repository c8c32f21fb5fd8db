import { clientError } from "./errors.ts";
import { beyond, orderBy, placeOf, readPlace, type Condition, type Order, type SortKey } from "./keyset.ts";

/** The most entries of one page of a connection. */
export const MAX_PAGE = 100;
/** Entries of a page if the client does not say. */
export const DEFAULT_PAGE = 50;
/** The most rows that are counted: this number means "at least". */
export const MOST_COUNTED = 10_000;

export type PageArguments = {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly before?: string | null | undefined;
};

/** A page of a list in Relay's form, with a function that counts the whole list. */
export type Connection<Row> = {
  readonly edges: { cursor: string; node: Row }[];
  readonly pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  readonly count: () => Promise<number>;
};

export type PageQuery<Where, OrderBy> = { readonly where: Where; readonly orderBy: OrderBy[]; readonly take: number };

export type Part = { readonly after: SortKey | null; readonly before: SortKey | null; readonly isBackwards: boolean };

/** A list: its order, and functions that read and count its rows. `where` of a count is that of the whole list. */
export type List<Row, Where, OrderBy> = {
  readonly order: Order<Row>;
  readonly where: Where;
  readonly read: (query: PageQuery<Where, OrderBy>, part: Part) => Promise<Row[]>;
  readonly count: (query: { readonly where: Where; readonly take: number }) => Promise<number>;
};

/**
 * A page of a list, by our own keys (docs/adr/0019). A row that keeps its key and stays in the list appears once,
 * whatever else changes between two pages.
 */
export async function connection<Row extends object, Where extends object, OrderBy extends object>(
  args: PageArguments,
  list: List<Row, Where, OrderBy>,
): Promise<Connection<Row>> {
  checkPage(args);
  const { order } = list;
  const isBackwards = typeof args.last === "number";
  const size = args.last ?? args.first ?? DEFAULT_PAGE;
  const after = typeof args.after === "string" ? readPlace(order, args.after, "after") : null;
  const before = typeof args.before === "string" ? readPlace(order, args.before, "before") : null;
  const conditions = [
    ...(after === null ? [] : [beyond(order, after, false)]),
    ...(before === null ? [] : [beyond(order, before, true)]),
  ];
  const found = await list.read(
    { where: both<Where>(list.where, conditions), orderBy: orderBy(order, isBackwards) as OrderBy[], take: size + 1 },
    { after, before, isBackwards },
  );
  return { ...pageOfRows(args, order, found, size), count: () => list.count({ where: list.where, take: MOST_COUNTED }) };
}

/** The page of the read rows, which are one more than its size if more follow; reversed for `last`. */
export function pageOfRows<Row extends object>(
  args: PageArguments,
  order: Order<Row>,
  found: readonly Row[],
  size: number,
): Omit<Connection<Row>, "count"> {
  const isBackwards = typeof args.last === "number";
  const hasMore = found.length > size;
  const rows = isBackwards ? found.slice(0, size).toReversed() : found.slice(0, size);
  const edges = rows.map((node) => ({ cursor: placeOf(order, node), node }));
  return {
    edges,
    pageInfo: {
      hasNextPage: isBackwards ? typeof args.before === "string" : hasMore,
      hasPreviousPage: isBackwards ? hasMore : typeof args.after === "string",
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

function both<Where extends object>(where: Where, conditions: readonly Condition[]): Where {
  return conditions.length === 0 ? where : ({ AND: [where, ...conditions] } as Where);
}

/** Rejects invalid page sizes. */
export function checkPage({ first, last }: Pick<PageArguments, "first" | "last">, most = MAX_PAGE): void {
  for (const [name, size] of [
    ["first", first],
    ["last", last],
  ] as const) {
    if (size !== null && size !== undefined && (size < 1 || size > most))
      throw clientError("BAD_USER_INPUT", `\`${name}\` must be between 1 and ${most}, not ${size}`);
  }
  if (typeof first === "number" && typeof last === "number")
    throw clientError("BAD_USER_INPUT", "give `first` or `last`, not both");
}
